/* The matrix product: operands packed into panels, multiplied by one register-tiled kernel.
 *
 * A panel holds `width` rows of a matrix side by side, panel[depth][width], so that the kernel reads both
 * operands in order: TILE_ROWS wide for the left one, TILE_COLS for the right one. Rows that a last panel
 * lacks are zeros. */
#ifndef HL_GEMM_H
#define HL_GEMM_H

#include <stdbool.h>

#include "simd.h"

static inline size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* panels[⌈rows/width⌉][depth][width] = scale · source(rows, depth), the rows `stride` apart. */
void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale);

/* panels[⌈columns/TILE_ROWS⌉][capacity][TILE_ROWS], of which rows first..first+rows−1 of every panel become
 * source(rows, columns). Says whether every number was finite. */
bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride,
                       size_t rows, size_t columns);

/* c(TILE_ROWS, TILE_COLS) = a·b, or c + a·b, of one left and one right panel; rows of c `stride` apart. */
void gemm_tile(float *c, size_t stride, const float *a, const float *b, size_t depth, bool accumulate);

/* Floats of workspace that gemm_linear needs. */
uint64_t gemm_linear_workspace(uint32_t out, uint32_t in);

/* y(rows, out) = x(rows, in) · weightᵀ + bias, weight (out, in), bias (out) or NULL; y is contiguous. */
void gemm_linear(float *y, const float *x, const float *weight, const float *bias, size_t rows, size_t out,
                 size_t in, float *workspace);

#endif
