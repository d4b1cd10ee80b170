/* Soft cap of scores: cap · tanh(score / cap). */
#ifndef HL_SOFTCAP_H
#define HL_SOFTCAP_H

#include "base/simd.h"

/* to = soft cap of x. `count` must be a multiple of four; `to` may be x. */
void softcap_floats(float *to, const float *x, size_t count, float cap);

/* The derivative 1 − (capped / cap)², computed from the capped score. */
INLINE vec softcap_derivative(vec capped, vec inverse_cap) {
  const vec x = vec_mul(capped, inverse_cap);
  return vec_sub(vec_splat(1), vec_mul(x, x));
}

/* Apply softcap_floats and softcap_derivative to panel[keys][8]. */
void softcap_panel(float *panel, size_t keys, float cap);
void softcap_panel_derivative(float *slope, const float *capped, size_t keys, float cap);

/* panel = panel · slope, where `slope` is the derivative. 0 stays 0 even if the slope is NaN because of a masked
 * key. */
void softcap_backward(float *panel, const float *slope, size_t keys);

#endif
