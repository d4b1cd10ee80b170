/* exp and tanh, of several vectors abreast: the steps of one wait for each other, those of two do not.
 *
 * eˣ = 2ⁿ · eʳ with n = round(x / ln 2), |r| ≤ ln 2 / 2, and eʳ = 1 + r · Q(r), Q of degree 4 by minimax
 * (1.06e−7 relative, below one ulp). Q(0) is 1 exactly: tanh near 0 is as good as elsewhere. */
#ifndef HL_EXP_H
#define HL_EXP_H

#include "simd.h"

/* The constants lie in memory that could change, as far as the compiler knows: so each is loaded where it is
 * used, four times over to spare a shuffle. As constants they would be built anew in every round of a loop,
 * which costs engines more than the arithmetic does. */
typedef struct {
  float per_ln2[4], shifter[4], minus_ln2[4], q[5][4], one[4];
} exp_table;
extern exp_table exp_constants;

enum { ABREAST = 4 };

/* r, which may be x, and Q(r) of every x; power becomes n in the exponent's place. */
VERB void exp_reduce(const vec *x, vec *r, vec *q, vec *power, int count) {
  const exp_table *t = &exp_constants;
  vec constant = vec_load(t->per_ln2), shifter = vec_load(t->shifter);
  for (int i = 0; i < count; i++) power[i] = vec_fma(x[i], constant, shifter);
  for (int i = 0; i < count; i++) q[i] = vec_sub(power[i], shifter);
  constant = vec_load(t->minus_ln2);
  for (int i = 0; i < count; i++) r[i] = vec_fma(q[i], constant, x[i]);
  constant = vec_load(t->q[4]);
  for (int i = 0; i < count; i++) q[i] = constant;
  for (int degree = 3; degree >= 0; degree--) {
    constant = vec_load(t->q[degree]);
    for (int i = 0; i < count; i++) q[i] = vec_fma(q[i], r[i], constant);
  }
  for (int i = 0; i < count; i++) power[i] = bits_shift_left(power[i], 23);
}

/* x = eˣ for −87 ≤ x ≤ 0, within 3 ulp of 1 + |x|: no worse than x's own rounding. NaN gives NaN; below the
 * range it is anything. */
VERB void vec_exp(vec *x, int count) {
  vec q[ABREAST], power[ABREAST];
  exp_reduce(x, x, q, power, count);
  vec constant = vec_load(exp_constants.one);
  for (int i = 0; i < count; i++) q[i] = vec_fma(q[i], x[i], constant);
  for (int i = 0; i < count; i++) x[i] = bits_add(q[i], power[i]);
}

/* Where eˣ counts as 0: below 2⁻⁸⁰ a weight is nothing against the 1 that stands in every softmax row, and
 * no denormal arises where it meets a value. */
#define EXP_LEAST (-55.451774f)

/* tanh x = m / (m + 2) with m = e²ˣ − 1, within 5 ulp; from |x| = 10 on it is ±1. */
VERB vec vec_tanh(vec x) {
  vec r, q, power, twice = vec_min(vec_mul(vec_abs(x), vec_splat(2)), vec_splat(20));
  exp_reduce(&twice, &r, &q, &power, 1);
  power = bits_add(power, vec_load(exp_constants.one));
  vec m = vec_fma(vec_mul(q, r), power, vec_sub(power, vec_splat(1)));
  return vec_with_sign_of(vec_div(m, vec_add(m, vec_splat(2))), x);
}

#endif
