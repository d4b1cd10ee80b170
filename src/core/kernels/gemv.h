/* Few rows of x times a weight as it lies, (out, in) by rows. Each number of the weight is used once for a row of x, so
 * that what counts is how fast memory is read. */
#ifndef HL_GEMV_H
#define HL_GEMV_H

#include "base/stored.h"
#include "kernels/gemm.h"

/* Columns from..to−1 of y(rows, out) = x(rows, in) · weightᵀ + bias; the product's weight is not packed, and nothing is
 * added to. A row has the same bits wherever it stands among others; by itself it is added up in another order. */
void gemv_range(const gemm_product *p, hl_stored stored, const float *x, size_t rows, size_t in, size_t from,
                size_t to);

/* Whether gemv_range reads a weight that is stored so; others are opened before. Numbers of float16 must be finite. */
bool gemv_reads(hl_stored stored, size_t rows, size_t in);

#endif
