/* Operations on panels. A panel[rows][8] has one column for each of eight queries. Also conversion from and to rows of
 * a tensor. */
#ifndef HL_PANEL_H
#define HL_PANEL_H

#include <stdbool.h>

#include "base/simd.h"

/* panel = panel · factor. panel_multiply has one factor for all columns, panel_scale one for each column. */
void panel_multiply(float *panel, size_t rows, float factor);
void panel_scale(float *panel, size_t rows, const float factor[TILE_COLS]);

/* Does the same as panel_scale, and returns true if all results are finite. */
bool panel_scale_finite(float *panel, size_t rows, const float factor[TILE_COLS]);

void panel_zero(float *panel, size_t rows);

/* panel = panel + other */
void panel_sum(float *panel, const float *other, size_t rows);

/* to[column · stride + row] = panel[row][column], for the first `columns` columns. */
void panel_store(float *to, size_t stride, const float *panel, size_t rows, size_t columns);

/* to[column · stride + row] += panel[row][column] · factor. */
void panel_add_to_rows(float *to, size_t stride, const float *panel, size_t rows, size_t columns, float factor);

/* panel[row][column] += from[column · stride + row] · factor. */
void panel_add_from_rows(float *panel, const float *from, size_t stride, size_t rows, size_t columns, float factor);

/* True if every number of from (rows,width) is finite; the rows are `stride` apart. */
bool panel_rows_finite(const float *from, size_t stride, size_t rows, size_t width);

/* sum[column] += Σ a[row][column] · b[row][column] over the rows. */
void panel_dots(float sum[TILE_COLS], const float *a, const float *b, size_t rows);

/* to(8,8) = panel(8,8)ᵀ */
void panel_transpose(float *to, const float *panel);

#endif
