/* Product of few rows of x with a weight (out, in) that is not packed. Each weight is used once per row of x, so the
 * speed is limited by memory bandwidth. */
#ifndef HL_GEMV_H
#define HL_GEMV_H

#include "base/stored_type.h"
#include "kernels/gemm.h"

/* Computes columns from..to−1 of y(rows, out) = x(rows, in) · weightᵀ + bias. The weight of the product must not be
 * packed, and its `add` must be false. A row has the same bits at any position among two or more rows; a single row is
 * summed in another order. */
void gemv_range(const gemm_product *p, hl_stored stored, const float *x, size_t rows, size_t in, size_t from,
                size_t to);

/* True if gemv_range can read a weight of this type directly. Otherwise the weight must be converted to float32 first.
 * Numbers of float16 must be finite. */
bool gemv_supports(hl_stored stored, size_t in);

#endif
