#include "attention/few_queries.h"

#include "base/panel.h"

/* At most FEW_QUERIES queries for any number of keys, or one tile of queries for at most FEW_KEYS keys. */
enum { FEW_QUERIES = 8, FEW_KEYS = 64 };

/* True if a key may be masked in any head of the group, since each head may have its own bias or mask. */
static bool any_hides(const attention_tile *t) {
  const hl_attention_args *a = t->args;
  if (t->visible.none_hidden) return false;
  for (uint32_t h = t->head; h < t->head + a->heads / a->kv_heads; h++) {
    visibility v;
    tile_visibility(&v, a, t->batch, h);
    if (mask_may_hide(&v, a->queries)) return true;
  }
  return false;
}

bool is_few_queries(const attention_tile *t, const float *value) {
  const hl_attention_args *a = t->args;
  if (a->queries > TILE_QUERIES || (a->queries > FEW_QUERIES && a->keys > FEW_KEYS)) return false;
  if (a->appended > 0 || a->additive || a->value_stride.row < a->value_width) return false;
  return !any_hides(t) || panel_rows_finite(value, a->value_stride.row, a->keys, a->value_width);
}

/* to[TILE_ROWS][8] = scores of up to four queries (queries,D) and up to TILE_ROWS keys (keys,D), in the first four
 * columns. A missing query or key is replaced by the last query or key. */
KERNEL static void score_tile(float *to, const float *query, size_t query_stride, size_t queries, const float *key,
                              size_t key_stride, size_t keys, size_t width, float scale) {
  const vec factor = vec_splat(scale);
  const float *q[4], *k[TILE_ROWS];
  vec acc[TILE_ROWS];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 4; i++) q[i] = query + (i < queries ? i : queries - 1) * query_stride;
#pragma clang loop unroll(full)
  for (size_t s = 0; s < TILE_ROWS; s++) {
    k[s] = key + (s < keys ? s : keys - 1) * key_stride;
    acc[s] = vec_splat(0);
  }
  size_t d = 0;
  for (; d + 4 <= width; d += 4) {
    vec column[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) column[i] = vec_load(q[i] + d);
    vec_transpose(column);
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      vec x = vec_mul(column[i], factor);
#pragma clang loop unroll(full)
      for (size_t s = 0; s < TILE_ROWS; s++) acc[s] = vec_fma(vec_load_splat(k[s] + d + i), x, acc[s]);
    }
  }
  for (; d < width; d++) {
    vec x = vec_mul(vec_load_each(q[0] + d, q[1] + d, q[2] + d, q[3] + d), factor);
#pragma clang loop unroll(full)
    for (size_t s = 0; s < TILE_ROWS; s++) acc[s] = vec_fma(vec_load_splat(k[s] + d), x, acc[s]);
  }
#pragma clang loop unroll(full)
  for (size_t s = 0; s < TILE_ROWS; s++) vec_store(to + s * TILE_COLS, acc[s]);
}

static void scores(const attention_tile *t, span keys) {
  const hl_attention_args *a = t->args;
  const size_t query_stride = a->query_stride.row, key_stride = a->key_stride.row;
  for (size_t c = 0; c < t->queries; c += 4) {
    float *to = panel_scores(t, c / TILE_COLS) + c % TILE_COLS;
    for (size_t s = keys.from; s < keys.to; s += TILE_ROWS) {
      score_tile(to + (s - keys.from) * TILE_COLS, tile_query_rows(t) + c * query_stride, query_stride, t->queries - c,
                 t->keys + s * key_stride, key_stride, keys.to - s, a->width, tile_scale(t));
    }
  }
}

/* Returns the number of rows of the next partial tile, which has fewer than TILE_ROWS rows. */
static size_t tile_rows(size_t remaining) { return remaining < TILE_ROWS ? remaining : 4; }

static bool is_narrow(const attention_tile *t) { return t->args->value_width < TILE_COLS; }

/* Multiplies weights by narrow values (Dv < 8). The columns of the values are the rows of a tile, and the queries are
 * its columns. */
static void narrow_values(const attention_tile *t, uint32_t panel, const float *weights, const float *value,
                          size_t keys, bool add) {
  size_t width = t->args->value_width;
  for (size_t j = 0, rows; j < width; j += rows) {
    rows = tile_rows(width - j);
    float *to = panel_heads(t, panel) + j * TILE_COLS;
    gemm_partial_tile(rows, to, TILE_COLS, add ? to : gemm_zeros, value + j, t->args->value_stride.row, weights,
                      TILE_COLS, keys);
  }
}

/* Multiplies weights by wide values, eight columns at a time; the last tile overlaps the one before it. If the product
 * is added to the output, it is computed in a temporary tile. */
static void wide_values(const attention_tile *t, uint32_t panel, const float *weights, const float *value, size_t keys,
                        bool add) {
  size_t queries = panel_queries(t, panel), width = t->args->value_width, to = t->args->output_stride.row;
  for (size_t c = 0, rows; c < queries; c += rows) {
    rows = tile_rows(queries - c);
    for (size_t j = 0; j < width; j += TILE_COLS) {
      size_t column = width - j < TILE_COLS ? width - TILE_COLS : j;
      float *output = tile_output_rows(t, panel) + c * to + column, product[TILE_ROWS * TILE_COLS];
      gemm_partial_tile(rows, add ? product : output, add ? TILE_COLS : to, gemm_zeros, weights + c, TILE_COLS,
                        value + column, t->args->value_stride.row, keys);
      for (size_t r = 0; add && r < rows; r++) {
        for (size_t i = j - column; i < TILE_COLS; i++) output[r * to + i] += product[r * TILE_COLS + i];
      }
    }
  }
}

/* Multiplies the output of a panel by the factors. Returns false if a number may be NaN or infinite. */
static bool multiply_output(const attention_tile *t, uint32_t panel, const float factor[TILE_COLS]) {
  float *output = tile_output_rows(t, panel);
  vec seen = vec_splat(0);
  for (size_t c = 0; c < panel_queries(t, panel); c++) {
    const vec factors = vec_splat(factor[c]);
    size_t j = 0, width = t->args->value_width;
    for (; j + 16 <= width; j += 16) {
#pragma clang loop unroll(full)
      for (size_t i = j; i < j + 16; i += 4) {
        const vec x = vec_mul(vec_load(output + i), factors);
        vec_store(output + i, x);
        seen = vec_nan_unless_finite(seen, x);
      }
    }
    for (; j < width; j++) {
      output[j] *= factor[c];
      seen = vec_nan_unless_finite(seen, vec_splat(output[j]));
    }
    output += t->args->output_stride.row;
  }
  return vec_all_zero(seen);
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  const hl_attention_args *a = t->args;
  const bool narrow = is_narrow(t);
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    if (factor && narrow) panel_scale(panel_heads(t, p), a->value_width, factor[p]);
    else if (factor) multiply_output(t, p, factor[p]);
    for (uint32_t from = keys.from; from < keys.to || from == keys.from; from += VALUE_DEPTH) {
      size_t count = keys.to - from < VALUE_DEPTH ? keys.to - from : VALUE_DEPTH;
      const float *weights = panel_scores(t, p) + (size_t)(from - keys.from) * TILE_COLS;
      const float *value = t->values + (size_t)from * a->value_stride.row;
      (narrow ? narrow_values : wide_values)(t, p, weights, value, count, factor || from > keys.from);
    }
  }
}

static void no_queries(const attention_tile *t) { (void)t; }

/* For wide values, the products are already in the output, so only the factor must still be applied. */
static bool output(const attention_tile *t, uint32_t panel, const float *factor) {
  if (is_narrow(t)) return tile_output(t, panel, factor);
  return factor && multiply_output(t, panel, factor);
}

const attention_path few_queries_path = {no_queries, scores, values, output};
