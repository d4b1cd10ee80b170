/* Rotary positions. Each pair (a, b) of elements of a row is rotated by its own angle. */
#ifndef HL_ROTARY_H
#define HL_ROTARY_H

#include <stdbool.h>
#include <stddef.h>

/* to(width) = x(width) with its first 2 · half elements rotated; `to` may be x. angles (2·half): cosines, then sines. A
 * pair is elements n and n + half, or elements 2n and 2n + 1 if `neighbours`. If `reverse`, the pairs are rotated in
 * the other direction. */
void rotary_row(float *to, const float *x, const float *angles, size_t width, size_t half, bool neighbours,
                bool reverse);

#endif
