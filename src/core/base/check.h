/* What every entry checks before it computes anything from its sizes.
 *
 * Sizes are multiplied in double precision, where no product wraps. A tensor that passes has at most 2³² bytes, so its
 * elements can be counted and addressed in 32 bits. */
#ifndef HL_CHECK_H
#define HL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* So many floats, or integers of 32 bits, can lie in memory; bytes likewise. */
static inline bool fits_bytes(double count) { return count <= 4294967296.0; }
static inline bool fits_floats(double count) { return fits_bytes(count * sizeof(float)); }

/* The same of a tensor, which is not NULL unless it is empty. */
static inline bool has_floats(const void *tensor, double count) { return fits_floats(count) && (tensor || count == 0); }

/* The same of a tensor that need not be given. */
static inline bool may_have_floats(const void *tensor, double count) { return !tensor || fits_floats(count); }

/* Elements from the first to the last of a tensor by its strides, its last axis, `width`, contiguous; none where a size
 * is 0. */
double extent(const double *sizes, const uint32_t *strides, size_t axes, double width);

/* (batch, heads, rows, width) by its strides: it fits, and is given unless it is empty. */
bool has_rows(const float *tensor, uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *s);

/* Whether each number is from 0 to below `end`. */
bool all_below(const int32_t *numbers, size_t count, uint32_t end);

/* x − x is NaN for NaN and infinity. */
static inline bool is_finite(double x) { return x - x == 0; }

#endif
