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

static void half_block(float *panel, size_t keys, float *max, float *sum, float *rescale) {
  vec old = vec_load(max), m = old;
  for (size_t s = 0; s < keys; s++) m = vec_max(m, vec_load(panel + s * TILE_COLS));
  vec origin = reference(m), total = vec_splat(0);
  for (size_t s = 0; s < keys;) {
    size_t end = keys - s < SUM_RUN ? keys : s + SUM_RUN;
    vec run = vec_splat(0);
    for (; s < end; s++) {
      vec e = vec_exp(vec_sub(vec_load(panel + s * TILE_COLS), origin));
      vec_store(panel + s * TILE_COLS, e);
      run = vec_add(run, e);
    }
    total = vec_add(total, run);
  }
  vec factor = vec_exp(vec_sub(old, origin));
  vec_store(rescale, factor);
  vec_store(sum, vec_fma(vec_load(sum), factor, total));
  vec_store(max, m);
}

void softmax_block(float *panel, size_t keys, softmax_state *state, float rescale[TILE_COLS]) {
  half_block(panel, keys, state->max, state->sum, rescale);
  half_block(panel + 4, keys, state->max + 4, state->sum + 4, rescale + 4);
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
