/* The multi-head layer: project → split → attend → concat → project. Splitting into heads and concatenating heads only
 * change strides; nothing is copied. */
#include "layers/multihead.h"

#include "attention/attention.h"
#include "attention/validate.h"
#include "base/check.h"
#include "base/tensor.h"
#include "kernels/gemm_int8.h"
#include "layers/linear.h"

static double max(double a, double b) { return a > b ? a : b; }

/* Sets the arguments of attention, with the sizes that the layer determines. */
static void set_sizes(hl_attention_args *a, const hl_multihead_args *m) {
  *a = m->attention;
  a->value_width = a->width;
  a->appended = (m->bias_key != NULL) + m->zero_attention;
  a->statistics = NULL;
  a->additive = NULL;
}

/* True if a tensor fits into memory and, if `given`, is not NULL unless it is empty. */
static bool is_there(const void *tensor, double count, bool given) {
  return given ? has_floats(tensor, count) : fits_floats(count);
}

static bool rotary_fits(const hl_multihead_args *m, double fresh, bool given) {
  const hl_attention_args *a = &m->attention;
  if (!m->rotary_table) return true;
  return m->rotated % 2 == 0 && m->rotated <= a->width && fits_floats((double)m->rotary_count * m->rotated) &&
         is_there(m->query_positions, (double)a->batch * a->queries, given) && is_there(m->key_positions, fresh, given);
}

hl_status multihead_validate(const hl_multihead_args *m, hl_attention_args *a, bool given) {
  if (!m || m->past_keys > m->attention.keys || !m->bias_key != !m->bias_value) return HL_BAD_SHAPE;
  if (m->zero_attention > 1 || m->int8 > 1 || (m->rotary_table && m->rotary_neighbours > 1)) return HL_BAD_ARGUMENT;
  set_sizes(a, m);
  const hl_status status = attention_validate_sizes(a);
  if (status != HL_OK) return status;
  if (attention_has_given_input(a)) return HL_BAD_ARGUMENT;
  const double rows = (double)a->batch * a->queries, fresh = (double)a->batch * (a->keys - m->past_keys);
  const double width = (double)a->heads * a->width, kv_width = (double)a->kv_heads * a->width,
               output_width = m->packed_wo ? m->output_dim : width, cached = a->batch * kv_width;
  bool complete = fits_floats(2 * rows * a->heads) && fits_floats(rows * width) && fits_floats(fresh) &&
                  fits_floats(fresh * kv_width) && is_there(m->query, rows * m->query_dim, given) &&
                  is_there(m->key, fresh * m->key_dim, given) && is_there(m->value, fresh * m->value_dim, given) &&
                  is_there(m->packed_wq, width * (m->query_dim + 1.0), given) &&
                  is_there(m->packed_wk, kv_width * (m->key_dim + 1.0), given) &&
                  is_there(m->packed_wv, kv_width * (m->value_dim + 1.0), given) &&
                  fits_floats(width * (m->packed_wo ? m->output_dim : 0.0)) &&
                  is_there(a->output, rows * output_width, given) && (!given || attention_has_results(a));
  complete = complete && rotary_fits(m, fresh, given);
  if (m->past_keys || m->present_key || m->present_value) {
    complete = complete && m->present_key && m->present_value && !m->saved &&
               is_there(m->present_key, cached * a->keys, given) &&
               is_there(m->past_key, cached * m->past_keys, given) &&
               is_there(m->past_value, cached * m->past_keys, given);
  }
  return complete ? HL_OK : HL_BAD_SHAPE;
}

hl_status multihead_validate_positions(const hl_multihead_args *m) {
  const hl_attention_args *a = &m->attention;
  const size_t rows = (size_t)a->batch * a->queries, fresh = (size_t)a->batch * (a->keys - m->past_keys);
  const bool known = !m->rotary_table || (all_below(m->query_positions, rows, m->rotary_count) &&
                                          all_below(m->key_positions, fresh, m->rotary_count));
  return known ? HL_OK : HL_BAD_ARGUMENT;
}

/* Matrix products and attention use the buffer `shared` one after the other. */
void multihead_set_sizes(layer *l, const hl_multihead_args *m, const hl_attention_args *a, bool save) {
  l->query_width = a->heads * a->width;
  l->kv_width = a->kv_heads * a->width;
  l->fresh_keys = a->keys - m->past_keys;
  l->appended_keys = a->appended;
  l->save = save;
  const double query_rows = (double)a->batch * a->queries, key_rows = (double)a->batch * l->fresh_keys;
  double floats = max(attention_workspace(a), linear_workspace(query_rows, m->query_dim));
  floats = max(floats, linear_workspace(key_rows, m->key_dim));
  floats = max(floats, linear_workspace(key_rows, m->value_dim));
  if (m->packed_wo) floats = max(floats, linear_workspace(query_rows, l->query_width));
  const double queries = query_rows * l->query_width;
  layer_floats *f = &l->floats;
  f->shared = block_floats(floats);
  f->queries = block_floats(queries);
  f->keys = block_floats(key_rows * l->kv_width);
  f->heads = save || m->packed_wo ? block_floats(queries) : 0;
  f->appended = block_floats((double)l->appended_keys * l->kv_width);
  f->statistics = save ? block_floats(2 * query_rows * a->heads) : 0;
  const double tensors = f->queries + 2 * f->keys + f->heads + 2 * f->appended + f->statistics;
  l->saved_floats = save ? tensors : 0;
  l->total = save ? f->shared : f->shared + tensors;
}

static float *next_part(float **block, double floats) {
  float *address = *block;
  *block += (size_t)floats;
  return address;
}

void multihead_assign(layer *l, float *saved, float *workspace) {
  const layer_floats *f = &l->floats;
  if (workspace) l->shared = next_part(&workspace, f->shared);
  float *block = l->save ? saved : workspace;
  l->query = next_part(&block, f->queries);
  l->key = next_part(&block, f->keys);
  l->value = next_part(&block, f->keys);
  l->heads = next_part(&block, f->heads);
  l->appended_key = next_part(&block, f->appended);
  l->appended_value = next_part(&block, f->appended);
  l->statistics = next_part(&block, f->statistics);
}

/* Computes the projections. Projections of the same input share the packed input. */
static void project(const hl_multihead_args *m, const hl_attention_args *a, const layer *l) {
  size_t queries = (size_t)a->batch * a->queries, keys = (size_t)a->batch * l->fresh_keys;
  const gemm_product products[] = {{l->query, m->packed_wq, m->bq, l->query_width, false, 0},
                                   {l->key, m->packed_wk, m->bk, l->kv_width, false, 0},
                                   {l->value, m->packed_wv, m->bv, l->kv_width, false, 0}};
  const float *inputs[] = {m->query, m->key, m->value};
  const size_t rows[] = {queries, keys, keys}, widths[] = {m->query_dim, m->key_dim, m->value_dim};
  for (uint32_t i = 0, next; i < 3; i = next) {
    for (next = i + 1; next < 3 && inputs[next] == inputs[i] && rows[next] == rows[i] && widths[next] == widths[i];)
      next++;
    linear(products + i, next - i, m->int8 ? PACKED_INT8 : PACKED_FLOATS, inputs[i], rows[i], widths[i], l->shared);
  }
}

/* Sets the appended keys and values: first the learned key and value, then the key and value of zeros. */
static void append(const hl_multihead_args *m, const layer *l) {
  for (size_t i = 0; i < (size_t)l->appended_keys * l->kv_width; i++) {
    bool learned = m->bias_key && i < l->kv_width;
    l->appended_key[i] = learned ? m->bias_key[i] : 0;
    l->appended_value[i] = learned ? m->bias_value[i] : 0;
  }
}

/* packed_heads: strides of the heads in a projection (rows, H·D). cached_heads: strides in the cache (B,G,S,D). */
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
  a->weights = attention_nonnull(a->weights);
  a->scores = attention_nonnull(a->scores);
  a->output = m->packed_wo ? l->heads : attention_nonnull(a->output);
}

static void rotate(float *x, const hl_multihead_args *m, const int32_t *positions, uint32_t heads, uint32_t rows,
                   bool reverse) {
  const hl_attention_args *a = &m->attention;
  const hl_stride s = packed_heads(rows, heads * a->width, a->width);
  hl_rotary(x, x, m->rotary_table, positions, a->batch, heads, rows, a->width, m->rotated, m->rotary_count,
            m->rotary_neighbours, reverse, s.batch, s.head, s.row);
}

void multihead_rotate(float *query, float *key, const hl_multihead_args *m, bool reverse) {
  const hl_attention_args *a = &m->attention;
  if (!m->rotary_table) return;
  rotate(query, m, m->query_positions, a->heads, a->queries, reverse);
  rotate(key, m, m->key_positions, a->kv_heads, a->keys - m->past_keys, reverse);
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
  multihead_rotate(l->query, l->key, m, false);
  if (m->present_key) extend_cache(m, a, l);
  append(m, l);
  attention_forward(a, l->shared);
  size_t heads = (size_t)a->batch * a->queries * l->query_width;
  for (size_t i = 0; m->saved && !m->packed_wo && i < heads; i++) l->heads[i] = a->output[i];
  if (m->packed_wo) {
    const gemm_product output = {.y = m->attention.output, .weight = m->packed_wo, .bias = m->bo, .out = m->output_dim};
    linear(&output, 1, m->int8 ? PACKED_INT8 : PACKED_FLOATS, l->heads, (size_t)a->batch * a->queries, l->query_width,
           l->shared);
  }
}

hl_status hl_multihead_forward(const hl_multihead_args *m) {
  hl_attention_args a;
  hl_status status = multihead_validate(m, &a, true);
  if (status == HL_OK) status = multihead_validate_positions(m);
  if (status != HL_OK) return status;
  layer l;
  multihead_set_sizes(&l, m, &a, m->saved != NULL);
  float *workspace = workspace_alloc(l.total);
  if (!workspace) return HL_OUT_OF_MEMORY;
  multihead_assign(&l, m->saved, workspace);
  multihead_split(&a, m, &l);
  forward(m, &a, &l);
  workspace_free();
  return HL_OK;
}

double hl_multihead_saved_size(const hl_multihead_args *m) {
  hl_attention_args a;
  layer l;
  if (multihead_validate(m, &a, false) != HL_OK) return __builtin_nan("");
  multihead_set_sizes(&l, m, &a, true);
  return l.saved_floats;
}
