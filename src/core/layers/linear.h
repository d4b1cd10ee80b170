/* y(rows, out) = x(rows, in) · weightᵀ + bias, divided into chunks for the threads: float weights use gemm.c, int8
 * weights use gemm_int8.c. And the backward pass. */
#ifndef HL_LINEAR_H
#define HL_LINEAR_H

#include "kernels/gemm.h"

/* Floats of workspace that linear needs. */
double linear_workspace(double rows, uint32_t in);

/* Computes up to three products with the same x, which is packed once. All weights are int8, or none is. */
void linear(const gemm_product *products, uint32_t count, bool int8, const float *x, size_t rows, size_t in,
            float *workspace);

/* Computes one product whose x is transposed, (in, rows). */
void linear_transposed(const gemm_product *product, const float *x, size_t rows, size_t in, float *workspace);

/* dx(rows, in) = dy(rows, out) · weight(out, in), or dx += if add; dweight(out, in) += dyᵀ · x; dbias(out) += Σ dy over
 * the rows. Any of the three may be NULL. */
double linear_backward_workspace(double rows, uint32_t out, uint32_t in);
void linear_backward(float *dx, bool add, float *dweight, float *dbias, const float *dy, const float *x,
                     const float *weight, size_t rows, uint32_t out, uint32_t in, float *workspace);

#endif
