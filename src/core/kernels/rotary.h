/* Rotary positions: each pair (a, b) of elements of a row is turned by an angle of its own. */
#ifndef HL_ROTARY_H
#define HL_ROTARY_H

#include <stdbool.h>
#include <stddef.h>

/* to(width) = x, which it may be, its first 2 · half elements turned. angles: half cosines, then half sines. Pairs are
 * elements n and n + half, or neighbours 2n and 2n + 1. Reverse turns back. */
void rotary_row(float *to, const float *x, const float *angles, size_t width, size_t half, bool neighbours,
                bool reverse);

#endif
