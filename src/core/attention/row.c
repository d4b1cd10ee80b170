#include "attention/row.h"

/* Its column of the panels is the first; the three that softmax takes along are zeros. */

/* The dot products of four keys at a time, two from each half: so the keys are read as two streams, which memory gives
 * faster than one. Of an odd number the key in the middle is in both. Each product is made in two sums that do not wait
 * for each other. */
KERNEL static void dots(float *to, const float *query, const float *keys, size_t stride, size_t count, size_t width) {
  const size_t steps = width / 8 * 8, whole = width / 4 * 4, half = (count + 1) / 2, other = count - half;
  for (size_t s = 0; s < half; s += 2) {
    size_t key[4];
    vec sum[4];
    float dot[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      key[i] = (s + i / 2 < half ? s + i / 2 : s) + i % 2 * other;
      const float *row = keys + key[i] * stride;
      vec part[2] = {vec_splat(0), vec_splat(0)};
      size_t d = 0;
      for (; d < steps; d += 8) {
        part[0] = vec_fma(vec_load(query + d), vec_load(row + d), part[0]);
        part[1] = vec_fma(vec_load(query + d + 4), vec_load(row + d + 4), part[1]);
      }
      if (d < whole) part[0] = vec_fma(vec_load(query + d), vec_load(row + d), part[0]);
      sum[i] = vec_add(part[0], part[1]);
    }
    vec_transpose(sum);
    vec_store(dot, vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
    for (size_t i = 0; i < 4; i++) {
      for (size_t d = whole; d < width; d++) dot[i] += query[d] * keys[key[i] * stride + d];
      to[key[i] * TILE_COLS] = dot[i];
    }
  }
}

static void pack_query(const attention_tile *t) {
  gemm_pack_rows(t->query, 1, tile_from(t), 0, 1, t->args->width, tile_scale(t));
}

static void scores(const attention_tile *t, span keys) {
  const hl_attention_args *args = t->args;
  for (size_t i = 0; i < (size_t)(keys.to - keys.from) * TILE_COLS; i += TILE_COLS)
    vec_store(t->scores + i, vec_splat(0));
  dots(t->scores, t->query, t->keys + (size_t)keys.from * args->key_stride.row, args->key_stride.row,
       keys.to - keys.from, args->width);
}

/* Columns that are summed up at a time. The rows of the values are read whole, one from each half of the keys: so they
 * are two streams as well. In narrower columns, or with more rows at a time, memory gives less. */
enum { COLUMNS = 128 };

/* sum(columns) += Σ weight · value, of one key, or of two that are `apart` keys from each other. */
VERB void add_rows(int keys, float *sum, const float *weights, const float *value, size_t stride, size_t apart,
                   size_t columns) {
  const float *row[2] = {value, value + apart * stride}, each[2] = {weights[0], weights[apart * TILE_COLS]};
  size_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    vec acc = vec_load(sum + j);
    for (int k = 0; k < keys; k++) acc = vec_fma(vec_splat(each[k]), vec_load(row[k] + j), acc);
    vec_store(sum + j, acc);
  }
  for (; j < columns; j++) {
    for (int k = 0; k < keys; k++) sum[j] += each[k] * row[k][j];
  }
}

KERNEL static void weigh(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                         size_t columns) {
  const size_t half = keys / 2;
  for (size_t k = 0; k < half; k++)
    add_rows(2, sum, weights + k * TILE_COLS, value + k * stride, stride, half, columns);
  if (keys % 2) add_rows(1, sum, weights + (keys - 1) * TILE_COLS, value + (keys - 1) * stride, stride, 0, columns);
}

/* A key of weight 0 that is hidden may hold NaN, and is stepped over. */
VERB bool counts(const attention_tile *t, span keys, uint32_t key) {
  return t->scores[(size_t)(key - keys.from) * TILE_COLS] != 0 || mask_sees(&t->visible, t->first, key);
}

/* Some keys in a row that count. */
static span visible_run(const attention_tile *t, span keys, uint32_t from) {
  while (from < keys.to && !counts(t, keys, from)) from++;
  span run = {from, from};
  while (run.to < keys.to && run.to - from < VALUE_DEPTH && counts(t, keys, run.to)) run.to++;
  return run;
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  tile_begin_heads(t, 0, factor ? factor[0] : NULL);
  size_t width = t->args->value_width, stride = t->args->value_stride.row;
  for (span run = visible_run(t, keys, keys.from); run.from < keys.to; run = visible_run(t, keys, run.to)) {
    const float *weights = t->scores + (size_t)(run.from - keys.from) * TILE_COLS,
                *value = t->values + run.from * stride;
    size_t count = run.to - run.from;
    for (size_t j = 0, columns; j < width; j += columns) {
      float sum[COLUMNS] = {0};
      columns = width - j < COLUMNS ? width - j : COLUMNS;
      weigh(sum, weights, value + j, stride, count, columns);
      for (size_t i = 0; i < columns; i++) t->heads[(j + i) * TILE_COLS] += sum[i];
    }
  }
}

bool row_takes(const hl_attention_args *args) { return args->queries == 1 && args->appended == 0 && !args->additive; }

const attention_path row_path = {pack_query, scores, values, tile_output};
