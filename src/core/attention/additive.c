#include "attention/additive.h"

#include "base/exp.h"

static const float *head_weight(const attention_tile *t) {
  return t->args->additive + (size_t)t->head * t->args->width;
}

/* Address of element 0 of key s in packed keys; the next element is TILE_ROWS floats further. */
static const float *packed_key(const attention_tile *t, size_t s) {
  return t->keys + (s - s % TILE_ROWS) * t->args->width + s % TILE_ROWS;
}

/* Packs the queries without the scale, because score_row multiplies its sums by the scale. */
static void pack_queries(const attention_tile *t) {
  gemm_pack_rows(t->query, TILE_COLS, tile_query_rows(t), t->args->query_stride.row, t->queries, t->args->width, 1);
}

/* to[8] = scale · Σ weight(D) · tanh(query[D][8] + key(D)), for one key. */
KERNEL static void score_row(float *to, const float *query, const float *key, const float *weight, size_t width,
                             float scale) {
  const exp_vecs constants = exp_load();
  vec low = vec_splat(0), high = vec_splat(0);
  for (size_t h = 0; h < width; h++) {
    const vec k = vec_load_splat(key + h * TILE_ROWS), w = vec_load_splat(weight + h);
    low = vec_fma(vec_tanh_with(&constants, vec_add(vec_load(query + h * TILE_COLS), k)), w, low);
    high = vec_fma(vec_tanh_with(&constants, vec_add(vec_load(query + h * TILE_COLS + 4), k)), w, high);
  }
  vec_store(to, vec_mul(low, vec_splat(scale)));
  vec_store(to + 4, vec_mul(high, vec_splat(scale)));
}

static void scores(const attention_tile *t, span keys) {
  const size_t width = t->args->width;
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    for (size_t s = keys.from; s < keys.to; s++) {
      score_row(panel_scores(t, p) + (s - keys.from) * TILE_COLS, t->query + p * width * TILE_COLS, packed_key(t, s),
                head_weight(t), width, tile_scale(t));
    }
  }
}

attention_path additive_path(const attention_path *packed) {
  return (attention_path){pack_queries, scores, packed->values, packed->output};
}

/* ---- backward ---- */

/* Sums for one component of D. d_query is summed over the keys, for each query of the panel; d_additive over queries
 * and keys. */
typedef struct {
  vec d_query[2], d_additive;
} sums;

/* Returns the gradient of q + k and adds to the gradient of the weight. A score with gradient 0, such as the score of a
 * masked key, contributes 0 even if the key is NaN. */
INLINE vec differentiate(const exp_vecs *constants, vec sum, vec d_score, vec weight, vec *d_additive) {
  const vec none = vec_equal(d_score, vec_splat(0)), y = vec_tanh_with(constants, sum);
  const vec slope = vec_sub(vec_splat(1), vec_mul(y, y));
  *d_additive = vec_add(*d_additive, vec_zero_where(none, vec_mul(d_score, y)));
  return vec_zero_where(none, vec_mul(vec_mul(d_score, weight), slope));
}

/* Adds the gradients of four keys for one component. Each gradient is summed over the queries. */
KERNEL static void four_keys(sums *s, float *d_key, const float *query, const float *const key[4],
                             const float *d_scores, float additive) {
  const exp_vecs constants = exp_load();
  const vec weight = vec_splat(additive), q[2] = {vec_load(query), vec_load(query + 4)};
  vec d_key_lanes[4];
  for (int i = 0; i < 4; i++, d_scores += TILE_COLS) {
    d_key_lanes[i] = vec_splat(0);
    if (!key[i]) continue;
    const vec k = vec_load_splat(key[i]);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) {
      const vec d = differentiate(&constants, vec_add(q[c], k), vec_load(d_scores + 4 * c), weight, &s->d_additive);
      s->d_query[c] = vec_add(s->d_query[c], d);
      d_key_lanes[i] = vec_add(d_key_lanes[i], d);
    }
  }
  vec_transpose(d_key_lanes);
  vec_store(d_key, vec_add(vec_load(d_key),
                           vec_add(vec_add(d_key_lanes[0], d_key_lanes[1]), vec_add(d_key_lanes[2], d_key_lanes[3]))));
}

void additive_backward(float *d_query, float *d_key, float *d_additive, float *d_scores, const attention_tile *t,
                       uint32_t panel, span keys) {
  const size_t width = t->args->width;
  for (size_t s = 0; s < keys.to - keys.from; s++) {
    for (uint32_t c = panel_queries(t, panel); c < TILE_COLS; c++) d_scores[s * TILE_COLS + c] = 0;
  }
  const float *query = t->query + panel * width * TILE_COLS, *weight = head_weight(t);
  for (size_t h = 0; h < width; h++, query += TILE_COLS, d_query += TILE_COLS) {
    sums s = {{vec_load(d_query), vec_load(d_query + 4)}, vec_splat(0)};
    for (size_t first = keys.from; first < keys.to; first += 4) {
      const float *key[4];
      for (size_t i = 0; i < 4; i++) key[i] = first + i < keys.to ? packed_key(t, first + i) + h * TILE_ROWS : NULL;
      const size_t lane = first % TILE_COLS;
      four_keys(&s, d_key + (first - lane) * width + h * TILE_COLS + lane, query, key,
                d_scores + (first - keys.from) * TILE_COLS, weight[h]);
    }
    float lanes[4];
    vec_store(d_query, s.d_query[0]);
    vec_store(d_query + 4, s.d_query[1]);
    vec_store(lanes, s.d_additive);
    d_additive[h] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
}
