#include "attention/validate.h"

#include "attention/single_query.h"

#include "base/check.h"

/* Checks an optional tensor (B,H,T,S) with these strides. */
static bool fits_broadcast(const void *tensor, const hl_attention_args *a, const hl_broadcast *s, double bytes) {
  const double sizes[] = {a->batch, a->heads, a->queries, a->keys};
  const uint32_t strides[] = {s->batch, s->head, s->query, s->key};
  return !tensor || fits_bytes(extent(sizes, strides, 4, 1) * bytes);
}

static bool fits_pair(const void *tensor, double first, double second, const uint32_t strides[2], double bytes) {
  const double sizes[] = {first, second};
  return !tensor || fits_bytes(extent(sizes, strides, 2, 1) * bytes);
}

static double rows_of(const hl_attention_args *a) { return (double)a->batch * a->heads * a->queries; }
static double keys_of(const hl_attention_args *a) { return (double)a->keys + a->appended; }

static double weights_floats(const hl_attention_args *a) {
  double heads = a->weights_mode == HL_WEIGHTS_NONE ? 0 : a->weights_mode == HL_WEIGHTS_MEAN ? 1 : a->heads;
  return a->batch * heads * a->queries * keys_of(a);
}

static double scores_floats(const hl_attention_args *a) {
  return a->scores_step == HL_SCORES_NONE ? 0 : rows_of(a) * keys_of(a);
}

hl_status attention_validate_sizes(const hl_attention_args *a) {
  if (a->heads == 0 || a->kv_heads == 0 || a->heads % a->kv_heads != 0 || !fits_floats(keys_of(a))) return HL_BAD_SHAPE;
  if (a->weights_mode > HL_WEIGHTS_GIVEN || a->scores_step > HL_SCORES_GIVEN || a->causal > 1) return HL_BAD_ARGUMENT;
  if (a->weights_mode == HL_WEIGHTS_GIVEN && (a->scores_step != HL_SCORES_NONE || a->statistics))
    return HL_BAD_ARGUMENT;
  if (a->window_left == 0 && a->window_right == 0 && a->fill == 0) return HL_BAD_ARGUMENT;
  if (a->window_left < -1 || a->window_right < -1) return HL_BAD_ARGUMENT;
  if (!is_finite(a->scale) || !is_finite(a->softcap) || a->softcap < 0) return HL_BAD_ARGUMENT;
  if (!(a->fill < __builtin_inff()) || !(a->dropout >= 0 && a->dropout <= 1)) return HL_BAD_ARGUMENT;
  bool fits = has_floats_or_null(a->sinks, a->heads) && has_floats_or_null(a->slopes, a->heads) &&
              fits_floats(weights_floats(a)) && fits_floats(scores_floats(a)) &&
              has_floats_or_null(a->statistics, 2 * rows_of(a)) && has_floats_or_null(a->offset, a->batch) &&
              (!a->keep || fits_bytes(rows_of(a) * keys_of(a))) &&
              fits_broadcast(a->mask, a, &a->mask_stride, sizeof *a->mask) &&
              fits_broadcast(a->bias, a, &a->bias_stride, sizeof *a->bias) &&
              fits_pair(a->key_padding, a->batch, a->keys, a->key_padding_stride, sizeof *a->key_padding) &&
              fits_pair(a->valid_lens, a->batch, a->queries, a->valid_lens_stride, sizeof *a->valid_lens);
  return fits ? HL_OK : HL_BAD_SHAPE;
}

bool attention_has_results(const hl_attention_args *a) {
  return has_floats(a->weights, weights_floats(a)) && has_floats(a->scores, scores_floats(a));
}

/* Checks the operands of attention, or their gradients, which have the same sizes and strides. */
static bool has_operands(const hl_attention_args *a, const float *output, const float *query, const float *key,
                         const float *value) {
  return has_rows(output, a->batch, a->heads, a->queries, a->value_width, &a->output_stride) &&
         has_rows(query, a->batch, a->heads, a->queries, a->width, &a->query_stride) &&
         has_rows(key, a->batch, a->kv_heads, a->keys, a->width, &a->key_stride) &&
         has_rows(value, a->batch, a->kv_heads, a->keys, a->value_width, &a->value_stride);
}

bool attention_has_given_input(const hl_attention_args *a) {
  return a->weights_mode == HL_WEIGHTS_GIVEN || a->scores_step == HL_SCORES_GIVEN;
}

hl_status attention_validate(const hl_attention_args *a) {
  hl_status status = a ? attention_validate_sizes(a) : HL_BAD_SHAPE;
  if (status != HL_OK) return status;
  if (a->key_type > HL_KEYS_INT8 || (a->key_type && !is_single_query(a))) return HL_BAD_ARGUMENT;
  double appended = (double)a->appended * a->kv_heads;
  bool complete = attention_has_results(a) && has_floats_or_null(a->additive, (double)a->heads * a->width) &&
                  has_operands(a, a->output, a->query, a->key, a->value) &&
                  has_floats(a->appended_key, appended * a->width) &&
                  has_floats(a->appended_value, appended * a->value_width);
  return complete ? HL_OK : HL_BAD_SHAPE;
}

bool cache_fits(const float *present, const float *past, const float *fresh, uint32_t batch, uint32_t kv_heads,
                uint32_t past_keys, uint32_t keys, uint32_t width, const hl_stride *fresh_stride) {
  const double heads = (double)batch * kv_heads;
  return has_floats(present, heads * ((double)past_keys + keys) * width) &&
         has_floats(past, heads * past_keys * width) && has_rows(fresh, batch, kv_heads, keys, width, fresh_stride);
}

bool attention_has_gradients(const hl_attention_backward_args *g) {
  const hl_attention_args *a = &g->attention;
  if ((g->d_weights && a->weights_mode == HL_WEIGHTS_NONE) || (g->d_sinks && !a->sinks) ||
      (g->d_additive && !a->additive))
    return false;
  return !g->d_bias || (a->bias && fits_broadcast(g->d_bias, a, &a->bias_stride, sizeof *g->d_bias));
}

hl_status attention_backward_validate(const hl_attention_backward_args *g) {
  hl_status status = attention_validate(g ? &g->attention : NULL);
  if (status != HL_OK) return status;
  const hl_attention_args *a = &g->attention;
  if (attention_has_given_input(a)) return HL_BAD_ARGUMENT;
  bool complete = attention_has_gradients(g) && has_floats(a->statistics, 2 * rows_of(a)) &&
                  fits_floats((double)a->batch * a->kv_heads) &&
                  has_operands(a, g->d_output, g->d_query, g->d_key, g->d_value);
  return complete ? HL_OK : HL_BAD_SHAPE;
}

static const float empty[1];

float *attention_nonnull(const float *tensor) { return (float *)(tensor ? tensor : empty); }

hl_attention_args attention_fill_empty(const hl_attention_args *args) {
  const hl_stride none = {0, 0, 0};
  hl_attention_args a = *args;
  a.output = attention_nonnull(a.output);
  a.query = attention_nonnull(a.query);
  a.key = attention_nonnull(a.key);
  a.value = attention_nonnull(a.value);
  a.appended_key = attention_nonnull(a.appended_key);
  a.appended_value = attention_nonnull(a.appended_value);
  a.weights = attention_nonnull(a.weights);
  a.scores = attention_nonnull(a.scores);
  /* Even if the width is 0, the scale of an int8 key is read, so the address must be valid. */
  if (a.width == 0) a.key = empty;
  if (a.width == 0) a.query_stride = none;
  if (a.width == 0 || a.keys == 0) a.key_stride = none;
  if (a.value_width == 0 || a.keys == 0) a.value_stride = none;
  if (a.value_width == 0) a.output_stride = none;
  return a;
}
