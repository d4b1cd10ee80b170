/* The backward pass of the multi-head layer: project ← split ← attend ← concat ← project. It uses the tensors that the
 * forward pass has saved instead of recomputing them. */
#include "attention/backward.h"
#include "attention/validate.h"
#include "base/check.h"
#include "base/tensor.h"
#include "layers/linear.h"
#include "layers/multihead.h"

/* Gradients of the layer's intermediate tensors. */
typedef struct {
  float *query, *key, *value;           /* query (B,T,H·D); key, value (B,S,G·D) */
  float *heads;                         /* (B,T,H·D) */
  float *appended_key, *appended_value; /* (E,G·D) */
  float *shared;                        /* workspace of products and of attention */
} intermediate_gradients;

static double max(double a, double b) { return a > b ? a : b; }

static double assign_workspace(intermediate_gradients *d, const hl_multihead_args *m,
                               const hl_attention_backward_args *g, const layer *l, float *workspace) {
  const hl_attention_args *a = &g->attention;
  const double query_rows = (double)a->batch * a->queries, key_rows = (double)a->batch * a->keys,
               appended = (double)a->appended * l->kv_width;
  double shared = attention_backward_workspace(g);
  shared = max(shared, linear_backward_workspace(query_rows, l->query_width, m->query_dim));
  shared = max(shared, linear_backward_workspace(key_rows, l->kv_width, m->key_dim));
  shared = max(shared, linear_backward_workspace(key_rows, l->kv_width, m->value_dim));
  if (m->packed_wo) shared = max(shared, linear_backward_workspace(query_rows, m->output_dim, l->query_width));
  const part parts[] = {{&d->query, query_rows * l->query_width},
                        {&d->key, key_rows * l->kv_width},
                        {&d->value, key_rows * l->kv_width},
                        {&d->heads, query_rows * l->query_width},
                        {&d->appended_key, appended},
                        {&d->appended_value, appended},
                        {&d->shared, shared}};
  return block_parts(workspace, parts, COUNT(parts));
}

/* Adds the gradient of the first appended key or value (bias_key, bias_value) to the gradient of that parameter. */
static void add_learned(float *to, const float *from, uint32_t width) {
  for (uint32_t i = 0; to && i < width; i++) to[i] += from[i];
}

static void backward(const hl_multihead_backward_args *g, const hl_attention_backward_args *attention, const layer *l,
                     const intermediate_gradients *d) {
  const hl_multihead_args *m = &g->forward;
  const hl_attention_args *a = &attention->attention;
  size_t queries = (size_t)a->batch * a->queries, keys = (size_t)a->batch * a->keys;
  /* output = heads · woᵀ + bo */
  if (g->wo) {
    linear_backward(d->heads, false, g->d_wo, g->d_bo, g->d_output, l->heads, g->wo, queries, m->output_dim,
                    l->query_width, d->shared);
  }
  /* heads = attention(query, key, value), including the appended keys */
  attention_backward(attention, d->shared);
  add_learned(g->d_bias_key, d->appended_key, l->kv_width);
  add_learned(g->d_bias_value, d->appended_value, l->kv_width);
  multihead_rotate(d->query, d->key, m, true);
  /* query, key, value = inputs · weightᵀ + bias; if two inputs are the same tensor, its gradient is the sum of both */
  bool accumulate = g->d_key == g->d_query;
  linear_backward(g->d_query, false, g->d_wq, g->d_bq, d->query, m->query, g->wq, queries, l->query_width, m->query_dim,
                  d->shared);
  linear_backward(g->d_key, accumulate, g->d_wk, g->d_bk, d->key, m->key, g->wk, keys, l->kv_width, m->key_dim,
                  d->shared);
  accumulate = g->d_value == g->d_query || g->d_value == g->d_key;
  linear_backward(g->d_value, accumulate, g->d_wv, g->d_bv, d->value, m->value, g->wv, keys, l->kv_width, m->value_dim,
                  d->shared);
}

static hl_status validate(const hl_multihead_backward_args *g, hl_attention_backward_args *attention) {
  if (!g) return HL_BAD_SHAPE;
  const hl_multihead_args *m = &g->forward;
  *attention = (hl_attention_backward_args){.d_weights = g->d_weights, .d_bias = g->d_bias, .d_sinks = g->d_sinks};
  const hl_status status = multihead_validate(m, &attention->attention, true);
  if (status != HL_OK) return status;
  if (m->int8) return HL_BAD_ARGUMENT;
  const hl_attention_args *a = &attention->attention;
  const double rows = (double)a->batch * a->queries, keys = (double)a->batch * a->keys;
  const double query = rows * m->query_dim, key = keys * m->key_dim, value = keys * m->value_dim,
               output = rows * (m->packed_wo ? m->output_dim : (double)a->heads * a->width);
  bool complete = m->saved && !m->present_key && g->wq && g->wk && g->wv && !g->wo == !m->packed_wo &&
                  has_floats(g->d_query, query) && has_floats(g->d_key, key) && has_floats(g->d_value, value) &&
                  has_floats(g->d_output, output) && attention_has_gradients(attention) &&
                  (g->d_key != g->d_query || key == query) && (g->d_value != g->d_query || value == query) &&
                  (g->d_value != g->d_key || value == key);
  return complete ? multihead_validate_positions(m) : HL_BAD_SHAPE;
}

hl_status hl_multihead_backward(const hl_multihead_backward_args *g) {
  hl_attention_backward_args attention;
  const hl_status status = validate(g, &attention);
  if (status != HL_OK) return status;
  const hl_multihead_args *m = &g->forward;
  layer l;
  multihead_set_sizes(&l, m, &attention.attention, true);
  multihead_assign(&l, m->saved, NULL);
  multihead_split(&attention.attention, m, &l);
  attention.attention.output = l.heads;
  intermediate_gradients d;
  float *workspace = workspace_alloc(assign_workspace(&d, m, &attention, &l, NULL));
  if (!workspace) return HL_OUT_OF_MEMORY;
  assign_workspace(&d, m, &attention, &l, workspace);
  attention.d_output = g->wo ? d.heads : attention_nonnull(g->d_output);
  attention.d_query = d.query;
  attention.d_key = d.key;
  attention.d_value = d.value;
  attention.d_appended_key = d.appended_key;
  attention.d_appended_value = d.appended_value;
  backward(g, &attention, &l, &d);
  workspace_free();
  return HL_OK;
}
