#include "reference.h"

#include <math.h>
#include <stdlib.h>

void *exactly(size_t bytes) {
  void *block = malloc(bytes);
  if (!block && bytes) abort();
  return block;
}

double *zeros(size_t count) {
  double *x = exactly(count * sizeof *x);
  for (size_t i = 0; i < count; i++) x[i] = 0;
  return x;
}

/* ---- a row of attention -------------------------------------------------------------------------------------- */

/* One row of attention: a query of one head, with the S + E keys of its key/value head. */
typedef struct {
  const hl_attention_args *a;
  uint32_t batch, head, query, all;
  double *weights; /* before dropout */
  double *slope;   /* derivative of the soft cap, 0 for a masked key */
  double *factor;  /* factor of dropout for each weight */
  double *dropped, *d_dropped;
  double sink; /* weight of the sink */
} row;

static row row_of(const hl_attention_args *a) {
  const uint32_t all = a->keys + a->appended;
  return (row){a, 0, 0, 0, all, zeros(all), zeros(all), zeros(all), zeros(all), zeros(all), 0};
}
static void row_free(const row *r) {
  free(r->weights), free(r->slope), free(r->factor), free(r->dropped), free(r->d_dropped);
}

/* Returns tensor + offset, or NULL if the tensor is NULL because it has no elements. */
static const float *offset_or_null(const float *tensor, size_t offset) { return tensor ? tensor + offset : NULL; }

static uint32_t kv_head(const row *r) { return r->head / (r->a->heads / r->a->kv_heads); }
static size_t row_number(const row *r) { return ((size_t)r->batch * r->a->heads + r->head) * r->a->queries + r->query; }
static size_t row_offset(const row *r, const hl_stride *s) {
  return (size_t)r->batch * s->batch + (size_t)r->head * s->head + (size_t)r->query * s->row;
}

/* Returns the offset of key or value s in the tensor of keys or values, or in the tensor of appended ones if s >=
 * keys. */
static size_t key_offset(const row *r, uint32_t s, const hl_stride *stride, uint32_t width) {
  if (s >= r->a->keys) return ((size_t)(s - r->a->keys) * r->a->kv_heads + kv_head(r)) * width;
  return (size_t)r->batch * stride->batch + (size_t)kv_head(r) * stride->head + (size_t)s * stride->row;
}
static const float *key_of(const row *r, uint32_t s) {
  return offset_or_null(s < r->a->keys ? r->a->key : r->a->appended_key,
                        key_offset(r, s, &r->a->key_stride, r->a->width));
}
static const float *value_of(const row *r, uint32_t s) {
  return offset_or_null(s < r->a->keys ? r->a->value : r->a->appended_value,
                        key_offset(r, s, &r->a->value_stride, r->a->value_width));
}

static size_t broadcast_offset(const row *r, uint32_t s, const hl_broadcast *b) {
  return (size_t)r->batch * b->batch + (size_t)r->head * b->head + (size_t)r->query * b->query + (size_t)s * b->key;
}

static int64_t position_of(const row *r) { return (int64_t)r->query + (r->a->offset ? r->a->offset[r->batch] : 0); }

static int is_hidden(const row *r, uint32_t s) {
  const hl_attention_args *a = r->a;
  const uint32_t *lens = a->valid_lens_stride, *padding = a->key_padding_stride;
  const int64_t position = position_of(r);
  return (a->causal && s > position) || (a->window_left >= 0 && s < position - a->window_left) ||
         (a->window_right >= 0 && s > position + a->window_right) ||
         (a->valid_lens && (int64_t)s >= a->valid_lens[r->batch * lens[0] + r->query * lens[1]]) ||
         (a->mask && !a->mask[broadcast_offset(r, s, &a->mask_stride)]) ||
         (a->key_padding && !a->key_padding[r->batch * padding[0] + s * padding[1]]);
}

static const float *additive_of(const row *r) { return r->a->additive + (size_t)r->head * r->a->width; }

/* Computes the score of a key after each step and the derivative of the soft cap. Returns the last score. */
static double score_of(const row *r, uint32_t s, double steps[HL_SCORES_MASKED + 1]) {
  const hl_attention_args *a = r->a;
  const float *q = offset_or_null(a->query, row_offset(r, &a->query_stride)), *k = key_of(r, s);
  double score = 0;
  for (uint32_t d = 0; d < a->width; d++) {
    if (a->additive) score += additive_of(r)[d] * tanh((double)q[d] + k[d]);
    else score += (double)q[d] * k[d];
  }
  steps[HL_SCORES_RAW] = score;
  steps[HL_SCORES_SCALED] = score *= a->scale;
  r->slope[s] = 1;
  if (a->softcap > 0) {
    r->slope[s] -= pow(tanh(score / a->softcap), 2);
    score = a->softcap * tanh(score / a->softcap);
  }
  steps[HL_SCORES_CAPPED] = score;
  if (s < a->keys) {
    if (a->bias) score += a->bias[broadcast_offset(r, s, &a->bias_stride)];
    if (a->slopes) score -= a->slopes[r->head] * fabs((double)position_of(r) - s);
    if (is_hidden(r, s)) score = a->fill, r->slope[s] = 0;
  }
  return steps[HL_SCORES_MASKED] = score;
}

static double factor_of(const row *r, uint32_t s) {
  const hl_attention_args *a = r->a;
  if (a->dropout == 1) return 0;
  return a->keep ? (a->keep[row_number(r) * r->all + s] ? 1 / (1 - (double)a->dropout) : 0) : 1;
}

/* Computes the weights and derivatives of a row. If `near` is not NULL, also checks the scores that the call
 * returned. */
static void row_compute(row *r, compare *near) {
  const hl_attention_args *a = r->a;
  const double sink = a->sinks ? a->sinks[r->head] : -INFINITY;
  double steps[HL_SCORES_MASKED + 1], max = sink, sum = 0;
  for (uint32_t s = 0; s < r->all; s++) {
    r->weights[s] = score_of(r, s, steps);
    if (r->weights[s] > max) max = r->weights[s];
    if (near && a->scores_step) near("score", a->scores[row_number(r) * r->all + s], steps[a->scores_step]);
  }
  for (uint32_t s = 0; s < r->all; s++) sum += r->weights[s] = max == -INFINITY ? 0 : exp(r->weights[s] - max);
  r->sink = max == -INFINITY ? 0 : exp(sink - max);
  sum += r->sink;
  if (sum > 0) r->sink /= sum;
  for (uint32_t s = 0; s < r->all; s++) {
    if (sum > 0) r->weights[s] /= sum;
    r->factor[s] = factor_of(r, s);
    r->dropped[s] = r->weights[s] * r->factor[s];
  }
}

/* for every row of (B,H,T) */
#define EACH_ROW(r, args)                                                                                              \
  for ((r).batch = 0; (r).batch < (args)->batch; (r).batch++)                                                          \
    for ((r).head = 0; (r).head < (args)->heads; (r).head++)                                                           \
      for ((r).query = 0; (r).query < (args)->queries; (r).query++)

/* ---- forward ------------------------------------------------------------------------------------------------- */

static double *forward(const hl_attention_args *a, double *mean, compare *near) {
  row r = row_of(a);
  double *output = zeros((size_t)a->batch * a->heads * a->queries * a->value_width);
  EACH_ROW(r, a) {
    row_compute(&r, near);
    double *to = output + row_number(&r) * a->value_width;
    for (uint32_t s = 0; s < r.all; s++) {
      for (uint32_t j = 0; j < a->value_width; j++) to[j] += r.dropped[s] * value_of(&r, s)[j];
      mean[((size_t)r.batch * a->queries + r.query) * r.all + s] += r.dropped[s] / a->heads;
      if (near && a->weights_mode == HL_WEIGHTS_HEADS)
        near("weight", a->weights[row_number(&r) * r.all + s], r.dropped[s]);
    }
  }
  row_free(&r);
  return output;
}

static size_t mean_count(const hl_attention_args *a) {
  return (size_t)a->batch * a->queries * ((size_t)a->keys + a->appended);
}

double *attention_reference(const hl_attention_args *a) {
  double *mean = zeros(mean_count(a)), *output = forward(a, mean, NULL);
  free(mean);
  return output;
}

/* Compares a strided tensor (B,N,R,W) with a contiguous one, and frees the contiguous one. */
static void near_rows(compare *near, const char *what, const float *got, const hl_stride *s, const uint32_t sizes[4],
                      double *expected) {
  const double *next = expected;
  for (uint32_t b = 0; b < sizes[0]; b++) {
    for (uint32_t h = 0; h < sizes[1]; h++) {
      for (uint32_t r = 0; r < sizes[2]; r++) {
        const size_t at = (size_t)b * s->batch + (size_t)h * s->head + (size_t)r * s->row;
        for (uint32_t i = 0; i < sizes[3]; i++) near(what, got[at + i], *next++);
      }
    }
  }
  free(expected);
}

static void near_all(compare *near, const char *what, const float *got, double *expected, size_t count) {
  for (size_t i = 0; got && i < count; i++) near(what, got[i], expected[i]);
  free(expected);
}

void check_attention(const hl_attention_args *a, compare *near) {
  double *mean = zeros(mean_count(a));
  near_rows(near, "output", a->output, &a->output_stride, (uint32_t[]){a->batch, a->heads, a->queries, a->value_width},
            forward(a, mean, near));
  near_all(near, "mean weight", a->weights_mode == HL_WEIGHTS_MEAN ? a->weights : NULL, mean, mean_count(a));
}

/* ---- backward ------------------------------------------------------------------------------------------------ */

/* Expected gradients. They are contiguous, except d_bias, which has the strides of the bias. */
typedef struct {
  double *query, *key, *value, *appended_key, *appended_value, *bias, *sinks, *additive;
} gradients;

static size_t bias_count(const hl_attention_args *a) {
  const hl_broadcast *b = &a->bias_stride;
  if (a->batch == 0 || a->queries == 0 || a->keys == 0) return 0;
  return (size_t)(a->batch - 1) * b->batch + (size_t)(a->heads - 1) * b->head + (size_t)(a->queries - 1) * b->query +
         (size_t)(a->keys - 1) * b->key + 1;
}

static double *gradient_of(const row *r, uint32_t s, double *key, double *appended, uint32_t width) {
  if (s >= r->a->keys) return appended + key_offset(r, s, NULL, width);
  return key + (((size_t)r->batch * r->a->kv_heads + kv_head(r)) * r->a->keys + s) * width;
}

/* Returns the gradient of the weight after dropout, which multiplies value s. */
static double d_dropped_of(const row *r, const hl_attention_backward_args *g, uint32_t s) {
  const hl_attention_args *a = r->a;
  const int mean = a->weights_mode == HL_WEIGHTS_MEAN;
  const size_t at = mean ? (size_t)r->batch * a->queries + r->query : row_number(r);
  const float *d_output = offset_or_null(g->d_output, row_offset(r, &a->output_stride));
  double sum = g->d_weights ? g->d_weights[at * r->all + s] / (mean ? a->heads : 1.0) : 0;
  for (uint32_t j = 0; j < a->value_width; j++) sum += (double)d_output[j] * value_of(r, s)[j];
  return sum;
}

static void row_backward(const row *r, const hl_attention_backward_args *g, const gradients *d) {
  const hl_attention_args *a = r->a;
  const float *q = offset_or_null(a->query, row_offset(r, &a->query_stride)),
              *d_output = offset_or_null(g->d_output, row_offset(r, &a->output_stride));
  double delta = 0;
  for (uint32_t s = 0; s < r->all; s++) {
    double *d_value = gradient_of(r, s, d->value, d->appended_value, a->value_width);
    for (uint32_t j = 0; j < a->value_width; j++) d_value[j] += r->dropped[s] * d_output[j];
    r->d_dropped[s] = d_dropped_of(r, g, s);
    delta += r->dropped[s] * r->d_dropped[s];
  }
  if (d->sinks) d->sinks[r->head] -= r->sink * delta;
  for (uint32_t s = 0; s < r->all; s++) {
    double *d_key = gradient_of(r, s, d->key, d->appended_key, a->width);
    double d_score = r->weights[s] * (r->factor[s] * r->d_dropped[s] - delta);
    if (s < a->keys && d->bias && !is_hidden(r, s)) d->bias[broadcast_offset(r, s, &a->bias_stride)] += d_score;
    d_score *= r->slope[s] * a->scale;
    for (uint32_t i = 0; i < a->width; i++) {
      double of_query = key_of(r, s)[i], of_key = q[i];
      if (a->additive) {
        const double y = tanh((double)q[i] + key_of(r, s)[i]);
        of_query = of_key = additive_of(r)[i] * (1 - y * y);
        if (d->additive) d->additive[r->head * a->width + i] += d_score * y;
      }
      d->query[row_number(r) * a->width + i] += d_score * of_query;
      d_key[i] += d_score * of_key;
    }
  }
}

void check_attention_backward(const hl_attention_backward_args *g, const sums_before *before, compare *near) {
  const hl_attention_args *a = &g->attention;
  const size_t keys = (size_t)a->batch * a->kv_heads * a->keys, appended = (size_t)a->appended * a->kv_heads,
               biases = g->d_bias ? bias_count(a) : 0;
  const gradients d = {zeros((size_t)a->batch * a->heads * a->queries * a->width),
                       zeros(keys * a->width),
                       zeros(keys * a->value_width),
                       zeros(appended * a->width),
                       zeros(appended * a->value_width),
                       g->d_bias ? zeros(biases) : NULL,
                       g->d_sinks ? zeros(a->heads) : NULL,
                       g->d_additive ? zeros((size_t)a->heads * a->width) : NULL};
  for (size_t i = 0; i < biases; i++) d.bias[i] = before->bias[i];
  for (size_t h = 0; g->d_sinks && h < a->heads; h++) d.sinks[h] = before->sinks[h];
  for (size_t i = 0; g->d_additive && i < (size_t)a->heads * a->width; i++) d.additive[i] = before->additive[i];
  row r = row_of(a);
  EACH_ROW(r, a) {
    row_compute(&r, NULL);
    row_backward(&r, g, &d);
  }
  row_free(&r);
  const uint32_t B = a->batch, H = a->heads, G = a->kv_heads, T = a->queries, S = a->keys;
  near_rows(near, "d_query", g->d_query, &a->query_stride, (uint32_t[]){B, H, T, a->width}, d.query);
  near_rows(near, "d_key", g->d_key, &a->key_stride, (uint32_t[]){B, G, S, a->width}, d.key);
  near_rows(near, "d_value", g->d_value, &a->value_stride, (uint32_t[]){B, G, S, a->value_width}, d.value);
  near_all(near, "d_appended_key", g->d_appended_key, d.appended_key, appended * a->width);
  near_all(near, "d_appended_value", g->d_appended_value, d.appended_value, appended * a->value_width);
  near_all(near, "d_sinks", g->d_sinks, d.sinks, a->heads);
  near_all(near, "d_additive", g->d_additive, d.additive, (size_t)a->heads * a->width);
  near_all(near, "d_bias", g->d_bias, d.bias, biases);
}

/* ---- linear -------------------------------------------------------------------------------------------------- */

double *linear_reference(const float *x, const float *weight, const float *bias, size_t rows, size_t out, size_t in) {
  double *y = zeros(rows * out);
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < out; j++) {
      double sum = bias ? bias[j] : 0;
      for (size_t k = 0; k < in; k++) sum += (double)x[r * in + k] * weight[j * in + k];
      y[r * out + j] = sum;
    }
  }
  return y;
}
