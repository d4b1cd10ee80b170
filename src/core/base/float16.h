/* float16, IEEE 754's binary16, kept as integers. */
#ifndef HL_FLOAT16_H
#define HL_FLOAT16_H

#include "base/simd.h"

/* Rounded to the nearest, to the even one of two; beyond the largest infinity, and NaN one NaN. */
void float16_store(uint16_t *to, const float *from, size_t count);
void float16_load(float *to, const uint16_t *from, size_t count);

/* bfloat16: the upper half of a float32. */
void bfloat16_load(float *to, const uint16_t *from, size_t count);

#endif
