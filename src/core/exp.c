#include "exp.h"

#define FOUR(x) {x, x, x, x}

exp_table exp_constants = {
    .per_ln2 = FOUR(1.44269504f),
    .shifter = FOUR(12582912.0f), /* 1.5 · 2²³: adding it rounds to an integer in the low bits */
    .minus_ln2 = FOUR(-0.693147182f), /* off by 1.9e−9: n ≤ 80 times that is below an ulp */
    .q = {FOUR(1), FOUR(0.4999923f), FOUR(0.16667116f), FOUR(0.04189033f), FOUR(0.008312501f)},
    .one = FOUR(1),
};
