/* Few queries use keys and values too seldom for packing them to pay: here all are read where they lie, and the output
 * is written where it belongs, with the same bits. */
#include "attention/attention.h"
#include "base/panel.h"

/* So few before any number of keys, or a tile of them before as many. */
enum { FEW_QUERIES = 8, FEW_KEYS = 64 };

bool few_queries(const hl_attention_args *a) {
  return a->queries > 1 && (a->queries <= FEW_QUERIES || (a->queries <= TILE_QUERIES && a->keys <= FEW_KEYS)) &&
         a->appended == 0 && a->value_stride.row >= a->value_width;
}

bool few_finite(const hl_attention_args *a, const float *value) {
  vec sum = vec_splat(0);
  for (size_t s = 0; s < a->keys; s++) {
    size_t j = 0;
    for (; j + 4 <= a->value_width; j += 4) sum = vec_nan_unless_finite(sum, vec_load(value + j));
    for (; j < a->value_width; j++) sum = vec_nan_unless_finite(sum, vec_splat(value[j]));
    value += a->value_stride.row;
  }
  return vec_all_zero(sum);
}

/* Scores of up to four queries before up to TILE_ROWS keys: four columns of a panel. The last of either stands in the
 * place of those that are lacking. */
KERNEL static void few_tile(float *scores, const float *query, size_t query_stride, size_t queries, const float *key,
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
  for (size_t s = 0; s < TILE_ROWS; s++) vec_store(scores + s * TILE_COLS, acc[s]);
}

void few_scores(const attention_tile *t, span keys) {
  const hl_attention_args *a = t->args;
  const size_t query_stride = a->query_stride.row, key_stride = a->key_stride.row;
  for (size_t c = 0; c < t->queries; c += 4) {
    float *scores = panel_scores(t, c / TILE_COLS) + c % TILE_COLS;
    for (size_t s = keys.from; s < keys.to; s += TILE_ROWS) {
      few_tile(scores + (s - keys.from) * TILE_COLS, tile_from(t) + c * query_stride, query_stride, t->queries - c,
               t->keys + s * key_stride, key_stride, keys.to - s, a->width, tile_scale(t));
    }
  }
}

/* How many of what is left a low tile takes. */
static size_t rows_of(size_t left) { return left < TILE_ROWS ? left : 4; }

/* Narrow values: their columns are the rows of a tile, and the queries its columns. */
static void narrow_values(const attention_tile *t, uint32_t panel, const float *scores, const float *value, size_t keys,
                          bool add) {
  size_t width = t->args->value_width;
  for (size_t j = 0, rows; j < width; j += rows) {
    rows = rows_of(width - j);
    float *to = panel_heads(t, panel) + j * TILE_COLS;
    gemm_low_tile(rows, to, TILE_COLS, add ? to : gemm_zeros, value + j, t->args->value_stride.row, scores, TILE_COLS,
                  keys);
  }
}

/* Wide ones: eight at a time, the last of which share their tile with some of those before. Where the output is added
 * to, what is added is made beside it. */
static void wide_values(const attention_tile *t, uint32_t panel, const float *scores, const float *value, size_t keys,
                        bool add) {
  size_t queries = panel_queries(t, panel), width = t->args->value_width, to = t->args->output_stride.row;
  for (size_t c = 0, rows; c < queries; c += rows) {
    rows = rows_of(queries - c);
    for (size_t j = 0; j < width; j += TILE_COLS) {
      size_t column = width - j < TILE_COLS ? width - TILE_COLS : j;
      float *output = tile_to(t, panel) + c * to + column, beside[TILE_ROWS * TILE_COLS];
      gemm_low_tile(rows, add ? beside : output, add ? TILE_COLS : to, gemm_zeros, scores + c, TILE_COLS,
                    value + column, t->args->value_stride.row, keys);
      for (size_t r = 0; add && r < rows; r++) {
        for (size_t i = j - column; i < TILE_COLS; i++) output[r * to + i] += beside[r * TILE_COLS + i];
      }
    }
  }
}

void few_values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  const hl_attention_args *a = t->args;
  bool narrow = a->value_width < TILE_COLS;
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    float *heads = panel_heads(t, p);
    if (factor && narrow) panel_scale(heads, a->value_width, factor[p]);
    else if (factor) few_scale(t, p, factor[p]);
    for (uint32_t from = keys.from; from < keys.to || from == keys.from; from += VALUE_DEPTH) {
      size_t count = keys.to - from < VALUE_DEPTH ? keys.to - from : VALUE_DEPTH;
      const float *scores = panel_scores(t, p) + (size_t)(from - keys.from) * TILE_COLS;
      const float *value = t->values + (size_t)from * a->value_stride.row;
      (narrow ? narrow_values : wide_values)(t, p, scores, value, count, factor || from > keys.from);
    }
    if (narrow) panel_store(tile_to(t, p), a->output_stride.row, heads, a->value_width, panel_queries(t, p));
  }
}

void few_scale(const attention_tile *t, uint32_t panel, const float factor[TILE_COLS]) {
  float *output = tile_to(t, panel);
  for (size_t c = 0; c < panel_queries(t, panel); c++) {
    size_t j = 0, width = t->args->value_width;
    for (; j + 4 <= width; j += 4) vec_store(output + j, vec_mul(vec_load(output + j), vec_splat(factor[c])));
    for (; j < width; j++) output[j] *= factor[c];
    output += t->args->output_stride.row;
  }
}
