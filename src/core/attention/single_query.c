#include "attention/single_query.h"

/* The query uses column 0 of the panels. Columns 1..3, which softmax processes in the same vector, are zeros. */

/* to[keys][8] = query (D) · key (keys,D), in the first column. Four keys at a time share each load of the query. Each
 * product has two independent sums, to hide the latency of the additions. */
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
  gemm_pack_rows(t->query, 1, tile_query_rows(t), 0, 1, t->args->width, tile_scale(t));
}

static void scores(const attention_tile *t, span keys) {
  const hl_attention_args *args = t->args;
  dots(t->scores, t->query, t->keys + (size_t)keys.from * args->key_stride.row, args->key_stride.row,
       keys.to - keys.from, args->width);
}

/* Columns are summed over at most KEYS keys at a time, whose values stay in the first-level cache. WIDE vectors of
 * columns fit into the registers. */
enum { KEYS = 16, WIDE = 8 };

/* sum(4·vecs) += Σ weight · value(keys, 4·vecs) over the keys. */
INLINE void add_columns(int vecs, float *sum, const float *weights, const float *value, size_t stride, size_t keys) {
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

/* sum(columns) += Σ weight · value(keys, columns) over the keys. */
KERNEL static void add_weighted(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                                size_t columns) {
  for (size_t count; keys > 0; keys -= count, weights += count * TILE_COLS, value += count * stride) {
    size_t j = 0;
    count = keys < KEYS ? keys : KEYS;
    for (; j + 4 * WIDE <= columns; j += 4 * WIDE) add_columns(WIDE, sum + j, weights, value + j, stride, count);
    for (; j + 4 <= columns; j += 4) add_columns(1, sum + j, weights, value + j, stride, count);
    for (; j < columns; j++) {
      for (size_t k = 0; k < count; k++) sum[j] += weights[k * TILE_COLS] * value[k * stride + j];
    }
  }
}

/* False for a masked key of weight 0. Its value may be NaN, so it must be skipped. */
INLINE bool is_needed(const attention_tile *t, span keys, uint32_t key) {
  return t->scores[(size_t)(key - keys.from) * TILE_COLS] != 0 || mask_is_visible(&t->visible, t->first, key);
}

/* True if each of the next four keys has a weight other than 0, so that all four are needed. */
INLINE bool next_four_needed(const attention_tile *t, span keys, uint32_t key) {
  const float *w = t->scores + (size_t)(key - keys.from) * TILE_COLS;
  return keys.to - key >= 4 &&
         !bits_any(vec_equal(vec_load_each(w, w + TILE_COLS, w + 2 * TILE_COLS, w + 3 * TILE_COLS), vec_splat(0)));
}

span next_visible_span(const attention_tile *t, span keys, uint32_t from) {
  while (from < keys.to && !is_needed(t, keys, from)) from++;
  span needed = {from, from};
  for (uint32_t added = 1; added > 0 && needed.to < keys.to && needed.to - from < VALUE_DEPTH; needed.to += added)
    added = next_four_needed(t, keys, needed.to) ? 4 : is_needed(t, keys, needed.to);
  return needed;
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  tile_begin_heads(t, 0, factor ? factor[0] : NULL);
  size_t width = t->args->value_width, stride = t->args->value_stride.row;
  for (span needed = next_visible_span(t, keys, keys.from); needed.from < keys.to;
       needed = next_visible_span(t, keys, needed.to)) {
    const float *weights = t->scores + (size_t)(needed.from - keys.from) * TILE_COLS,
                *value = t->values + needed.from * stride;
    size_t count = needed.to - needed.from;
    for (size_t j = 0, columns; j < width; j += columns) {
      float sum[VALUE_COLUMNS] = {0};
      columns = width - j < VALUE_COLUMNS ? width - j : VALUE_COLUMNS;
      add_weighted(sum, weights, value + j, stride, count, columns);
      for (size_t i = 0; i < columns; i++) t->heads[(j + i) * TILE_COLS] += sum[i];
    }
  }
}

bool is_single_query(const hl_attention_args *args) {
  return (args->queries == 1 || args->key_type) && args->appended == 0 && !args->additive;
}

const attention_path single_query_path = {pack_query, scores, values, tile_output};
