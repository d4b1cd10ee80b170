/* y(rows, out) = x(rows, in) · weightᵀ + bias, divided into chunks for the threads. Float weights use gemm.c, int8
 * weights gemm_int8.c, and weights in blocks gemm_blocks.c. Also the backward pass. */
#ifndef HL_LINEAR_H
#define HL_LINEAR_H

#include "kernels/gemm.h"

/* Returns the floats of workspace that linear() needs. */
double linear_workspace(double rows, uint32_t in);

/* The form of a packed weight. The first two values equal the values 0 and 1 of hl_multihead_args.int8. */
typedef enum { PACKED_FLOATS = 0, PACKED_INT8 = 1, PACKED_BLOCKS = 2 } packed_form;

/* Computes up to three products with the same x, which is packed once. All weights have the same form. Weights in
 * blocks allow only one product. */
void linear(const gemm_product *products, uint32_t count, packed_form form, const float *x, size_t rows, size_t in,
            float *workspace);

/* Computes one product whose x is transposed, (in, rows). */
void linear_transposed(const gemm_product *product, const float *x, size_t rows, size_t in, float *workspace);

/* dx(rows, in) = dy(rows, out) · weight(out, in), or dx += if `add`; dweight(out, in) += dyᵀ · x; dbias(out) += Σ dy
 * over the rows. Each of the three gradients may be NULL. */
double linear_backward_workspace(double rows, uint32_t out, uint32_t in);
void linear_backward(float *dx, bool add, float *dweight, float *dbias, const float *dy, const float *x,
                     const float *weight, size_t rows, uint32_t out, uint32_t in, float *workspace);

#endif
