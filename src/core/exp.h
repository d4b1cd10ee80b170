/* 2ˣ and tanh, of several vectors abreast: the steps of one wait for each other, those of two do not.
 *
 * 2ˣ = 2ⁿ · 2ʳ with n = x rounded, so that r, at most ½, is exact; and 2ʳ = 1 + r · Q(r), Q of degree 4 by minimax
 * (1.07e−7 relative, below one ulp), with Q(0) = ln 2: tanh near 0 is as good as elsewhere. */
#ifndef HL_EXP_H
#define HL_EXP_H

#include "simd.h"

/* The constants lie in memory that could change, as far as the compiler knows: so each is loaded where it is
 * used, four times over to spare a shuffle. As constants they would be built anew in every round of a loop,
 * which costs engines more than the arithmetic does. */
typedef struct {
  float shifter[4], q[5][4], one[4], least[4];
} exp_table;
extern exp_table exp_constants;

enum { ABREAST = 4 };

#define LOG2_E 1.44269504f

/* r, in the place of x, and Q(r) of every x; power holds n in its low bits. */
VERB void exp_reduce(vec *x, vec *q, vec *power, int count) {
  const exp_table *t = &exp_constants;
  vec constant = vec_load(t->shifter);
  for (int i = 0; i < count; i++) power[i] = vec_add(x[i], constant);
  for (int i = 0; i < count; i++) x[i] = vec_sub(x[i], vec_sub(power[i], constant));
  constant = vec_load(t->q[4]);
  for (int i = 0; i < count; i++) q[i] = constant;
  for (int degree = 3; degree >= 0; degree--) {
    constant = vec_load(t->q[degree]);
    for (int i = 0; i < count; i++) q[i] = vec_fma(q[i], x[i], constant);
  }
}

/* x = 2ˣ for x ≤ 0, within 2.5 ulp; 0 for x < −80: that is nothing against the 1 that stands in every softmax
 * row, and no denormal arises where it meets a value. NaN gives NaN. */
VERB void vec_exp2(vec *x, int count) {
  vec q[ABREAST], power[ABREAST];
  exp_reduce(x, q, power, count);
  vec constant = vec_load(exp_constants.one);
  for (int i = 0; i < count; i++) q[i] = vec_fma(q[i], x[i], constant);
  constant = vec_load(exp_constants.least);
  for (int i = 0; i < count; i++) {
    x[i] = vec_zero_where(vec_less(power[i], constant), bits_add(q[i], bits_shift_left(power[i], 23)));
  }
}

/* tanh x = m / (m + 2) with m = e²ˣ − 1, within 5 ulp; from |x| = 10 on it is ±1. */
VERB vec vec_tanh(vec x) {
  vec q, power, twice = vec_min(vec_mul(vec_abs(x), vec_splat(2 * LOG2_E)), vec_splat(20 * LOG2_E));
  exp_reduce(&twice, &q, &power, 1);
  power = bits_add(bits_shift_left(power, 23), vec_load(exp_constants.one));
  vec m = vec_fma(vec_mul(q, twice), power, vec_sub(power, vec_splat(1)));
  return vec_with_sign_of(vec_div(m, vec_add(m, vec_splat(2))), x);
}

#endif
