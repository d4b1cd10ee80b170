#include "softmax.h"

#include "exp.h"
#include "panel.h"

void softmax_begin(softmax_state *state) {
  for (size_t c = 0; c < TILE_COLS; c++) {
    state->max[c] = -__builtin_inff();
    state->sum[c] = 0;
  }
}

/* −∞ − −∞ would be NaN. While a column has seen nothing its reference is 0, and e^(−∞ − 0) is 0 as it
 * should be. A NaN need not win the max: e^(NaN − max) makes the sum NaN, and with it the whole column. */
static vec reference(vec max) {
  return vec_select(vec_equal(max, vec_splat(-__builtin_inff())), vec_splat(0), max);
}

/* Sums of 16, then a sum of sums: small terms beside a large one are not rounded away one by one. */
enum { SUM_RUN = 16 };

typedef struct {
  vec origin[2], least[2], sum[2];
} exponent;

/* rows · 8 scores become e^(score − origin), or 0 below the least, and are added to the sums. */
VERB void exp_rows(float *panel, exponent *x, int rows) {
  vec e[ABREAST];
  for (int i = 0; i < 2 * rows; i++) e[i] = vec_sub(vec_load(panel + 4 * i), x->origin[i % 2]);
  vec_exp(e, 2 * rows);
  for (int i = 0; i < 2 * rows; i++) {
    vec y = vec_zero_where(vec_less(vec_load(panel + 4 * i), x->least[i % 2]), e[i]);
    vec_store(panel + 4 * i, y);
    x->sum[i % 2] = vec_add(x->sum[i % 2], y);
  }
}

void softmax_block(float *panel, size_t keys, softmax_state *state, float rescale[TILE_COLS]) {
  vec max[2], total[2] = {vec_splat(0), vec_splat(0)};
  exponent x;
  for (int h = 0; h < 2; h++) max[h] = vec_load(state->max + 4 * h);
  for (size_t s = 0; s < keys; s++) {
    for (int h = 0; h < 2; h++) max[h] = vec_max(max[h], vec_load(panel + s * TILE_COLS + 4 * h));
  }
  for (int h = 0; h < 2; h++) {
    x.origin[h] = reference(max[h]);
    x.least[h] = vec_add(x.origin[h], vec_splat(EXP_LEAST));
  }
  for (size_t s = 0; s < keys;) {
    size_t end = keys - s < SUM_RUN ? keys : s + SUM_RUN;
    for (int h = 0; h < 2; h++) x.sum[h] = vec_splat(0);
    for (; s + 2 <= end; s += 2) exp_rows(panel + s * TILE_COLS, &x, 2);
    for (; s < end; s++) exp_rows(panel + s * TILE_COLS, &x, 1);
    for (int h = 0; h < 2; h++) total[h] = vec_add(total[h], x.sum[h]);
  }
  for (int h = 0; h < 2; h++) {
    vec old = vec_load(state->max + 4 * h), factor = vec_sub(old, x.origin[h]);
    vec_exp(&factor, 1);
    factor = vec_zero_where(vec_less(old, x.least[h]), factor);
    vec_store(rescale + 4 * h, factor);
    vec_store(state->sum + 4 * h, vec_fma(vec_load(state->sum + 4 * h), factor, total[h]));
    vec_store(state->max + 4 * h, max[h]);
  }
}

void softmax_end(const softmax_state *state, float inverse[TILE_COLS]) {
  for (size_t c = 0; c < TILE_COLS; c++) inverse[c] = state->sum[c] == 0 ? 0 : 1 / state->sum[c];
}

void softmax_panel(float *panel, size_t keys) {
  softmax_state state;
  float factor[TILE_COLS];
  softmax_begin(&state);
  softmax_block(panel, keys, &state, factor);
  softmax_end(&state, factor);
  panel_scale(panel, keys, factor);
}
