#include "attention/row.h"

/* Its column of the panels is the first; the three that softmax takes along are zeros. */

/* The dot products of four keys at a time, which share each load of the query. Each is made in two sums that do not
 * wait for each other. */
KERNEL static void dots(float *to, const float *query, const float *key, size_t stride, size_t keys, size_t width) {
  const size_t steps = width / 8 * 8, whole = width / 4 * 4;
  for (size_t s = 0; s < keys; s += 4, key += 4 * stride) {
    const size_t count = keys - s < 4 ? keys - s : 4;
    const float *row[4];
    vec part[4][2], sum[4];
    float dot[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      row[i] = key + (i < count ? i : 0) * stride;
      part[i][0] = part[i][1] = vec_splat(0);
    }
    size_t d = 0;
    for (; d < steps; d += 8) {
      const vec q[2] = {vec_load(query + d), vec_load(query + d + 4)};
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) {
        part[i][0] = vec_fma(q[0], vec_load(row[i] + d), part[i][0]);
        part[i][1] = vec_fma(q[1], vec_load(row[i] + d + 4), part[i][1]);
      }
    }
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      if (d < whole) part[i][0] = vec_fma(vec_load(query + d), vec_load(row[i] + d), part[i][0]);
      sum[i] = vec_add(part[i][0], part[i][1]);
    }
    vec_transpose(sum);
    vec_store(dot, vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
    for (size_t i = 0; i < count; i++) {
      for (d = whole; d < width; d++) dot[i] += query[d] * key[i * stride + d];
      to[(s + i) * TILE_COLS] = dot[i];
    }
  }
}

static void pack_query(const attention_tile *t) {
  gemm_pack_rows(t->query, 1, tile_from(t), 0, 1, t->args->width, tile_scale(t));
}

static void scores(const attention_tile *t, span keys) {
  const hl_attention_args *args = t->args;
  dots(t->scores, t->query, t->keys + (size_t)keys.from * args->key_stride.row, args->key_stride.row,
       keys.to - keys.from, args->width);
}

/* Columns that are summed up at a time; of a few keys, which stay in the first-level cache, as many as the registers
 * hold. */
enum { COLUMNS = 128, KEYS = 16, WIDE = 8, NARROW = 2 };

/* sum += Σ weight · value, of so many vectors of columns. */
VERB void add_columns(int vecs, float *sum, const float *weights, const float *value, size_t stride, size_t keys) {
  vec acc[WIDE];
#pragma clang loop unroll(full)
  for (int i = 0; i < vecs; i++) acc[i] = vec_load(sum + 4 * i);
  for (const float *end = weights + keys * TILE_COLS; weights != end; weights += TILE_COLS, value += stride) {
    const vec w = vec_load_splat(weights);
#pragma clang loop unroll(full)
    for (int i = 0; i < vecs; i++) acc[i] = vec_fma(w, vec_load(value + 4 * i), acc[i]);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < vecs; i++) vec_store(sum + 4 * i, acc[i]);
}

KERNEL static void weigh(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                         size_t columns) {
  for (size_t some; keys > 0; keys -= some, weights += some * TILE_COLS, value += some * stride) {
    size_t j = 0;
    some = keys < KEYS ? keys : KEYS;
    for (; j + 4 * WIDE <= columns; j += 4 * WIDE) add_columns(WIDE, sum + j, weights, value + j, stride, some);
    for (; j + 4 <= columns; j += 4) add_columns(1, sum + j, weights, value + j, stride, some);
    for (; j < columns; j++) {
      for (size_t k = 0; k < some; k++) sum[j] += weights[k * TILE_COLS] * value[k * stride + j];
    }
  }
}

/* A key of weight 0 that is hidden may hold NaN, and is stepped over. */
VERB bool counts(const attention_tile *t, span keys, uint32_t key) {
  return t->scores[(size_t)(key - keys.from) * TILE_COLS] != 0 || mask_sees(&t->visible, t->first, key);
}

/* Four keys that count, since none has weight 0. */
VERB bool four_count(const attention_tile *t, span keys, uint32_t key) {
  const float *w = t->scores + (size_t)(key - keys.from) * TILE_COLS;
  return keys.to - key >= 4 &&
         !bits_any(vec_equal(vec_load_each(w, w + TILE_COLS, w + 2 * TILE_COLS, w + 3 * TILE_COLS), vec_splat(0)));
}

/* Some keys in a row that count. */
static span visible_run(const attention_tile *t, span keys, uint32_t from) {
  while (from < keys.to && !counts(t, keys, from)) from++;
  span run = {from, from};
  for (uint32_t more = 1; more > 0 && run.to < keys.to && run.to - from < VALUE_DEPTH; run.to += more)
    more = four_count(t, keys, run.to) ? 4 : counts(t, keys, run.to);
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
