/* Rounding of numbers to integers times a step. */
#ifndef HL_ROUNDING_H
#define HL_ROUNDING_H

#include <stddef.h>

/* The largest magnitude of n numbers; NaN if any of them is not finite. */
float largest_magnitude(const float *numbers, size_t n);

/* The step for numbers up to `max` with this many levels; NaN for NaN. It is at least the smallest normal number: a
 * denormal step would lose digits, and its inverse would overflow. */
float rounding_step(float max, float levels);

#endif
