#include "base/exp.h"

#define FOUR(x) {x, x, x, x}

exp_table exp_constants = {
    .shifter = FOUR(12582912.0f), /* 1.5 · 2²³: adding it rounds to an integer in the low bits */
    .q = {FOUR(0.693147182f), FOUR(0.24022283f), FOUR(0.055505585f), FOUR(0.009669691f), FOUR(0.0013300605f)},
    .one = FOUR(1),
    .min_power = FOUR(12582912.0f - 80),
};
