/* The matrix product. Operands are packed into panels and multiplied by one register-tiled kernel.
 *
 * A panel holds `width` rows of a matrix side by side, panel[depth][width], so that the kernel reads both operands
 * sequentially. A left panel is up to TILE_ROWS wide, a right panel TILE_COLS. Missing rows of the last panel are
 * zeros. */
#ifndef HL_GEMM_H
#define HL_GEMM_H

#include <stdbool.h>

#include "base/simd.h"

static inline size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* panels[⌈rows/width⌉][depth][width] = scale · source(rows, depth), whose rows are `stride` apart. */
void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale);

/* panels[⌈columns/TILE_ROWS⌉][capacity][TILE_ROWS]: rows first..first+rows−1 of every panel = source(rows, columns),
 * whose rows are `stride` apart. Returns true if every number is finite. */
bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride, size_t rows,
                       size_t columns);

/* c(TILE_ROWS, 8) = a·b, where a is a left panel and b a right panel; c is contiguous. */
void gemm_full_tile_overwrite(float *c, const float *a, const float *b, size_t depth);

/* c(TILE_ROWS, 8) = before + a·b. The rows of c are `c_stride` apart; `before` is contiguous and may be c. */
void gemm_full_tile(float *c, size_t c_stride, const float *before, const float *a, const float *b, size_t depth);
extern const float gemm_zeros[TILE_ROWS * TILE_COLS];

/* Does the same as gemm_full_tile, for any number of rows up to TILE_ROWS. The left panel a is `width` wide. */
void gemm_tile(size_t rows, float *c, size_t c_stride, const float *before, const float *a, size_t width,
               const float *b, size_t depth);

/* Does the same as gemm_tile, for fewer than TILE_ROWS rows and for eight columns of a matrix b whose rows are
 * `b_stride` apart. */
void gemm_partial_tile(size_t rows, float *c, size_t c_stride, const float *before, const float *a, size_t width,
                       const float *b, size_t b_stride, size_t depth);

/* gemm_packed_floats: floats of a packed weight (out, in), in panels of TILE_COLS outputs. gemm_left_row_floats: floats
 * of a packed row of x. */
double gemm_packed_floats(uint32_t out, uint32_t in);
size_t gemm_left_row_floats(size_t in);

/* Packs a right operand that has a row for each step of depth: panels[⌈columns/TILE_COLS⌉][rows][TILE_COLS] =
 * source(rows, columns). */
void gemm_pack_right(float *panels, const float *source, size_t stride, size_t rows, size_t columns);

/* y(rows, out) = x(rows, in) · weightᵀ + bias; y is contiguous. */
typedef struct {
  float *y;
  const float *weight, *bias; /* weight (out, in), packed; bias (out) or NULL */
  uint32_t out;
  bool add;       /* adds the product to y, without a bias; not with int8 weights */
  uint32_t first; /* first output column of the weight; not with int8 weights */
} gemm_product;

/* Packed x: panels[⌈rows/width⌉][in][width]. */
typedef struct {
  const float *panels;
  size_t width, in;
} gemm_left;

/* Computes rows first..last−1 and columns from..to−1 of y. `first` must be a multiple of the width, `from` a multiple
 * of TILE_COLS. */
void gemm_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
