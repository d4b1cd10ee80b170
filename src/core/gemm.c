#include "gemm.h"

/* A block of the left operand, 120 rows by 256, stays in the second-level cache while the right panels,
 * 8 columns by 256, pass through the first. 120 is a multiple of every TILE_ROWS. */
enum { BLOCK_ROWS = 120, BLOCK_DEPTH = 256 };

/* Up to four rows of the source become one group of lanes of the panel, four steps of depth at a time. */
static void pack_group(float *panel, size_t width, const float *source, size_t stride, size_t rows, size_t lanes,
                       size_t depth, float scale) {
  const vec factor = vec_splat(scale);
  size_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    vec group[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t r = 0; r < rows; r++) group[r] = vec_mul(vec_load(source + r * stride + k), factor);
    vec_transpose(group);
    for (size_t i = 0; i < 4; i++) {
      if (lanes == 4) vec_store(panel + (k + i) * width, group[i]);
      else vec_store_low2(panel + (k + i) * width, group[i]);
    }
  }
  for (; k < depth; k++) {
    for (size_t r = 0; r < lanes; r++) panel[k * width + r] = r < rows ? source[r * stride + k] * scale : 0;
  }
}

void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale) {
  for (size_t row = 0; row < rows; row += width) {
    for (size_t lane = 0; lane < width; lane += 4) {
      size_t left = rows > row + lane ? rows - row - lane : 0, lanes = width - lane < 4 ? width - lane : 4;
      pack_group(panels + row * depth + lane, width, source + (row + lane) * stride, stride,
                 left < lanes ? left : lanes, lanes, depth, scale);
    }
  }
}

bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride,
                       size_t rows, size_t columns) {
  vec zero_or_nan = vec_splat(0); /* x · 0 is 0 for every finite x, and NaN for the rest */
  float tail = 0;
  for (size_t column = 0; column < columns; column += TILE_ROWS) {
    float *panel = panels + column * capacity + first * TILE_ROWS;
    size_t lanes = columns - column < TILE_ROWS ? columns - column : TILE_ROWS;
    for (size_t r = 0; r < rows; r++) {
      const float *from = source + r * stride + column;
      float *to = panel + r * TILE_ROWS;
      size_t lane = 0;
      if (lanes >= 4) {
        vec x = vec_load(from);
        zero_or_nan = vec_fma(x, vec_splat(0), zero_or_nan);
        vec_store(to, x);
        lane = 4;
      }
      for (; lane < lanes; lane++) {
        tail += from[lane] * 0;
        to[lane] = from[lane];
      }
      for (; lane < TILE_ROWS; lane++) to[lane] = 0;
    }
  }
  return vec_all_zero(zero_or_nan) && tail == 0;
}

/* A guarded `for` that counts down, and stores in reverse order, are what V8's register allocator keeps
 * free of spills in every version. */
void gemm_tile(float *c, size_t stride, const float *a, const float *b, size_t depth, bool accumulate) {
  vec acc[TILE_ROWS][2];
  for (int r = 0; r < TILE_ROWS; r++) {
    acc[r][0] = accumulate ? vec_load(c + (size_t)r * stride) : vec_splat(0);
    acc[r][1] = accumulate ? vec_load(c + (size_t)r * stride + 4) : vec_splat(0);
  }
  for (size_t k = depth; k > 0; k--) {
    vec b0 = vec_load(b), b1 = vec_load(b + 4);
    for (int r = 0; r < TILE_ROWS; r++) {
      vec ar = vec_load_splat(a + r);
      acc[r][0] = vec_fma(ar, b0, acc[r][0]);
      acc[r][1] = vec_fma(ar, b1, acc[r][1]);
    }
    a += TILE_ROWS;
    b += TILE_COLS;
  }
  for (int r = TILE_ROWS - 1; r >= 0; r--) {
    vec_store(c + (size_t)r * stride + 4, acc[r][1]);
    vec_store(c + (size_t)r * stride, acc[r][0]);
  }
}

/* A tile of which only `rows` by `columns` lie inside c. It sums in the order of a whole one, so that a row
 * of the result has the same bits wherever in the matrix it stands. */
static void edge_tile(float *c, size_t stride, const float *a, const float *b, size_t depth, size_t rows,
                      size_t columns) {
  float whole[TILE_ROWS * TILE_COLS] = {0};
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < columns; j++) whole[r * TILE_COLS + j] = c[r * stride + j];
  }
  gemm_tile(whole, TILE_COLS, a, b, depth, true);
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < columns; j++) c[r * stride + j] = whole[r * TILE_COLS + j];
  }
}

uint64_t gemm_linear_workspace(uint32_t out, uint32_t in) {
  return ((uint64_t)out + TILE_COLS - 1) / TILE_COLS * TILE_COLS * in + BLOCK_ROWS * (in < BLOCK_DEPTH ? in : BLOCK_DEPTH);
}

void gemm_linear(float *y, const float *x, const float *weight, const float *bias, size_t rows, size_t out,
                 size_t in, float *workspace) {
  float *right = workspace, *left = workspace + round_up(out, TILE_COLS) * in;
  gemm_pack_rows(right, TILE_COLS, weight, in, out, in, 1);
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < out; j++) y[r * out + j] = bias ? bias[j] : 0;
  }
  for (size_t k = 0; k < in; k += BLOCK_DEPTH) {
    size_t depth = in - k < BLOCK_DEPTH ? in - k : BLOCK_DEPTH;
    for (size_t i = 0; i < rows; i += BLOCK_ROWS) {
      size_t height = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
      gemm_pack_rows(left, TILE_ROWS, x + i * in + k, in, height, depth, 1);
      for (size_t j = 0; j < out; j += TILE_COLS) {
        const float *b = right + j * in + k * TILE_COLS;
        size_t columns = out - j < TILE_COLS ? out - j : TILE_COLS;
        for (size_t r = 0; r < height; r += TILE_ROWS) {
          float *c = y + (i + r) * out + j;
          size_t inside = height - r < TILE_ROWS ? height - r : TILE_ROWS;
          if (inside == TILE_ROWS && columns == TILE_COLS) gemm_tile(c, out, left + r * depth, b, depth, true);
          else edge_tile(c, out, left + r * depth, b, depth, inside, columns);
        }
      }
    }
  }
}
