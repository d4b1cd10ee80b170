/* The path for keys and values in float16 or int8, for one query at a time. Keys and values are converted to float32 in
 * registers.
 *
 * float16: moving the bits of a float16 to their positions in a float32 gives a number that is too small by a factor of
 * 2¹¹², also for a denormal number. To correct this, the query or the weights are multiplied by 2⁵⁶ before the product,
 * and the sums by 2⁵⁶ after it, so that nothing overflows.
 *
 * int8: each sum is multiplied by the scale of its key, and each weight by the scale of its value.
 *
 * The rows are padded with zeros (cache_row.h), and so is the query. */
#include "attention/cache_row.h"
#include "attention/single_query.h"

#define HALF_SCALE 0x1p56f

INLINE vec widen(vec words) { return bits_and(bits_shift_right_signed(words, 3), bits_splat(0x8fffffff)); }

/* Loads the eight numbers of a row that begin at index d. */
INLINE void load_eight(vec to[2], const float *row, size_t d, hl_keys type) {
  if (type == HL_KEYS_INT8) {
    const vec words = words_load_bytes((const int8_t *)(row + 1) + d);
    to[0] = vec_from_integers(words_widen_low(words));
    to[1] = vec_from_integers(words_widen_high(words));
  } else {
    const vec halves = halves_load((const uint16_t *)(const void *)row + d), zero = bits_splat(0);
    to[0] = widen(words_interleave_low(zero, halves));
    to[1] = widen(words_interleave_high(zero, halves));
  }
}

static void pack_query(const attention_tile *t) {
  const size_t width = t->args->width;
  const float factor = t->args->key_type == HL_KEYS_INT8 ? 1 : HALF_SCALE;
  gemm_pack_rows(t->query, 1, tile_query_rows(t), 0, 1, width, tile_scale(t) * factor);
  for (size_t d = width; d < cache_padded(width); d++) t->query[d] = 0;
}

/* to[keys][8] = query (D) · key (keys,D), in the first column. Four keys at a time share each load of the query. */
INLINE void dots(hl_keys type, float *to, const float *query, const float *key, size_t stride, size_t keys,
                 size_t width) {
  for (size_t s = 0; s < keys; s += 4, key += 4 * stride) {
    const size_t count = keys - s < 4 ? keys - s : 4;
    const float *row[4];
    vec sum[4];
    float dot[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      row[i] = key + (i < count ? i : 0) * stride;
      sum[i] = vec_splat(0);
    }
    for (size_t d = 0; d < width; d += CACHE_GROUP) {
      const vec q[2] = {vec_load(query + d), vec_load(query + d + 4)};
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) {
        vec k[2];
        load_eight(k, row[i], d, type);
        sum[i] = vec_fma(q[1], k[1], vec_fma(q[0], k[0], sum[i]));
      }
    }
    vec_transpose(sum);
    vec_store(dot, vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
    for (size_t i = 0; i < count; i++) to[(s + i) * TILE_COLS] = dot[i] * (type == HL_KEYS_INT8 ? *row[i] : HALF_SCALE);
  }
}

KERNEL static void dots_half(float *to, const float *query, const float *key, size_t stride, size_t keys,
                             size_t width) {
  dots(HL_KEYS_FLOAT16, to, query, key, stride, keys, width);
}
KERNEL static void dots_int8(float *to, const float *query, const float *key, size_t stride, size_t keys,
                             size_t width) {
  dots(HL_KEYS_INT8, to, query, key, stride, keys, width);
}

static void scores(const attention_tile *t, span keys) {
  const size_t stride = t->args->key_stride.row;
  (t->args->key_type == HL_KEYS_INT8 ? dots_int8 : dots_half)(t->scores, t->query, t->keys + keys.from * stride, stride,
                                                              keys.to - keys.from, t->args->width);
}

/* KEYS: number of keys whose values are added at a time. WIDE: number of vectors of columns that fit into the
 * registers. */
enum { KEYS = 16, WIDE = 8 };

/* sum(8·pairs) += Σ weight · value(keys, 8·pairs) over the keys, where column 0 of `sum` is column j of the values. */
INLINE void add_columns(hl_keys type, int pairs, float *sum, const float *weights, const float *value, size_t stride,
                        size_t keys, size_t j) {
  vec acc[WIDE];
#pragma clang loop unroll(full)
  for (int i = 0; i < 2 * pairs; i++) acc[i] = vec_load(sum + 4 * i);
  for (const float *end = weights + keys * TILE_COLS; weights != end; weights += TILE_COLS, value += stride) {
    const vec factor = type == HL_KEYS_INT8 ? vec_load_splat(value) : vec_splat(HALF_SCALE),
              w = vec_mul(vec_load_splat(weights), factor);
#pragma clang loop unroll(full)
    for (int i = 0; i < pairs; i++) {
      vec v[2];
      load_eight(v, value, j + 8 * i, type);
      acc[2 * i] = vec_fma(w, v[0], acc[2 * i]);
      acc[2 * i + 1] = vec_fma(w, v[1], acc[2 * i + 1]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 2 * pairs; i++) vec_store(sum + 4 * i, acc[i]);
}

/* sum(to − from, padded) += Σ weight · value(keys, from..to−1) over the keys. */
INLINE void add_weighted(hl_keys type, float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                         size_t from, size_t to) {
  for (size_t count; keys > 0; keys -= count, weights += count * TILE_COLS, value += count * stride) {
    float *column = sum;
    size_t j = from;
    count = keys < KEYS ? keys : KEYS;
    for (; j + 4 * WIDE <= to; j += 4 * WIDE, column += 4 * WIDE)
      add_columns(type, WIDE / 2, column, weights, value, stride, count, j);
    for (; j < to; j += CACHE_GROUP, column += CACHE_GROUP)
      add_columns(type, 1, column, weights, value, stride, count, j);
  }
}

KERNEL static void add_weighted_half(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                                     size_t from, size_t to) {
  add_weighted(HL_KEYS_FLOAT16, sum, weights, value, stride, keys, from, to);
}
KERNEL static void add_weighted_int8(float *sum, const float *weights, const float *value, size_t stride, size_t keys,
                                     size_t from, size_t to) {
  add_weighted(HL_KEYS_INT8, sum, weights, value, stride, keys, from, to);
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  tile_begin_heads(t, 0, factor ? factor[0] : NULL);
  const size_t width = t->args->value_width, stride = t->args->value_stride.row;
  const bool bytes = t->args->key_type == HL_KEYS_INT8;
  for (span needed = next_visible_span(t, keys, keys.from); needed.from < keys.to;
       needed = next_visible_span(t, keys, needed.to)) {
    const float *weights = t->scores + (size_t)(needed.from - keys.from) * TILE_COLS;
    for (size_t from = 0, to; from < width; from = to) {
      float sum[VALUE_COLUMNS] = {0};
      to = width - from < VALUE_COLUMNS ? width : from + VALUE_COLUMNS;
      (bytes ? add_weighted_int8 : add_weighted_half)(sum, weights, t->values + needed.from * stride, stride,
                                                      needed.to - needed.from, from, to);
      for (size_t j = from; j < to; j++) t->heads[j * TILE_COLS] += sum[j - from] * (bytes ? 1 : HALF_SCALE);
    }
  }
}

const attention_path narrow_keys_path = {pack_query, scores, values, tile_output};
