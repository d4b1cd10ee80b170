/* The multi-head layer: project → split → attend → concat → project. Splitting into heads and joining them
 * again are strides, not copies. */
#include "layers/multihead.h"

#include "base/tensor.h"
#include "kernels/gemm_int8.h"
#include "layers/linear.h"

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static hl_status validate(const hl_multihead_args *m) {
  const hl_attention_args *a = &m->attention;
  bool rows = a->batch && a->queries, past = m->present_key != NULL;
  if ((uint64_t)a->heads * a->width > UINT32_MAX || m->past_keys > a->keys || m->zero_attention > 1 || m->int8 > 1)
    return HL_BAD_SHAPE;
  if (rows && a->keys > m->past_keys && (!m->key || !m->value)) return HL_BAD_SHAPE;
  if (rows && (!m->query || !a->output)) return HL_BAD_SHAPE;
  if (!m->packed_wq || !m->packed_wk || !m->packed_wv) return HL_BAD_SHAPE;
  if (past != (m->present_value != NULL) || (m->past_keys && (!past || !m->past_key || !m->past_value)))
    return HL_BAD_SHAPE;
  if ((m->bias_key != NULL) != (m->bias_value != NULL) || (m->saved && past)) return HL_BAD_SHAPE;
  return HL_OK;
}

hl_attention_args multihead_attention(const hl_multihead_args *m) {
  hl_attention_args a = m->attention;
  a.value_width = a.width;
  a.appended = (m->bias_key != NULL) + m->zero_attention;
  return a;
}

/* The products of matrices and attention take turns in `shared`. */
layer multihead_lay_out(const hl_multihead_args *m, const hl_attention_args *a, bool keep) {
  layer l = {.query_width = a->heads * a->width,
             .kv_width = a->kv_heads * a->width,
             .fresh_keys = a->keys - m->past_keys,
             .appended_keys = a->appended};
  uint64_t queries = (uint64_t)a->batch * a->queries * l.query_width;
  uint64_t keys = (uint64_t)a->batch * l.fresh_keys * l.kv_width, appended = (uint64_t)l.appended_keys * l.kv_width;
  uint64_t query_rows = (uint64_t)a->batch * a->queries, key_rows = (uint64_t)a->batch * l.fresh_keys;
  uint64_t shared = most(attention_workspace(a), linear_workspace(query_rows, m->query_dim));
  shared = most(shared, linear_workspace(key_rows, m->key_dim));
  shared = most(shared, linear_workspace(key_rows, m->value_dim));
  if (m->packed_wo) shared = most(shared, linear_workspace(query_rows, l.query_width));
  const uint64_t statistics = keep ? 2 * query_rows * a->heads : 0;
  const uint64_t sizes[] = {shared,   queries,  keys,      keys, keep || m->packed_wo ? queries : 0,
                            appended, appended, statistics};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    l.sizes[i] = (sizes[i] + 15) / 16 * 16;
    *(keep && i > 0 ? &l.kept : &l.total) += l.sizes[i];
  }
  return l;
}

void multihead_place(layer *l, float *saved, float *workspace) {
  float **parts[] = {&l->shared,       &l->query,          &l->key,       &l->value, &l->heads,
                     &l->appended_key, &l->appended_value, &l->statistics};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    float **block = saved && i > 0 ? &saved : &workspace;
    *parts[i] = *block;
    if (*block) *block += l->sizes[i];
  }
}

/* Projections of one and the same input share its packing. */
static void project(const hl_multihead_args *m, const hl_attention_args *a, const layer *l) {
  size_t queries = (size_t)a->batch * a->queries, keys = (size_t)a->batch * l->fresh_keys;
  const gemm_product products[] = {{l->query, m->packed_wq, m->bq, l->query_width, false},
                                   {l->key, m->packed_wk, m->bk, l->kv_width, false},
                                   {l->value, m->packed_wv, m->bv, l->kv_width, false}};
  const float *inputs[] = {m->query, m->key, m->value};
  const size_t rows[] = {queries, keys, keys}, widths[] = {m->query_dim, m->key_dim, m->value_dim};
  for (uint32_t i = 0, next; i < 3; i = next) {
    for (next = i + 1; next < 3 && inputs[next] == inputs[i] && rows[next] == rows[i] && widths[next] == widths[i];)
      next++;
    linear(products + i, next - i, m->int8, inputs[i], rows[i], widths[i], l->shared);
  }
}

/* The learned key first, then the key of zeros. */
static void append(const hl_multihead_args *m, const layer *l) {
  for (size_t i = 0; i < (size_t)l->appended_keys * l->kv_width; i++) {
    bool learned = m->bias_key && i < l->kv_width;
    l->appended_key[i] = learned ? m->bias_key[i] : 0;
    l->appended_value[i] = learned ? m->bias_value[i] : 0;
  }
}

/* Where the heads of (rows, H·D) lie, and those of the cache (B,G,S,D). */
static hl_stride packed_heads(uint32_t rows, uint32_t row, uint32_t width) {
  return (hl_stride){rows * row, width, row};
}
static hl_stride cached_heads(const hl_attention_args *a) {
  return (hl_stride){a->kv_heads * a->keys * a->width, a->keys * a->width, a->width};
}

void multihead_split(hl_attention_args *a, const hl_multihead_args *m, const layer *l) {
  a->query = l->query;
  a->query_stride = a->output_stride = packed_heads(a->queries, l->query_width, a->width);
  a->key = m->present_key ? m->present_key : l->key;
  a->value = m->present_key ? m->present_value : l->value;
  a->key_stride = m->present_key ? cached_heads(a) : packed_heads(l->fresh_keys, l->kv_width, a->width);
  a->value_stride = a->key_stride;
  a->appended_key = l->appended_key;
  a->appended_value = l->appended_value;
  a->statistics = m->saved ? l->statistics : NULL;
  if (m->packed_wo) a->output = l->heads;
}

static void extend_cache(const hl_multihead_args *m, const hl_attention_args *a, const layer *l) {
  hl_stride s = packed_heads(l->fresh_keys, l->kv_width, a->width);
  hl_cache_append(m->present_key, m->past_key, l->key, a->batch, a->kv_heads, m->past_keys, l->fresh_keys, a->width,
                  s.batch, s.head, s.row);
  hl_cache_append(m->present_value, m->past_value, l->value, a->batch, a->kv_heads, m->past_keys, l->fresh_keys,
                  a->width, s.batch, s.head, s.row);
}

static void forward(const hl_multihead_args *m, const hl_attention_args *a, const layer *l) {
  project(m, a, l);
  if (m->present_key) extend_cache(m, a, l);
  append(m, l);
  attention_run(a, l->shared);
  size_t heads = (size_t)a->batch * a->queries * l->query_width;
  for (size_t i = 0; m->saved && !m->packed_wo && i < heads; i++) l->heads[i] = a->output[i];
  if (m->packed_wo) {
    const gemm_product output = {.y = m->attention.output, .weight = m->packed_wo, .bias = m->bo, .out = m->output_dim};
    linear(&output, 1, m->int8, l->heads, (size_t)a->batch * a->queries, l->query_width, l->shared);
  }
}

hl_status hl_multihead_forward(const hl_multihead_args *m) {
  hl_status status = m ? validate(m) : HL_BAD_SHAPE;
  if (status != HL_OK) return status;
  hl_attention_args a = multihead_attention(m);
  layer l = multihead_lay_out(m, &a, m->saved != NULL);
  float *workspace = workspace_alloc(l.total);
  if (!workspace) return HL_OUT_OF_MEMORY;
  multihead_place(&l, m->saved, workspace);
  multihead_split(&a, m, &l);
  status = attention_validate(&a);
  if (status == HL_OK) forward(m, &a, &l);
  workspace_free(workspace);
  return status;
}

double hl_multihead_saved_size(const hl_multihead_args *m) {
  hl_attention_args a = multihead_attention(m);
  return (double)multihead_lay_out(m, &a, true).kept;
}

double hl_weight_packed_size(uint32_t out, uint32_t in) { return (double)gemm_packed_weight(out, in); }

hl_status hl_weight_pack(float *packed, const float *weight, uint32_t out, uint32_t in) {
  if (out && in && (!packed || !weight)) return HL_BAD_SHAPE;
  gemm_pack_rows(packed, TILE_COLS, weight, in, out, in, 1);
  return HL_OK;
}

double hl_weight_quantized_size(uint32_t out, uint32_t in) { return (double)gemm_int8_packed_weight(out, in); }

hl_status hl_weight_quantize(float *packed, const float *weight, uint32_t out, uint32_t in) {
  if (out && in && (!packed || !weight)) return HL_BAD_SHAPE;
  gemm_int8_pack_weight(packed, weight, out, in, gemm_int8_form());
  return HL_OK;
}
