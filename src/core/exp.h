/* exp and tanh of four floats.
 *
 * eˣ = 2ⁿ · eʳ with n = round(x / ln 2), |r| ≤ ln 2 / 2, and eʳ − 1 = r + r² · P(r), P of degree 4 by minimax
 * (3.1e−9 relative, far below half an ulp). Keeping eʳ − 1 apart from the 1 lets tanh use it near 0. */
#ifndef HL_EXP_H
#define HL_EXP_H

#include "simd.h"

/* eʳ − 1; *power becomes 2ⁿ. Right for −87 ≤ x ≤ 88; NaN gives NaN. */
VERB vec exp_reduced(vec x, vec *power) {
  const vec shifter = vec_splat(12582912.0f); /* 1.5 · 2²³: adding it rounds to an integer in the low bits */
  vec shifted = vec_fma(x, vec_splat(1.44269504f), shifter);
  vec n = vec_sub(shifted, shifter);
  *power = bits_add(bits_shift_left(shifted, 23), bits_splat(0x3F800000));
  /* ln 2 in two parts: n times the first is exact. */
  vec r = vec_fma(n, vec_splat(-0.693359375f), x);
  r = vec_fma(n, vec_splat(2.12194440e-4f), r);
  vec p = vec_splat(0.00138145406f);
  p = vec_fma(p, r, vec_splat(0.00836874545f));
  p = vec_fma(p, r, vec_splat(0.041668389f));
  p = vec_fma(p, r, vec_splat(0.166665211f));
  p = vec_fma(p, r, vec_splat(0.49999994f));
  return vec_fma(vec_mul(r, r), p, r);
}

/* eˣ for x ≤ 0, within 2 ulp. Below 2⁻⁸⁰ it is 0: against the 1 that stands in every softmax row such a
 * weight is nothing, and no denormal arises where it meets a value. NaN gives NaN. */
VERB vec vec_exp(vec x) {
  vec power, q = exp_reduced(x, &power);
  return vec_zero_where(vec_less(x, vec_splat(-55.451774f)), vec_fma(q, power, power));
}

/* tanh x = m / (m + 2) with m = e²ˣ − 1, within 4 ulp; from |x| = 10 on it is ±1. */
VERB vec vec_tanh(vec x) {
  vec power, twice = vec_min(vec_mul(vec_abs(x), vec_splat(2)), vec_splat(20));
  vec q = exp_reduced(twice, &power);
  vec m = vec_fma(q, power, vec_sub(power, vec_splat(1)));
  return vec_with_sign_of(vec_div(m, vec_add(m, vec_splat(2))), x);
}

#endif
