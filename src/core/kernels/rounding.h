/* Rounding of numbers to multiples of a step. */
#ifndef HL_ROUNDING_H
#define HL_ROUNDING_H

#include <stddef.h>

/* Returns the largest magnitude of n numbers; NaN if any of them is not finite. */
float largest_magnitude(const float *numbers, size_t n);

/* Returns the step with which numbers up to `max` become integers up to `levels`; NaN for NaN. The step is at least the
 * smallest normal number, because a denormal step would lose digits, and its inverse would overflow. */
float rounding_step(float max, float levels);

#endif
