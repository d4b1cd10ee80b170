#include "softmax.h"

#include "exp.h"
#include "panel.h"

void softmax_begin(softmax_state *state) {
  for (size_t c = 0; c < TILE_COLS; c++) {
    state->max[c] = -__builtin_inff();
    state->sum[c] = 0;
  }
}

/* The largest of every column, of the block and of what has been seen before. A NaN need not win: the weight of
 * NaN is NaN, and with it the sum and the whole column. */
static void column_max(vec max[2], const float *panel, size_t keys) {
  vec most[4] = {max[0], max[1], max[0], max[1]};
  for (; keys >= 2; keys -= 2) {
    for (int i = 0; i < 4; i++) most[i] = vec_max(most[i], vec_load(panel + 4 * i));
    panel += 2 * TILE_COLS;
  }
  for (int i = 0; i < 2 && keys > 0; i++) most[i] = vec_max(most[i], vec_load(panel + 4 * i));
  for (int i = 0; i < 2; i++) max[i] = vec_max(most[i], most[i + 2]);
}

/* −∞ − −∞ would be NaN. While a column has seen nothing its origin is 0, and 2^(−∞ − 0) is 0 as it should be. */
static vec origin_of(vec max) {
  return vec_select(vec_equal(max, vec_splat(-__builtin_inff())), vec_splat(0), max);
}

/* rows · 8 scores become weights and are added to the sums. */
VERB void exp_rows(float *panel, const vec origin[2], softmax_base base, vec sum[2], int rows) {
  vec e[ABREAST];
  for (int i = 0; i < 2 * rows; i++) {
    e[i] = vec_sub(vec_load(panel + 4 * i), origin[i % 2]);
    if (base == SOFTMAX_OF_E) e[i] = vec_mul(e[i], vec_splat(LOG2_E));
  }
  vec_exp2(e, 2 * rows);
  for (int i = 0; i < 2 * rows; i++) {
    vec_store(panel + 4 * i, e[i]);
    sum[i % 2] = vec_add(sum[i % 2], e[i]);
  }
}

/* Sums of 16, then a sum of sums: small terms beside a large one are not rounded away one by one. */
enum { SUM_RUN = 16 };

VERB void exp_panel(float *panel, size_t keys, const vec origin[2], softmax_base base, vec total[2]) {
  for (size_t s = 0; s < keys;) {
    size_t end = keys - s < SUM_RUN ? keys : s + SUM_RUN;
    vec run[2] = {vec_splat(0), vec_splat(0)};
    for (; s + 2 <= end; s += 2) exp_rows(panel + s * TILE_COLS, origin, base, run, 2);
    for (; s < end; s++) exp_rows(panel + s * TILE_COLS, origin, base, run, 1);
    for (int h = 0; h < 2; h++) total[h] = vec_add(total[h], run[h]);
  }
}

/* One loop for each base: what differs between them is decided outside. */
static void exp_block(float *panel, size_t keys, const vec origin[2], softmax_base base, vec total[2]) {
  if (base == SOFTMAX_OF_2) exp_panel(panel, keys, origin, SOFTMAX_OF_2, total);
  else exp_panel(panel, keys, origin, SOFTMAX_OF_E, total);
}

KERNEL void softmax_block(float *panel, size_t keys, softmax_base base, softmax_state *state, float rescale[TILE_COLS]) {
  vec max[2] = {vec_load(state->max), vec_load(state->max + 4)}, origin[2], total[2] = {vec_splat(0), vec_splat(0)};
  column_max(max, panel, keys);
  for (int h = 0; h < 2; h++) origin[h] = origin_of(max[h]);
  exp_block(panel, keys, origin, base, total);
  for (int h = 0; h < 2; h++) {
    vec factor = vec_sub(vec_load(state->max + 4 * h), origin[h]);
    if (base == SOFTMAX_OF_E) factor = vec_mul(factor, vec_splat(LOG2_E));
    vec_exp2(&factor, 1);
    vec_store(rescale + 4 * h, factor);
    vec_store(state->sum + 4 * h, vec_fma(vec_load(state->sum + 4 * h), factor, total[h]));
    vec_store(state->max + 4 * h, max[h]);
  }
}

void softmax_end(const softmax_state *state, float inverse[TILE_COLS]) {
  for (size_t c = 0; c < TILE_COLS; c++) inverse[c] = state->sum[c] == 0 ? 0 : 1 / state->sum[c];
}

void softmax_panel(float *panel, size_t keys, softmax_base base, softmax_state *state, float inverse[TILE_COLS]) {
  softmax_begin(state);
  softmax_block(panel, keys, base, state, inverse);
  softmax_end(state, inverse);
  panel_scale(panel, keys, inverse);
}

void softmax_again(float *panel, size_t keys, softmax_base base, const float max[TILE_COLS], const float inverse[TILE_COLS]) {
  const vec origin[2] = {origin_of(vec_load(max)), origin_of(vec_load(max + 4))};
  vec total[2] = {vec_splat(0), vec_splat(0)};
  exp_block(panel, keys, origin, base, total);
  panel_scale(panel, keys, inverse);
}

void softmax_backward(float *panel, const float *weights, size_t keys, const float delta[TILE_COLS]) {
  const vec low = vec_load(delta), high = vec_load(delta + 4);
  for (size_t i = 0; i < keys * TILE_COLS; i += TILE_COLS) {
    vec_store(panel + i, vec_mul(vec_load(weights + i), vec_sub(vec_load(panel + i), low)));
    vec_store(panel + i + 4, vec_mul(vec_load(weights + i + 4), vec_sub(vec_load(panel + i + 4), high)));
  }
}
