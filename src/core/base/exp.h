/* 2ˣ and tanh.
 *
 * 2ˣ = 2ⁿ · 2ʳ with n = round(x), so that r = x − n is exact and |r| ≤ ½. 2ʳ = 1 + r · Q(r), where Q is the minimax
 * polynomial of degree 4 (relative error 1.07e−7, below one ulp) with Q(0) = ln 2, so that tanh is as accurate near 0
 * as elsewhere. */
#ifndef HL_EXP_H
#define HL_EXP_H

#include "base/simd.h"

/* The constants of exp, in memory that the compiler must assume can change. The compiler therefore loads the constants
 * once before a loop and keeps them in registers. Engines would build literal constants again in each iteration, which
 * costs more than the arithmetic. Each constant is stored four times to avoid a shuffle. */
typedef struct {
  float shifter[4], q[5][4], one[4], min_power[4];
} exp_table;
extern exp_table exp_constants;

typedef struct {
  vec shifter, q[5], one, min_power;
} exp_vecs;

INLINE exp_vecs exp_load(void) {
  const exp_table *t = &exp_constants;
  return (exp_vecs){vec_load(t->shifter),
                    {vec_load(t->q[0]), vec_load(t->q[1]), vec_load(t->q[2]), vec_load(t->q[3]), vec_load(t->q[4])},
                    vec_load(t->one),
                    vec_load(t->min_power)};
}

#define LOG2_E 1.44269504f

/* Replaces x by r, and stores n in the low bits of `power`. */
INLINE void exp_reduce(const exp_vecs *c, vec *x, vec *power) {
  *power = vec_add(*x, c->shifter);
  *x = vec_sub(*x, vec_sub(*power, c->shifter));
}

/* 2ˣ for x ≤ 0, within 2.7 ulp. The result is 0 for x < −80. This is negligible because the largest term of each
 * softmax row is 1, and avoids denormal products with the values. NaN gives NaN. The polynomial is split into three
 * independent parts for instruction-level parallelism. */
INLINE vec vec_exp2(const exp_vecs *c, vec x) {
  vec power;
  exp_reduce(c, &x, &power);
  vec square = vec_mul(x, x);
  vec high = vec_fma(vec_fma(c->q[4], x, c->q[3]), square, vec_fma(c->q[2], x, c->q[1]));
  vec q = vec_fma(high, square, vec_fma(c->q[0], x, c->one));
  return vec_zero_where(vec_less(power, c->min_power), bits_add(q, bits_shift_left(power, 23)));
}

/* tanh x = m / (m + 2) with m = e²ˣ − 1, within 5 ulp; ±1 for |x| ≥ 10. */
INLINE vec vec_tanh_with(const exp_vecs *c, vec x) {
  vec power, twice = vec_min(vec_mul(vec_abs(x), vec_splat(2 * LOG2_E)), vec_splat(20 * LOG2_E)), q = c->q[4];
  exp_reduce(c, &twice, &power);
  for (int degree = 3; degree >= 0; degree--) q = vec_fma(q, twice, c->q[degree]);
  power = bits_add(bits_shift_left(power, 23), c->one);
  vec m = vec_fma(vec_mul(q, twice), power, vec_sub(power, vec_splat(1)));
  return vec_copy_sign(vec_div(m, vec_add(m, vec_splat(2))), x);
}

INLINE vec vec_tanh(vec x) {
  const exp_vecs c = exp_load();
  return vec_tanh_with(&c, x);
}

#endif
