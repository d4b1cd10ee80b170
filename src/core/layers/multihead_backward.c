/* The layer in reverse: project ← split ← attend ← concat ← project. What the forward pass has saved stands in for
 * doing it again. */
#include "base/tensor.h"
#include "layers/linear.h"
#include "layers/multihead.h"

/* Gradients of what the layer computes on its way, in one block of workspace. */
typedef struct {
  uint64_t total;
  float *query, *key, *value, *heads, *appended_key, *appended_value, *shared;
} gradients;

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static gradients lay_out(const hl_multihead_args *m, const hl_attention_backward_args *g, const layer *l,
                         float *workspace) {
  const hl_attention_args *a = &g->attention;
  gradients d = {0};
  uint64_t query_rows = (uint64_t)a->batch * a->queries, key_rows = (uint64_t)a->batch * a->keys;
  uint64_t appended = (uint64_t)a->appended * l->kv_width, shared = attention_backward_workspace(g);
  shared = most(shared, linear_backward_workspace(query_rows, l->query_width, m->query_dim));
  shared = most(shared, linear_backward_workspace(key_rows, l->kv_width, m->key_dim));
  shared = most(shared, linear_backward_workspace(key_rows, l->kv_width, m->value_dim));
  shared = most(shared, linear_backward_workspace(query_rows, m->output_dim, l->query_width));
  const uint64_t sizes[] = {query_rows * l->query_width,
                            key_rows * l->kv_width,
                            key_rows * l->kv_width,
                            query_rows * l->query_width,
                            appended,
                            appended,
                            shared};
  float **parts[] = {&d.query, &d.key, &d.value, &d.heads, &d.appended_key, &d.appended_value, &d.shared};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (workspace) *parts[i] = workspace + d.total;
    d.total += (sizes[i] + 15) / 16 * 16;
  }
  return d;
}

/* The learned key is the first of the appended ones. */
static void add_learned(float *to, const float *from, uint32_t width) {
  for (uint32_t i = 0; to && i < width; i++) to[i] += from[i];
}

static void backward(const hl_multihead_backward_args *g, const hl_attention_backward_args *attention, const layer *l,
                     const gradients *d) {
  const hl_multihead_args *m = &g->forward;
  const hl_attention_args *a = &attention->attention;
  size_t queries = (size_t)a->batch * a->queries, keys = (size_t)a->batch * a->keys;
  /* output = heads · woᵀ + bo */
  if (g->wo) {
    linear_backward(d->heads, false, g->d_wo, g->d_bo, g->d_output, l->heads, g->wo, queries, m->output_dim,
                    l->query_width, d->shared);
  }
  /* heads = attention(query, key, value), the appended keys among them */
  attention_backward_run(attention, d->shared);
  add_learned(g->d_bias_key, d->appended_key, l->kv_width);
  add_learned(g->d_bias_value, d->appended_value, l->kv_width);
  /* query, key, value = inputs · weightᵀ + bias; an input that is two of them has the sum of both gradients */
  bool again = g->d_key == g->d_query;
  linear_backward(g->d_query, false, g->d_wq, g->d_bq, d->query, m->query, g->wq, queries, l->query_width, m->query_dim,
                  d->shared);
  linear_backward(g->d_key, again, g->d_wk, g->d_bk, d->key, m->key, g->wk, keys, l->kv_width, m->key_dim, d->shared);
  again = g->d_value == g->d_query || g->d_value == g->d_key;
  linear_backward(g->d_value, again, g->d_wv, g->d_bv, d->value, m->value, g->wv, keys, l->kv_width, m->value_dim,
                  d->shared);
}

static hl_status validate(const hl_multihead_backward_args *g) {
  const hl_multihead_args *m = &g->forward;
  const hl_attention_args *a = &m->attention;
  if (m->int8) return HL_BAD_ARGUMENT;
  if (!m->saved || m->present_key || m->past_keys || !g->wq || !g->wk || !g->wv || !g->wo != !m->packed_wo)
    return HL_BAD_SHAPE;
  if (a->batch && a->queries && (!m->query || !g->d_output || !g->d_query)) return HL_BAD_SHAPE;
  if (a->batch && a->keys && (!m->key || !m->value || !g->d_key || !g->d_value)) return HL_BAD_SHAPE;
  return HL_OK;
}

hl_status hl_multihead_backward(const hl_multihead_backward_args *g) {
  hl_status status = g ? validate(g) : HL_BAD_SHAPE;
  if (status != HL_OK) return status;
  const hl_multihead_args *m = &g->forward;
  hl_attention_backward_args attention = {
      .attention = multihead_attention(m), .d_weights = g->d_weights, .d_bias = g->d_bias};
  layer l = multihead_lay_out(m, &attention.attention, true);
  multihead_place(&l, m->saved, NULL);
  multihead_split(&attention.attention, m, &l);
  attention.attention.output = l.heads;
  float *workspace = workspace_alloc(lay_out(m, &attention, &l, NULL).total);
  if (!workspace) return HL_OUT_OF_MEMORY;
  gradients d = lay_out(m, &attention, &l, workspace);
  attention.d_output = g->wo ? d.heads : g->d_output;
  attention.d_query = d.query;
  attention.d_key = d.key;
  attention.d_value = d.value;
  attention.d_appended_key = d.appended_key;
  attention.d_appended_value = d.appended_value;
  status = attention_backward_validate(&attention);
  if (status == HL_OK) backward(g, &attention, &l, &d);
  workspace_free(workspace);
  return status;
}
