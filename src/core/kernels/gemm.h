/* The matrix product: operands packed into panels, multiplied by one register-tiled kernel.
 *
 * A panel holds `width` rows of a matrix side by side, panel[depth][width], so that the kernel reads both
 * operands in order: up to TILE_ROWS wide for the left one, TILE_COLS for the right one. Rows that a last
 * panel lacks are zeros. */
#ifndef HL_GEMM_H
#define HL_GEMM_H

#include <stdbool.h>

#include "base/simd.h"

static inline size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* panels[⌈rows/width⌉][depth][width] = scale · source(rows, depth), the rows `stride` apart. */
void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale);

/* panels[⌈columns/TILE_ROWS⌉][capacity][TILE_ROWS], of which rows first..first+rows−1 of every panel become
 * source(rows, columns). Says whether every number was finite. */
bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride, size_t rows,
                       size_t columns);

/* c(TILE_ROWS, 8) = a·b of a left and a right panel, its rows one after the other. */
void gemm_lone_tile(float *c, const float *a, const float *b, size_t depth);

/* c(TILE_ROWS, 8) = before + a·b, rows of c `c_stride` apart, those of `before`, which may be c, one after the other.
 * */
void gemm_whole_tile(float *c, size_t c_stride, const float *before, const float *a, const float *b, size_t depth);
extern const float gemm_zeros[TILE_ROWS * TILE_COLS];

/* The same of any number of rows of a left panel that is `width` wide. */
void gemm_tile(size_t rows, float *c, size_t c_stride, const float *before, const float *a, size_t width,
               const float *b, size_t depth);

/* The same of fewer than TILE_ROWS, and of eight columns of a matrix b, its rows `b_stride` apart. */
void gemm_low_tile(size_t rows, float *c, size_t c_stride, const float *before, const float *a, size_t width,
                   const float *b, size_t b_stride, size_t depth);

/* Floats of a packed weight (out, in): rows of TILE_COLS outputs. And of a packed row of x. */
double gemm_packed_weight(uint32_t out, uint32_t in);
size_t gemm_left_row(size_t in);

/* A right operand given with its depth as rows: panels[⌈columns/TILE_COLS⌉][rows][TILE_COLS] = source(rows, columns).
 * */
void gemm_pack_right(float *panels, const float *source, size_t stride, size_t rows, size_t columns);

/* y(rows, out), contiguous, = x(rows, in) · weightᵀ + bias. */
typedef struct {
  float *y;
  const float *weight, *bias; /* packed; bias may be NULL */
  uint32_t out;
  bool add;       /* to y as it is, in the place of the bias; not with int8 weights */
  uint32_t first; /* the column that the weight begins with; not with int8 weights */
} gemm_product;

/* x packed: panels[⌈rows/width⌉][in][width]. */
typedef struct {
  const float *panels;
  size_t width, in;
} gemm_left;

/* Rows first..last−1, the first a multiple of the width, and columns from..to−1, a multiple of TILE_COLS. */
void gemm_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
