#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "entries.h"
#include "reference.h"

/* ---- packed weights -------------------------------------------------------------------------------------------- */

static double packed_size(double out, uint32_t in, bool int8) {
  if (out > UINT32_MAX) return out * in;
  return int8 ? hl_weight_quantized_size((uint32_t)out, in) : hl_weight_packed_size((uint32_t)out, in);
}

static hl_status pack(float *packed, const float *weight, uint32_t out, uint32_t in, bool int8) {
  return int8 ? hl_weight_quantize(packed, weight, out, in) : hl_weight_pack(packed, weight, out, in);
}

void fuzz_packing(void) {
  const uint32_t out = size_of(130), in = size_of(300);
  const bool int8 = one_in(2);
  float *packed = output(packed_size(out, in, int8));
  const float *weight = input((double)out * in);
  while (next_round()) returned(pack(packed, weight, out, in, int8));
}

void fuzz_packing_rows(void) {
  const uint32_t out = size_of(130), in = size_of(300), stored = choice(HL_STORED_BF16);
  const uint32_t first = maybe_extreme(below(out / 8 + 1) * 8), left = first > out ? 0 : out - first;
  const uint32_t count = maybe_extreme(one_in(3) ? left : below(left / 8 + 1) * 8);
  must_refuse(first % 8 != 0 || first > out || count > left || (count % 8 != 0 && count != left));
  float *packed = output(packed_size(out, in, true));
  const float *rows = input(stored_floats((double)count * in, stored));
  while (next_round()) returned(hl_weight_quantize_rows(packed, rows, stored, first, count, out, in));
}

void fuzz_stored_load(void) {
  const uint32_t count = size_of(300), stored = choice(HL_STORED_BF16);
  float *to = output(count);
  const float *from = input(stored_floats(count, stored));
  while (next_round()) returned(hl_stored_load(to, from, stored, count));
  if (!is_moderate()) return;
  for (uint32_t i = 0; stored == HL_STORED_F32 && i < count; i++) near("a number of a stored type", to[i], from[i]);
  for (uint32_t i = 0; stored == HL_STORED_BF16 && i < count; i++) {
    const uint32_t bits = (uint32_t)((const uint16_t *)from)[i] << 16;
    if (memcmp(to + i, &bits, sizeof bits) != 0) fail("a stored bfloat16");
  }
}

/* Tests the product and the rows of an int8 weight. */
void fuzz_quantized(void) {
  const uint32_t rows = size_of(20), out = size_of(70), in = size_of(300);
  const bool by_rows = one_in(2);
  const double size = out == 0 ? 0 : packed_size(out, in, true);
  float *y = output((double)rows * (by_rows ? in : out));
  const int32_t *label = by_rows ? labels(rows, out) : NULL;
  const float *x = by_rows ? NULL : input((double)rows * in), *bias = by_rows ? NULL : optional_input(out);
  const float *plain = own_numbers((double)out * in);
  float *packed = input(size);
  if (packed && size > 0 && is_allocated(size) && is_allocated((double)out * in)) pack(packed, plain, out, in, true);
  must_refuse(by_rows && out == 0 && rows > 0);
  while (next_round())
    returned(by_rows ? hl_weight_rows(y, packed, label, rows, out, in)
                     : hl_linear_quantized(y, x, packed, bias, rows, out, in));
  if (!is_moderate()) return;
  double *expected = by_rows ? NULL : linear_reference(x, plain, bias, rows, out, in);
  for (size_t i = 0; by_rows && i < (size_t)rows * in; i++) {
    if (fabs(y[i] - plain[(size_t)label[i / in] * in + i % in]) > 1.0 / 250) fail("a row of int8");
  }
  for (size_t i = 0; expected && i < (size_t)rows * out; i++) {
    if (fabs(y[i] - expected[i]) > 0.02 * (1 + in)) fail("a product of int8");
  }
  free(expected);
}

/* A weight (out, in), and its packed form as an argument of the layer. */
typedef struct {
  const float *plain, *packed;
} weight;

/* Makes a weight. A weight that is too large is not packed. If the weight has no rows, `packed` may be NULL. */
static weight random_weight(double out, uint32_t in, bool int8, float *make(double count)) {
  const double size = packed_size(out, in, int8);
  weight w = {own_numbers(out * in), NULL};
  if (out > UINT32_MAX || !is_allocated(out * in) || !is_allocated(size)) {
    takes_long();
    w.packed = required_input(1);
    return w;
  }
  if (out == 0 && one_in(2)) return w;
  float *packed = (out * in == 0 ? required_input : make)(size);
  if (packed && pack(packed, w.plain, (uint32_t)out, in, int8) != HL_OK) fail("a weight could not be packed");
  w.packed = packed;
  return w;
}

/* ---- the layer ------------------------------------------------------------------------------------------------- */

/* Arguments of the call, and properties of them. */
typedef struct {
  hl_multihead_args m;
  weight q, k, v, o;
  uint32_t appended;
  bool self, keys_are_values; /* query, key and value are one tensor; key and value are one tensor */
} layer;

/* Returns the width of all query heads, H·D. */
static double query_width(const layer *l) { return (double)l->m.attention.heads * l->m.attention.width; }
static double kv_width(const layer *l) { return (double)l->m.attention.kv_heads * l->m.attention.width; }
static double output_width(const layer *l) { return l->m.packed_wo ? l->m.output_dim : query_width(l); }
static double query_rows(const layer *l) { return (double)l->m.attention.batch * l->m.attention.queries; }
static double fresh_keys(const layer *l) { return (double)l->m.attention.keys - l->m.past_keys; }
static double key_rows(const layer *l) { return l->m.attention.batch * fmax(fresh_keys(l), 0); }

/* Makes a gradient, or returns NULL if it is too large. A gradient to which no row is added may have any size, and
 * is not read. */
static float *small(float *make(double count), double count) { return is_allocated(count) ? make(count) : NULL; }

static void choose_layer(layer *l) {
  hl_multihead_args *m = &l->m;
  hl_attention_args *a = &m->attention;
  choose_attention(a, false);
  l->self = one_in(2);
  l->keys_are_values = l->self || one_in(2);
  if (l->self) a->keys = a->queries;
  m->query_dim = size_of(one_in(4) ? 140 : 20);
  m->key_dim = l->self ? m->query_dim : size_of(20);
  m->value_dim = l->keys_are_values ? m->key_dim : size_of(20);
  m->output_dim = size_of(20);
  m->zero_attention = choice(1);
  m->int8 = choice(1);
}

static void choose_weights(layer *l) {
  hl_multihead_args *m = &l->m;
  const bool int8 = m->int8 == 1, projected = one_in(2);
  l->q = random_weight(query_width(l), m->query_dim, int8, input);
  l->k = random_weight(kv_width(l), m->key_dim, int8, input);
  l->v = random_weight(kv_width(l), m->value_dim, int8, input);
  if (projected) l->o = random_weight(m->output_dim, (uint32_t)fmin(query_width(l), UINT32_MAX), int8, required_input);
  m->packed_wq = l->q.packed;
  m->packed_wk = l->k.packed;
  m->packed_wv = l->v.packed;
  m->packed_wo = l->o.packed;
  m->bq = small(optional_input, query_width(l));
  m->bk = small(optional_input, kv_width(l));
  m->bv = small(optional_input, kv_width(l));
  m->bo = m->packed_wo ? small(optional_input, m->output_dim) : NULL;
  if (one_in(2)) {
    m->bias_key = required_input(kv_width(l));
    m->bias_value = make_invalid() ? NULL : required_input(kv_width(l));
  }
  l->appended = (m->bias_key != NULL) + m->zero_attention;
}

static void choose_inputs(layer *l) {
  hl_multihead_args *m = &l->m;
  m->query = input(query_rows(l) * m->query_dim);
  m->key = l->self ? m->query : input(key_rows(l) * m->key_dim);
  m->value = l->keys_are_values ? m->key : input(key_rows(l) * m->value_dim);
}

static void choose_cache(layer *l) {
  hl_multihead_args *m = &l->m;
  hl_attention_args *a = &m->attention;
  const double heads = (double)a->batch * kv_width(l);
  m->past_keys = below(30);
  a->keys += m->past_keys;
  if (make_invalid()) m->past_keys = a->keys + 1;
  m->past_key = input(heads * m->past_keys);
  m->past_value = input(heads * m->past_keys);
  m->present_key = required_output(heads * a->keys);
  m->present_value = make_invalid() ? NULL : required_output(heads * a->keys);
}

static void choose_rotary(layer *l) {
  hl_multihead_args *m = &l->m;
  const hl_attention_args *a = &m->attention;
  if (!one_in(2)) return;
  m->rotary_count = positive_size(9);
  m->rotary_neighbours = choice(1);
  m->rotated = make_invalid() ? a->width + 1 : below(a->width < 70 ? a->width + 1 : 71) / 2 * 2;
  m->rotary_table = required_input((double)m->rotary_count * m->rotated);
  m->query_positions = labels((double)a->batch * a->queries, m->rotary_count);
  m->key_positions = labels(key_rows(l), m->rotary_count);
  must_refuse(m->rotary_count == 0 && ((double)a->batch * a->queries > 0 || key_rows(l) > 0));
}

static void choose_results(layer *l, bool saves) {
  hl_multihead_args *m = &l->m;
  choose_visibility(&m->attention, l->appended);
  m->attention.additive = NULL; /* the layer sets it to NULL */
  m->attention.output = output(query_rows(l) * output_width(l));
  if (!saves) return;
  const double saved = hl_multihead_saved_size(m);
  if (saved > 0 && !is_allocated(saved)) takes_long();
  m->saved = required_output(is_allocated(saved) ? saved : 1);
}

/* ---- reference: plain loops ------------------------------------------------------------------------------------ */

/* Converts to floats, and frees the original. */
static float *rounded(double *x, size_t count) {
  float *y = exactly(count * sizeof *y);
  for (size_t i = 0; i < count; i++) y[i] = (float)x[i];
  free(x);
  return y;
}

static float *projection(const float *x, const weight *w, const float *bias, double rows, double out, uint32_t in) {
  return rounded(linear_reference(x, w->plain, bias, (size_t)rows, (size_t)out, in), (size_t)(rows * out));
}

/* Returns the appended keys or values: the learned one first, then the one of zeros. */
static float *appended_rows(const layer *l, const float *learned) {
  const size_t width = (size_t)kv_width(l);
  float *rows = rounded(zeros(l->appended * width), l->appended * width);
  for (size_t i = 0; learned && i < width; i++) rows[i] = learned[i];
  return rows;
}

static hl_stride packed_heads(uint32_t rows, double row, uint32_t width) {
  return (hl_stride){rows * (uint32_t)row, width, (uint32_t)row};
}

/* Transposes (B,H,T,D) to (B,T,H·D). */
static float *joined_heads(const hl_attention_args *a, double *heads) {
  const size_t H = a->heads, T = a->queries, D = a->width, count = a->batch * H * T * D;
  float *rows = exactly(count * sizeof *rows);
  for (size_t i = 0; i < count; i++) {
    const size_t d = i % D, t = i / D % T, h = i / D / T % H, b = i / D / T / H;
    rows[((b * T + t) * H + h) * D + d] = (float)heads[i];
  }
  free(heads);
  return rows;
}

/* Rotates queries or keys with hl_rotary, which has its own fuzz test. */
static void turn(float *x, const layer *l, const int32_t *positions, uint32_t heads, uint32_t rows) {
  const hl_multihead_args *m = &l->m;
  const hl_attention_args *a = &m->attention;
  const hl_stride s = packed_heads(rows, (double)heads * a->width, a->width);
  if (m->rotary_table && hl_rotary(x, x, m->rotary_table, positions, a->batch, heads, rows, a->width, m->rotated,
                                   m->rotary_count, m->rotary_neighbours, 0, s.batch, s.head, s.row) != HL_OK)
    fail("an earlier rotation could not be repeated");
}

/* Compares the layer with plain loops. Supports only calls without past keys and with float weights. */
static void check_layer(const layer *l) {
  const hl_multihead_args *m = &l->m;
  hl_attention_args a = m->attention;
  float *q = projection(m->query, &l->q, m->bq, query_rows(l), query_width(l), m->query_dim),
        *k = projection(m->key, &l->k, m->bk, key_rows(l), kv_width(l), m->key_dim),
        *v = projection(m->value, &l->v, m->bv, key_rows(l), kv_width(l), m->value_dim),
        *learned_key = appended_rows(l, m->bias_key), *learned_value = appended_rows(l, m->bias_value);
  a.query = q, a.key = k, a.value = v;
  a.appended_key = learned_key, a.appended_value = learned_value;
  a.appended = l->appended;
  a.value_width = a.width;
  a.query_stride = packed_heads(a.queries, query_width(l), a.width);
  turn(q, l, m->query_positions, a.heads, a.queries);
  turn(k, l, m->key_positions, a.kv_heads, a.keys);
  a.key_stride = a.value_stride = packed_heads(a.keys, kv_width(l), a.width);
  float *heads = joined_heads(&a, attention_reference(&a));
  const size_t rows = (size_t)query_rows(l), width = (size_t)output_width(l);
  double *output =
      m->packed_wo ? linear_reference(heads, l->o.plain, m->bo, rows, width, (size_t)query_width(l)) : NULL;
  for (size_t i = 0; i < rows * width; i++) near("output", a.output[i], output ? output[i] : heads[i]);
  free(q), free(k), free(v), free(learned_key), free(learned_value), free(heads), free(output);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static void choose_gradients(hl_multihead_backward_args *g, const layer *l) {
  const hl_multihead_args *m = &l->m;
  g->forward = *m;
  g->wq = l->q.plain;
  g->wk = l->k.plain;
  g->wv = l->v.plain;
  g->wo = m->packed_wo ? l->o.plain : NULL;
  g->d_query = output(query_rows(l) * m->query_dim);
  g->d_key = l->self ? g->d_query : output(key_rows(l) * m->key_dim);
  g->d_value = l->keys_are_values ? g->d_key : output(key_rows(l) * m->value_dim);
  g->d_bias = m->attention.bias ? optional_output(bias_extent(&m->attention)) : NULL;
  g->d_sinks = m->attention.sinks ? optional_output(m->attention.heads) : NULL;
  g->d_wq = small(optional_output, query_width(l) * m->query_dim);
  g->d_wk = small(optional_output, kv_width(l) * m->key_dim);
  g->d_wv = small(optional_output, kv_width(l) * m->value_dim);
  g->d_bq = small(optional_output, query_width(l));
  g->d_bk = small(optional_output, kv_width(l));
  g->d_bv = small(optional_output, kv_width(l));
  if (g->wo) {
    g->d_wo = small(optional_output, m->output_dim * query_width(l));
    g->d_bo = small(optional_output, m->output_dim);
  }
  if (m->bias_key) {
    g->d_bias_key = small(optional_output, kv_width(l));
    g->d_bias_value = small(optional_output, kv_width(l));
  }
  g->d_output = input(query_rows(l) * output_width(l));
  g->d_weights =
      m->attention.weights_mode != HL_WEIGHTS_NONE ? optional_input(weights_count(&m->attention, l->appended)) : NULL;
}

void fuzz_multihead(void) {
  layer l = {0};
  choose_layer(&l);
  const bool cached = one_in(4), saves = cached ? make_invalid() : one_in(2);
  if (cached) choose_cache(&l);
  choose_weights(&l);
  choose_inputs(&l);
  choose_rotary(&l);
  choose_results(&l, saves);
  const hl_multihead_args *forward = make_invalid() ? NULL : &l.m;
  while (next_round()) returned(hl_multihead_forward(forward));
  if (can_compare(&l.m.attention) && !cached && !l.m.int8) check_layer(&l);
  if (!saves || !forward) return;
  outputs_become_inputs();
  hl_multihead_backward_args g = {0};
  choose_gradients(&g, &l);
  must_refuse(l.m.int8);
  while (next_round()) returned(hl_multihead_backward(&g));
}
