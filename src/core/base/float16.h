/* float16 (IEEE 754 binary16), stored as integers. */
#ifndef HL_FLOAT16_H
#define HL_FLOAT16_H

#include "base/simd.h"

/* float16_store rounds to nearest, ties to even. Values beyond the largest float16 become infinity, and every NaN
 * becomes the same NaN. */
void float16_store(uint16_t *to, const float *from, size_t count);
void float16_load(float *to, const uint16_t *from, size_t count);

/* bfloat16 is the upper half of a float32. */
void bfloat16_load(float *to, const uint16_t *from, size_t count);

#endif
