#include "attention/row.h"

/* Its column of the panels is the first; the three that softmax takes along are zeros. */

/* The dot products of four keys, one after the other: so the keys are read as one stream. Each is made in two sums that
 * do not wait for each other. */
KERNEL static void dots(float *to, const float *query, const float *key, size_t stride, size_t keys, size_t width) {
  const size_t steps = width / 8 * 8, whole = width / 4 * 4;
  for (size_t s = 0; s < keys; s += 4, key += 4 * stride) {
    const size_t count = keys - s < 4 ? keys - s : 4;
    vec sum[4];
    float dot[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      const float *row = key + (i < count ? i : 0) * stride;
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
    for (size_t i = 0; i < count; i++) {
      for (size_t d = whole; d < width; d++) dot[i] += query[d] * key[i * stride + d];
      to[(s + i) * TILE_COLS] = dot[i];
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

/* Columns that are summed up at a time, and keys that add to a sum before it is stored. The rows of the values are read
 * whole, one after the other: in narrower columns, or with more rows side by side, memory gives a third less. */
enum { COLUMNS = 128, KEYS = 2 };

/* sum(columns) += Σ weight · value, of so many keys. */
VERB void add_rows(size_t keys, float *sum, const float *weights, const float *value, size_t stride, size_t columns) {
  vec w[KEYS];
  size_t j = 0;
  for (size_t k = 0; k < keys; k++) w[k] = vec_load_splat(weights + k * TILE_COLS);
  for (; j + 4 <= columns; j += 4) {
    vec acc = vec_load(sum + j);
    for (size_t k = 0; k < keys; k++) acc = vec_fma(w[k], vec_load(value + k * stride + j), acc);
    vec_store(sum + j, acc);
  }
  for (; j < columns; j++) {
    for (size_t k = 0; k < keys; k++) sum[j] += weights[k * TILE_COLS] * value[k * stride + j];
  }
}

KERNEL static void weigh(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                         size_t columns) {
  for (; keys >= KEYS; keys -= KEYS, weights += KEYS * TILE_COLS, value += KEYS * stride)
    add_rows(KEYS, sum, weights, value, stride, columns);
  if (keys) add_rows(1, sum, weights, value, stride, columns);
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
