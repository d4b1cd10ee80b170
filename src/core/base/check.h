/* Checks of sizes and pointers. Every exported function makes them before it computes anything from the sizes.
 *
 * Sizes are multiplied in double precision, where no product wraps. A tensor that passes has at most 2³² bytes, so its
 * elements can be counted and addressed in 32 bits. */
#ifndef HL_CHECK_H
#define HL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* True if `count` bytes (fits_bytes), or `count` floats or integers of 32 bits (fits_floats), fit into 4 GiB. */
static inline bool fits_bytes(double count) { return count <= 4294967296.0; }
static inline bool fits_floats(double count) { return fits_bytes(count * sizeof(float)); }

/* True if the floats of a tensor fit, and the tensor is not NULL unless it is empty. */
static inline bool has_floats(const void *tensor, double count) { return fits_floats(count) && (tensor || count == 0); }

/* True if an optional tensor is NULL or its floats fit. */
static inline bool has_floats_or_null(const void *tensor, double count) { return !tensor || fits_floats(count); }

/* Number of elements from the first to the last one of a strided tensor whose last axis has `width` contiguous
 * elements; 0 if any size is 0. */
double extent(const double *sizes, const uint32_t *strides, size_t axes, double width);

/* Checks a tensor (batch,heads,rows,width) with these strides: it must fit, and may be NULL only if it is empty. */
bool has_rows(const float *tensor, uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *s);

/* True if 0 ≤ number < end for each number. */
bool all_below(const int32_t *numbers, size_t count, uint32_t end);

/* False for NaN and infinity, for which x − x is NaN. */
static inline bool is_finite(double x) { return x - x == 0; }

#endif
