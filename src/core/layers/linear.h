/* y(rows, out) = x(rows, in) · weightᵀ + bias, shared out in chunks: of float weights by gemm.c, of int8 ones by
 * gemm_int8.c. And in reverse. */
#ifndef HL_LINEAR_H
#define HL_LINEAR_H

#include "kernels/gemm.h"

/* Floats of workspace that linear needs. */
double linear_workspace(double rows, uint32_t in);

/* Up to three products with the same x, which is packed once. All their weights are int8, or none is. */
void linear(const gemm_product *products, uint32_t count, bool int8, const float *x, size_t rows, size_t in,
            float *workspace);

/* One product whose x is given as its transpose, (in, rows). */
void linear_turned(const gemm_product *product, const float *x, size_t rows, size_t in, float *workspace);

/* dx(rows, in) = dy(rows, out) · weight(out, in), or added to what is there; dweight += dyᵀ · x; dbias += Σ dy over
 * the rows. Any of the three may be NULL. */
double linear_backward_workspace(double rows, uint32_t out, uint32_t in);
void linear_backward(float *dx, bool add, float *dweight, float *dbias, const float *dy, const float *x,
                     const float *weight, size_t rows, uint32_t out, uint32_t in, float *workspace);

#endif
