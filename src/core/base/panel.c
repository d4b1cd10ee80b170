#include "base/panel.h"

void panel_multiply(float *panel, size_t rows, float factor) {
  const float factors[TILE_COLS] = {factor, factor, factor, factor, factor, factor, factor, factor};
  panel_scale(panel, rows, factors);
}

void panel_scale(float *panel, size_t rows, const float factor[TILE_COLS]) {
  (void)panel_scale_finite(panel, rows, factor);
}

bool panel_scale_finite(float *panel, size_t rows, const float factor[TILE_COLS]) {
  const vec low = vec_load(factor), high = vec_load(factor + 4);
  vec sum[2] = {vec_splat(0), vec_splat(0)};
  for (size_t i = 0; i < rows * TILE_COLS; i += TILE_COLS) {
    const vec x = vec_mul(vec_load(panel + i), low), y = vec_mul(vec_load(panel + i + 4), high);
    vec_store(panel + i, x);
    vec_store(panel + i + 4, y);
    sum[0] = vec_nan_unless_finite(sum[0], x);
    sum[1] = vec_nan_unless_finite(sum[1], y);
  }
  return vec_all_zero(vec_add(sum[0], sum[1]));
}

void panel_zero(float *panel, size_t rows) {
  for (size_t i = 0; i < rows * TILE_COLS; i += 4) vec_store(panel + i, vec_splat(0));
}

void panel_sum(float *panel, const float *other, size_t rows) {
  for (size_t i = 0; i < rows * TILE_COLS; i += 4)
    vec_store(panel + i, vec_add(vec_load(panel + i), vec_load(other + i)));
}

/* Loads a 4×4 square of the panel, transposed. The loops over a square are unrolled explicitly because this file is
 * compiled for size: otherwise the square would not stay in registers. */
INLINE void load_transposed(vec square[4], const float *panel) {
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 4; i++) square[i] = vec_load(panel + i * TILE_COLS);
  vec_transpose(square);
}

void panel_store(float *to, size_t stride, const float *panel, size_t rows, size_t columns) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    for (size_t c = 0; c < columns; c += 4) {
      vec square[4];
      load_transposed(square, panel + r * TILE_COLS + c);
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) {
        if (c + i < columns) vec_store(to + (c + i) * stride + r, square[i]);
      }
    }
  }
  for (; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) to[c * stride + r] = panel[r * TILE_COLS + c];
  }
}

void panel_add_to_rows(float *to, size_t stride, const float *panel, size_t rows, size_t columns, float factor) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) to[c * stride + r] += panel[r * TILE_COLS + c] * factor;
  }
}

void panel_add_from_rows(float *panel, const float *from, size_t stride, size_t rows, size_t columns, float factor) {
  for (size_t c = 0; c < columns; c++) {
    for (size_t r = 0; r < rows; r++) panel[r * TILE_COLS + c] += from[c * stride + r] * factor;
  }
}

/* Four independent sums hide the latency of the additions. */
bool panel_rows_finite(const float *from, size_t stride, size_t rows, size_t width) {
  vec sum[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
  for (size_t r = 0; r < rows; r++) {
    size_t j = 0;
    for (; j + 16 <= width; j += 16) {
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) sum[i] = vec_nan_unless_finite(sum[i], vec_load(from + j + 4 * i));
    }
    for (; j < width; j++) sum[0] = vec_nan_unless_finite(sum[0], vec_splat(from[j]));
    from += stride;
  }
  return vec_all_zero(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
}

void panel_dots(float sum[TILE_COLS], const float *a, const float *b, size_t rows) {
  vec low = vec_splat(0), high = vec_splat(0);
  for (size_t i = 0; i < rows * TILE_COLS; i += TILE_COLS) {
    low = vec_fma(vec_load(a + i), vec_load(b + i), low);
    high = vec_fma(vec_load(a + i + 4), vec_load(b + i + 4), high);
  }
  vec_store(sum, vec_add(vec_load(sum), low));
  vec_store(sum + 4, vec_add(vec_load(sum + 4), high));
}

void panel_transpose(float *to, const float *panel) {
  for (size_t r = 0; r < TILE_COLS; r += 4) {
    for (size_t c = 0; c < TILE_COLS; c += 4) {
      vec square[4];
      load_transposed(square, panel + r * TILE_COLS + c);
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) vec_store(to + (c + i) * TILE_COLS + r, square[i]);
    }
  }
}
