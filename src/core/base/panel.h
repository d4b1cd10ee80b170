/* panel[rows][8]: eight queries side by side, and how they come back as rows. */
#ifndef HL_PANEL_H
#define HL_PANEL_H

#include <stdbool.h>

#include "base/simd.h"

/* panel = panel · factor, everywhere or column by column. */
void panel_multiply(float *panel, size_t rows, float factor);
void panel_scale(float *panel, size_t rows, const float factor[TILE_COLS]);

/* The same; says whether all of the result is finite. */
bool panel_scale_finite(float *panel, size_t rows, const float factor[TILE_COLS]);

void panel_zero(float *panel, size_t rows);

/* panel = panel + more */
void panel_sum(float *panel, const float *more, size_t rows);

/* to[column · stride + row] = panel[row][column], of the first `columns` columns. */
void panel_store(float *to, size_t stride, const float *panel, size_t rows, size_t columns);

/* The same, times a factor and added to what is there. */
void panel_add(float *to, size_t stride, const float *panel, size_t rows, size_t columns, float factor);

/* And back: panel[row][column] += from[column · stride + row] · factor. */
void panel_take(float *panel, const float *from, size_t stride, size_t rows, size_t columns, float factor);

/* Whether every number of (rows, width) is finite, the rows `stride` apart. */
bool panel_rows_finite(const float *from, size_t stride, size_t rows, size_t width);

/* sum += Σ a ∘ b, column by column. */
void panel_dots(float sum[TILE_COLS], const float *a, const float *b, size_t rows);

/* Eight rows become eight columns. */
void panel_turn(float *to, const float *panel);

#endif
