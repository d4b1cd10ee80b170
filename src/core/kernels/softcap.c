#include "kernels/softcap.h"

#include "base/exp.h"

void softcap_floats(float *to, const float *x, size_t count, float cap) {
  const vec caps = vec_splat(cap), inverse = vec_splat(1 / cap);
  for (size_t i = 0; i < count; i += 4) vec_store(to + i, vec_mul(caps, vec_tanh(vec_mul(vec_load(x + i), inverse))));
}

void softcap_panel(float *panel, size_t keys, float cap) { softcap_floats(panel, panel, keys * TILE_COLS, cap); }

void softcap_panel_derivative(float *slope, const float *capped, size_t keys, float cap) {
  const vec inverse = vec_splat(1 / cap);
  for (size_t i = 0; i < keys * TILE_COLS; i += 4)
    vec_store(slope + i, softcap_derivative(vec_load(capped + i), inverse));
}

void softcap_backward(float *panel, const float *slope, size_t keys) {
  for (size_t i = 0; i < keys * TILE_COLS; i += 4) {
    vec x = vec_load(panel + i);
    vec_store(panel + i, vec_zero_where(vec_equal(x, vec_splat(0)), vec_mul(x, vec_load(slope + i))));
  }
}
