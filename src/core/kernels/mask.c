#include "kernels/mask.h"

#include "base/simd.h"

#define HIDDEN (-__builtin_inff())

static uint32_t clamp(int64_t x, uint32_t max) { return x < 0 ? 0 : x > max ? max : (uint32_t)x; }

static bool has_interval(const visibility *v) { return v->left >= 0 || v->right >= 0 || v->lengths; }

/* Returns the interval of keys that the windows and the length do not mask for one query, without the appended keys. */
static span interval(const visibility *v, uint32_t query) {
  int64_t position = query + v->offset, from = 0, to = v->keys;
  if (v->right >= 0 && to > position + v->right + 1) to = position + v->right + 1;
  if (v->left >= 0) from = position - v->left;
  if (v->lengths && to > v->lengths[query * v->lengths_query]) to = v->lengths[query * v->lengths_query];
  span s = {clamp(from, v->keys), clamp(to, v->keys)};
  if (s.from > s.to) s.from = s.to;
  return s;
}

span mask_span(const visibility *v, uint32_t first, uint32_t queries) {
  const uint32_t all = v->keys + v->appended;
  if (v->none_hidden || v->fill > HIDDEN || !has_interval(v)) return (span){0, all};
  span hull = {v->keys, 0};
  for (uint32_t t = first; t < first + queries; t++) {
    span s = interval(v, t);
    if (s.from == s.to) continue;
    if (hull.from > s.from) hull.from = s.from;
    if (hull.to < s.to) hull.to = s.to;
  }
  if (v->appended) hull.to = all;
  if (hull.from > hull.to) hull.from = hull.to;
  return hull;
}

static bool bias_hides(const visibility *v, uint32_t query) {
  const float *bias = v->bias + query * v->bias_query;
  size_t s = 0;
  vec hidden = vec_splat(0);
  for (; v->bias_key == 1 && s + 4 <= v->keys; s += 4)
    hidden = bits_or(hidden, vec_equal(vec_load(bias + s), vec_splat(HIDDEN)));
  if (bits_any(hidden)) return true;
  for (; s < v->keys; s++) {
    if (bias[s * v->bias_key] == HIDDEN) return true;
  }
  return false;
}

bool mask_may_hide(const visibility *v, uint32_t queries) {
  if (v->none_hidden) return false;
  if (v->mask || v->padding || has_interval(v)) return true;
  for (uint32_t t = 0; v->bias && t < queries; t++) {
    if (bias_hides(v, t)) return true;
  }
  return false;
}

bool mask_is_visible(const visibility *v, uint32_t query, uint32_t key) {
  if (v->none_hidden || key >= v->keys) return true;
  const span s = interval(v, query);
  return key >= s.from && key < s.to && (!v->mask || v->mask[query * v->mask_query + key * v->mask_key]) &&
         (!v->padding || v->padding[key * v->padding_key]) &&
         (!v->bias || v->bias[query * v->bias_query + key * v->bias_key] != HIDDEN);
}

static void hide_where_zero(float *column, const uint8_t *sees, size_t step, size_t keys, float fill) {
  for (size_t s = 0; s < keys; s++) {
    if (!sees[s * step]) column[s * TILE_COLS] = fill;
  }
}

/* Replaces the scores of masked keys by `fill`. Adding −∞ instead would not remove NaN. */
static void hide(float *column, const visibility *v, uint32_t query, uint32_t key, uint32_t keys, float fill) {
  if (v->mask) hide_where_zero(column, v->mask + query * v->mask_query + key * v->mask_key, v->mask_key, keys, fill);
  if (v->padding) hide_where_zero(column, v->padding + key * v->padding_key, v->padding_key, keys, fill);
  const span seen = interval(v, query);
  for (uint32_t s = 0; s < keys && key + s < seen.from; s++) column[(size_t)s * TILE_COLS] = fill;
  for (uint32_t s = seen.to > key ? seen.to - key : 0; s < keys; s++) column[(size_t)s * TILE_COLS] = fill;
}

/* Adds the bias of one query to its scores. In the backward pass, hide_by_bias sets gradients to 0 where the bias masks
 * a key. */
static void add_bias(float *column, const float *bias, size_t step, size_t keys) {
  for (size_t s = 0; s < keys; s++) {
    const float b = bias[s * step];
    column[s * TILE_COLS] = b == HIDDEN ? b : column[s * TILE_COLS] + b;
  }
}

static void hide_by_bias(float *column, const float *bias, size_t step, size_t keys) {
  for (size_t s = 0; s < keys; s++) {
    if (bias[s * step] == HIDDEN) column[s * TILE_COLS] = 0;
  }
}

typedef void bias_function(float *column, const float *bias, size_t step, size_t keys);

static void for_each_query(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key,
                           uint32_t keys, bias_function *with_bias, float fill) {
  if (v->none_hidden || key >= v->keys) return;
  if (keys > v->keys - key) keys = v->keys - key;
  const bool hides = v->mask || v->padding || has_interval(v);
  for (uint32_t t = first; t < first + queries; t++, panel++) {
    if (v->bias) with_bias(panel, v->bias + t * v->bias_query + key * v->bias_key, v->bias_key, keys);
    if (hides) hide(panel, v, t, key, keys, fill);
  }
}

/* Adds the bias of `slope`, −slope · distance, to all eight columns. Distances are below 2²⁴, where every integer is
 * exact in float32. */
static void add_distance(float *panel, const visibility *v, uint32_t first, uint32_t key, uint32_t keys) {
  static const float column[TILE_COLS] = {0, 1, 2, 3, 4, 5, 6, 7};
  const float from = (float)(first + v->offset - key);
  const vec slope = vec_splat(-v->slope);
  for (uint32_t s = 0; s < keys && key + s < v->keys; s++, panel += TILE_COLS) {
    const vec position = vec_splat(from - (float)s);
#pragma clang loop unroll(full)
    for (size_t c = 0; c < TILE_COLS; c += 4) {
      const vec distance = vec_abs(vec_add(position, vec_load(column + c)));
      vec_store(panel + c, vec_add(vec_load(panel + c), vec_mul(distance, slope)));
    }
  }
}

void mask_panel(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys) {
  if (!v->none_hidden && v->slope != 0) add_distance(panel, v, first, key, keys);
  for_each_query(panel, v, first, queries, key, keys, add_bias, v->fill);
}

void mask_backward(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys) {
  for_each_query(panel, v, first, queries, key, keys, hide_by_bias, 0);
}
