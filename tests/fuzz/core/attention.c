#include "attention.h"

#include <math.h>

#include "entries.h"
#include "reference.h"

/* ---- arguments shared with the layer --------------------------------------------------------------------------- */

static double work_of(const hl_attention_args *a) {
  return (double)a->batch * a->heads * a->queries * a->keys * (2.0 + a->width + a->value_width);
}

static void choose_sizes(hl_attention_args *a) {
  a->batch = positive_size(3);
  a->kv_heads = positive_size(2);
  a->heads = a->kv_heads * (1 + below(3));
  a->queries = size_of(one_in(8) ? 300 : 30);
  a->keys = size_of(one_in(8) ? 300 : 30);
  a->width = size_of(40);
  a->value_width = size_of(40);
  a->appended = size_of(2);
  if (work_of(a) > 5e4 && work_of(a) < 1e9) a->batch = a->heads = a->kv_heads = a->width = a->value_width = 1;
  if (make_invalid()) a->heads = a->kv_heads == 2 ? a->heads + 1 : 0;
  must_refuse(a->heads == 0 || a->kv_heads == 0 || a->heads % a->kv_heads != 0);
}

/* Chooses a mode. An invalid value must not be max + 1, because that is the mode in which hl_attention reads weights
 * or scores instead of returning them. */
static uint32_t requested_choice(uint32_t max) {
  const uint32_t chosen = choice(max);
  return chosen == max + 1 ? chosen + 1 : chosen;
}

static bool is_given(const hl_attention_args *a) {
  return a->weights_mode == HL_WEIGHTS_GIVEN || a->scores_step == HL_SCORES_GIVEN;
}

void choose_attention(hl_attention_args *a, bool alone) {
  choose_sizes(a);
  const bool weights = alone && one_in(12), scores = alone && !weights && one_in(12);
  a->weights_mode = weights ? HL_WEIGHTS_GIVEN : requested_choice(HL_WEIGHTS_MEAN);
  a->scores_step = scores                  ? HL_SCORES_GIVEN
                   : !weights && one_in(4) ? requested_choice(HL_SCORES_MASKED)
                                           : HL_SCORES_NONE;
  if (weights && make_invalid()) a->scores_step = HL_SCORES_GIVEN;
  a->causal = choice(1);
  a->window_left = make_invalid() ? -2 : one_in(4) ? (int32_t)(maybe_extreme(below(9)) & INT32_MAX) : -1;
  a->window_right = make_invalid() ? INT32_MIN : one_in(4) ? (int32_t)(maybe_extreme(below(9)) & INT32_MAX) : -1;
  a->seed[0] = below(1000);
  a->scale = finite(number());
  a->softcap = make_invalid() ? -1 : one_in(4) ? finite(fabsf(number())) : 0;
  a->fill = make_invalid() ? NAN : one_in(2) ? -INFINITY : fminf(number(), 3e38f);
  must_refuse(a->window_left == 0 && a->window_right == 0 && a->fill == 0);
  a->dropout = make_invalid() ? 1.5f : one_in(4) ? (float)below(5) / 4 : 0;
}

static hl_broadcast random_broadcast(const hl_attention_args *a) {
  const uint32_t T = a->queries, S = a->keys;
  const hl_broadcast kinds[] = {{0, 0, S, 1}, {a->heads * T * S, T * S, S, 1},
                                {S, 0, 0, 1}, {0, T * S, S, 1},
                                {1, 0, 0, 0}, {maybe_extreme(0), maybe_extreme(3), maybe_extreme(5), maybe_extreme(2)}};
  return kinds[below(sizeof kinds / sizeof *kinds)];
}

static double extent(const hl_attention_args *a, const hl_broadcast *s) {
  if ((double)a->batch * a->heads * a->queries * a->keys == 0) return 0;
  return (a->batch - 1.0) * s->batch + (a->heads - 1.0) * s->head + (a->queries - 1.0) * s->query +
         (a->keys - 1.0) * s->key + 1;
}

double bias_extent(const hl_attention_args *a) { return extent(a, &a->bias_stride); }

static double pair_extent(double first, double second, const uint32_t s[2]) {
  return first * second == 0 ? 0 : (first - 1) * s[0] + (second - 1) * s[1] + 1;
}

double weights_count(const hl_attention_args *a, uint32_t appended) {
  return (double)a->batch * (a->weights_mode == HL_WEIGHTS_MEAN ? 1 : a->heads) * a->queries *
         ((double)a->keys + appended);
}

void choose_visibility(hl_attention_args *a, uint32_t appended) {
  const double scores = (double)a->batch * a->heads * a->queries * ((double)a->keys + appended);
  const double rows = fmax(a->batch, 1) * fmax(a->heads, 1) * fmax(a->queries, 1);
  if (rows * fmax((double)a->keys + appended, 1) * (2.0 + a->width + a->value_width) > 1e6) takes_long();
  a->mask_stride = random_broadcast(a);
  a->bias_stride = random_broadcast(a);
  a->key_padding_stride[0] = one_in(2) ? maybe_extreme(a->keys) : 0;
  a->key_padding_stride[1] = maybe_extreme(1);
  a->valid_lens_stride[0] = maybe_extreme(one_in(2) ? a->queries : 1);
  a->valid_lens_stride[1] = maybe_extreme(one_in(2));
  a->mask = optional_flags(extent(a, &a->mask_stride));
  a->bias = optional_input(bias_extent(a));
  a->key_padding = optional_flags(pair_extent(a->batch, a->keys, a->key_padding_stride));
  a->valid_lens = optional_positions(pair_extent(a->batch, a->queries, a->valid_lens_stride), -2, 40);
  a->additive = one_in(4) ? optional_input((double)a->heads * a->width) : NULL;
  a->sinks = one_in(2) ? optional_input(a->heads) : NULL;
  a->slopes = one_in(4) ? optional_input(a->heads) : NULL;
  /* Slopes are not combined with large offsets, because float32 rounds distances beyond 2²⁴. */
  a->offset = one_in(8) && !a->slopes ? optional_positions(a->batch, INT32_MIN, INT32_MAX)
                                      : optional_positions(a->batch, -5, 20);
  a->keep = one_in(4) ? optional_flags(scores) : NULL;
  float *(*const weights_of)(double) = a->weights_mode == HL_WEIGHTS_GIVEN ? input : output;
  float *(*const scores_of)(double) = a->scores_step == HL_SCORES_GIVEN ? input : output;
  a->weights = if_(a->weights_mode != HL_WEIGHTS_NONE, weights_of, weights_count(a, appended));
  a->scores = if_(a->scores_step != HL_SCORES_NONE, scores_of, scores);
}

bool can_compare(const hl_attention_args *a) {
  return is_moderate() && work_of(a) < 3e4 && (a->dropout == 0 || a->dropout == 1 || a->keep);
}

/* ---- hl_attention alone ---------------------------------------------------------------------------------------- */

/* Returns strides of a tensor (B,N,R,W), or packed as (B,R,N·W), sometimes with gaps between the rows. */
static hl_stride random_strides(uint32_t heads, uint32_t rows, uint32_t width) {
  const uint32_t gap = one_in(4) ? below(4) : 0, row = maybe_extreme(heads * width + gap),
                 narrow = maybe_extreme(width + gap);
  if (one_in(2)) return (hl_stride){maybe_extreme(rows * row), width, row};
  return (hl_stride){maybe_extreme(heads * rows * narrow), rows * narrow, narrow};
}

static void choose_operands(hl_attention_args *a, bool statistics) {
  const uint32_t B = a->batch, H = a->heads, G = a->kv_heads, T = a->queries, S = a->keys;
  const double appended = (double)a->appended * G;
  a->query_stride = random_strides(H, T, a->width);
  a->key_stride = random_strides(G, S, a->width);
  a->value_stride = random_strides(G, S, a->value_width);
  a->output_stride = random_strides(H, T, a->value_width);
  a->query = input_rows(B, H, T, a->width, &a->query_stride);
  a->key = input_rows(B, G, S, a->width, &a->key_stride);
  a->value = input_rows(B, G, S, a->value_width, &a->value_stride);
  a->appended_key = input(appended * a->width);
  a->appended_value = input(appended * a->value_width);
  a->output = output_rows(B, H, T, a->value_width, &a->output_stride);
  a->statistics = if_(statistics, required_output, 2.0 * B * H * T);
}

static void choose_gradients(hl_attention_backward_args *g) {
  const hl_attention_args *a = &g->attention;
  const uint32_t B = a->batch, H = a->heads, G = a->kv_heads, T = a->queries, S = a->keys;
  const double appended = (double)a->appended * G;
  if (B > 0 && T > 0 && make_invalid()) g->attention.statistics = NULL;
  g->d_query = output_rows(B, H, T, a->width, &a->query_stride);
  g->d_key = output_rows(B, G, S, a->width, &a->key_stride);
  g->d_value = output_rows(B, G, S, a->value_width, &a->value_stride);
  if (a->bias) g->d_bias = optional_output(bias_extent(a));
  else if (make_invalid()) g->d_bias = required_output(bias_extent(a));
  if (a->sinks) g->d_sinks = optional_output(a->heads);
  else if (make_invalid()) g->d_sinks = required_output(a->heads);
  if (a->additive) g->d_additive = optional_output((double)a->heads * a->width);
  else if (make_invalid()) g->d_additive = required_output((double)a->heads * a->width);
  g->d_appended_key = optional_output(appended * a->width);
  g->d_appended_value = optional_output(appended * a->value_width);
  g->d_output = input_rows(B, H, T, a->value_width, &a->output_stride);
  g->d_weights = a->weights_mode != HL_WEIGHTS_NONE ? optional_input(weights_count(a, a->appended)) : NULL;
}

void fuzz_attention(void) {
  hl_attention_backward_args g = {0};
  hl_attention_args *a = &g.attention;
  choose_attention(a, true);
  const bool has_given = is_given(a), backward = !has_given && one_in(2);
  choose_visibility(a, a->appended);
  choose_operands(a, backward || (a->weights_mode != HL_WEIGHTS_GIVEN && one_in(4)));
  const hl_attention_args *forward = make_invalid() ? NULL : a;
  while (next_round()) returned(hl_attention(forward));
  if (has_given) return;
  if (can_compare(a)) check_attention(a, near);
  if (!backward || !forward) return;
  outputs_become_inputs();
  choose_gradients(&g);
  while (next_round()) returned(hl_attention_backward(&g));
  if (can_compare(a)) {
    const sums_before sums = {before(g.d_bias), before(g.d_sinks), before(g.d_additive)};
    check_attention_backward(&g, &sums, near);
  }
}

void fuzz_cache(void) {
  const uint32_t B = positive_size(3), G = size_of(3), P = size_of(20), S = size_of(20), D = size_of(20);
  const hl_stride s = random_strides(G, S, D);
  float *present = output((double)B * G * ((double)P + S) * D);
  const float *past = input((double)B * G * P * D), *fresh = input_rows(B, G, S, D, &s);
  while (next_round()) returned(hl_cache_append(present, past, fresh, B, G, P, S, D, s.batch, s.head, s.row));
  if (!is_moderate()) return;
  for (size_t i = 0; i < (size_t)B * G * (P + S) * D; i++) {
    const size_t d = i % D, row = i / D % (P + S), head = i / D / (P + S);
    const float *from = row < P ? past + (head * P + row) * D + d
                                : fresh + head / G * s.batch + head % G * s.head + (row - P) * s.row + d;
    if (present[i] != *from) fail("the cache");
  }
}

/* Returns the number that the bits of a float16 represent. */
static double float16(uint16_t half) {
  const int exponent = half >> 10 & 31, digits = half & 1023;
  const double size = exponent ? ldexp(1024 + digits, exponent - 25) : ldexp(digits, -24);
  return half >> 15 ? -size : size;
}

/* Checks a number of a cache row. In int8 it must be the multiple of the scale that is nearest to `from`. */
static void check_cached(const float *row, uint32_t d, uint32_t type, double from) {
  if (type == HL_KEYS_FLOAT32) near("the cache", row[d], from);
  if (type == HL_KEYS_FLOAT16) near("the cache", float16(((const uint16_t *)(const void *)row)[d]), from);
  if (type != HL_KEYS_INT8) return;
  const double got = *row * (double)((const int8_t *)(row + 1))[d];
  if (!(fabs(got - from) <= 0.5001 * *row)) fail("the cache of bytes");
}

void fuzz_cache_rows(void) {
  const uint32_t B = positive_size(3), G = size_of(3), first = size_of(10), rows = size_of(10), D = size_of(20),
                 type = choice(HL_KEYS_INT8), end = first + rows, gap = below(3);
  const bool load = type != HL_KEYS_FLOAT32 && one_in(2), small = end > 0 && make_invalid();
  const uint32_t capacity = small ? end - 1 : end + gap;
  const hl_stride s = random_strides(G, rows, D);
  const double floats = (double)B * G * capacity * hl_cache_row_size(D, type);
  must_refuse((load ? end : (double)first + rows) > capacity);
  float *cache = load ? NULL : output(floats), *wide = load ? output((double)B * G * end * D) : NULL;
  const float *fresh = load ? input(floats) : input_rows(B, G, rows, D, &s);
  while (next_round())
    returned(load ? hl_cache_load(wide, fresh, B, G, end, capacity, D, type)
                  : hl_cache_store(cache, fresh, B, G, first, rows, capacity, D, s.batch, s.head, s.row, type));
  if (!is_moderate() || load) return;
  for (size_t i = 0; i < (size_t)B * G * rows * D; i++) {
    const size_t d = i % D, row = i / D % rows, head = i / D / rows, at = head * capacity + first + row;
    const float from = fresh[head / G * s.batch + head % G * s.head + row * s.row + d];
    check_cached(cache + at * hl_cache_row_size(D, type), (uint32_t)d, type, from);
  }
}
