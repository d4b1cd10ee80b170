/* The path for a single query whose keys and values are float16: they are widened in registers. Moving the bits of a
 * float16 into their places in a float32 gives a number that is 2¹¹² too small, also a denormal one. The query and the
 * weights are 2⁵⁶ times too large instead, and so are the corrected sums: nothing overflows. */
#include "attention/single_query.h"

#define HALF_SCALE 0x1p56f

INLINE vec widen(vec words) { return bits_and(bits_shift_right_signed(words, 3), bits_splat(0x8fffffff)); }

INLINE void load_eight(vec to[2], const uint16_t *from) {
  const vec halves = halves_load(from), zero = bits_splat(0);
  to[0] = widen(words_interleave_low(zero, halves));
  to[1] = widen(words_interleave_high(zero, halves));
}

static float load_one(const uint16_t *from) {
  const uint32_t half = *from;
  const union {
    uint32_t bits;
    float number;
  } shifted = {(half & 0x8000) << 16 | (half & 0x7fff) << 13};
  return shifted.number;
}

static void pack_query(const attention_tile *t) {
  gemm_pack_rows(t->query, 1, tile_query_rows(t), 0, 1, t->args->width, tile_scale(t) * HALF_SCALE);
}

/* to[keys][8] = query (D) · key (keys,D), in the first column. Four keys at a time share each load of the query. */
KERNEL static void dots(float *to, const float *query, const uint16_t *key, size_t stride, size_t keys, size_t width) {
  const size_t steps = width / 8 * 8;
  for (size_t s = 0; s < keys; s += 4, key += 4 * stride) {
    const size_t count = keys - s < 4 ? keys - s : 4;
    const uint16_t *row[4];
    vec sum[4];
    float dot[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; i++) {
      row[i] = key + (i < count ? i : 0) * stride;
      sum[i] = vec_splat(0);
    }
    for (size_t d = 0; d < steps; d += 8) {
      const vec q[2] = {vec_load(query + d), vec_load(query + d + 4)};
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) {
        vec k[2];
        load_eight(k, row[i] + d);
        sum[i] = vec_fma(q[1], k[1], vec_fma(q[0], k[0], sum[i]));
      }
    }
    vec_transpose(sum);
    vec_store(dot, vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
    for (size_t i = 0; i < count; i++) {
      for (size_t d = steps; d < width; d++) dot[i] += query[d] * load_one(row[i] + d);
      to[(s + i) * TILE_COLS] = dot[i] * HALF_SCALE;
    }
  }
}

static void scores(const attention_tile *t, span keys) {
  const size_t stride = t->args->key_stride.row;
  dots(t->scores, t->query, (const uint16_t *)(const void *)t->keys + keys.from * stride, stride, keys.to - keys.from,
       t->args->width);
}

/* Keys whose values are added at a time, and vectors of columns that fit into the registers. */
enum { KEYS = 16, WIDE = 8 };

/* sum(8·pairs) += Σ weight · value(keys, 8·pairs) over the keys. */
INLINE void add_columns(int pairs, float *sum, const float *weights, const uint16_t *value, size_t stride,
                        size_t keys) {
  vec acc[WIDE];
#pragma clang loop unroll(full)
  for (int i = 0; i < 2 * pairs; i++) acc[i] = vec_load(sum + 4 * i);
  for (const float *end = weights + keys * TILE_COLS; weights != end; weights += TILE_COLS, value += stride) {
    const vec w = vec_mul(vec_load_splat(weights), vec_splat(HALF_SCALE));
#pragma clang loop unroll(full)
    for (int i = 0; i < pairs; i++) {
      vec v[2];
      load_eight(v, value + 8 * i);
      acc[2 * i] = vec_fma(w, v[0], acc[2 * i]);
      acc[2 * i + 1] = vec_fma(w, v[1], acc[2 * i + 1]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 2 * pairs; i++) vec_store(sum + 4 * i, acc[i]);
}

/* sum(columns) += Σ weight · value(keys, columns) over the keys. */
KERNEL static void add_weighted(float *sum, const float *weights, const uint16_t *value, size_t stride, size_t keys,
                                size_t columns) {
  for (size_t count; keys > 0; keys -= count, weights += count * TILE_COLS, value += count * stride) {
    size_t j = 0;
    count = keys < KEYS ? keys : KEYS;
    for (; j + 4 * WIDE <= columns; j += 4 * WIDE) add_columns(WIDE / 2, sum + j, weights, value + j, stride, count);
    for (; j + 8 <= columns; j += 8) add_columns(1, sum + j, weights, value + j, stride, count);
    for (; j < columns; j++) {
      for (size_t k = 0; k < count; k++)
        sum[j] += weights[k * TILE_COLS] * HALF_SCALE * load_one(value + k * stride + j);
    }
  }
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  tile_begin_heads(t, 0, factor ? factor[0] : NULL);
  const size_t width = t->args->value_width, stride = t->args->value_stride.row;
  for (span needed = next_visible_span(t, keys, keys.from); needed.from < keys.to;
       needed = next_visible_span(t, keys, needed.to)) {
    const float *weights = t->scores + (size_t)(needed.from - keys.from) * TILE_COLS;
    const uint16_t *value = (const uint16_t *)(const void *)t->values + needed.from * stride;
    for (size_t j = 0, columns; j < width; j += columns) {
      float sum[VALUE_COLUMNS] = {0};
      columns = width - j < VALUE_COLUMNS ? width - j : VALUE_COLUMNS;
      add_weighted(sum, weights, value + j, stride, needed.to - needed.from, columns);
      for (size_t i = 0; i < columns; i++) t->heads[(j + i) * TILE_COLS] += sum[i] * HALF_SCALE;
    }
  }
}

const attention_path half_keys_path = {pack_query, scores, values, tile_output};
