#include "kernels/gemm.h"

/* PASS_DEPTH is the maximum depth of one pass over a panel. A right panel of this depth, 8 columns wide, stays in the
 * first-level cache. The sums of a pass are added to the total only at the end of the pass; twice the depth would halve
 * the accuracy. For accuracy, too, any sum longer than SHORT_DEPTH uses at least two passes. */
enum { PASS_DEPTH = 192, SHORT_DEPTH = 100 };

static size_t pass_depth(size_t in) {
  size_t passes = (in + PASS_DEPTH - 1) / PASS_DEPTH;
  if (passes == 1 && in > SHORT_DEPTH) passes = 2;
  return passes ? (in + passes - 1) / passes : 1;
}

/* Packs four or two rows of the source into as many lanes of the panel, four steps of depth at a time. */
INLINE void pack_group(float *panel, size_t width, const float *source, size_t stride, size_t lanes, size_t depth,
                       float scale) {
  const vec factor = vec_splat(scale);
  size_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    vec group[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t r = 0; r < lanes; r++) group[r] = vec_mul(vec_load(source + r * stride + k), factor);
    vec_transpose(group);
    for (size_t i = 0; i < 4; i++) (lanes == 4 ? vec_store : vec_store_half)(panel + (k + i) * width, group[i]);
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (; k < depth; k++) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t r = 0; r < lanes; r++) panel[k * width + r] = source[r * stride + k] * scale;
  }
}

/* Packs one row into one lane. If source is NULL, fills the lane with zeros. */
static void pack_lane(float *panel, size_t width, const float *source, size_t depth, float scale) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (size_t k = 0; k < depth; k++) panel[k * width] = source ? source[k] * scale : 0;
}

void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale) {
  for (size_t row = 0; row < rows; row += width) {
    for (size_t lane = 0, lanes; lane < width; lane += lanes) {
      const size_t remaining = rows > row + lane ? rows - row - lane : 0,
                   available = width - lane < remaining ? width - lane : remaining;
      const float *from = source + (row + lane) * stride;
      float *panel = panels + row * depth + lane;
      lanes = available >= 4 ? 4 : available >= 2 ? 2 : 1;
      if (lanes == 4) pack_group(panel, width, from, stride, 4, depth, scale);
      else if (lanes == 2) pack_group(panel, width, from, stride, 2, depth, scale);
      else pack_lane(panel, width, available ? from : NULL, depth, scale);
    }
  }
}

/* Packs TILE_ROWS columns. A row of the panel is stored as two overlapping vectors. Returns zeros if every number is
 * finite. */
INLINE vec pack_panel(float *panel, const float *source, size_t stride, size_t rows) {
  vec sum[2] = {vec_splat(0), vec_splat(0)};
  for (size_t r = 0; r < rows; r++) {
    vec first = vec_load(source), last = vec_load(source + TILE_ROWS - 4);
    vec_store(panel, first);
    vec_store(panel + TILE_ROWS - 4, last);
    sum[0] = vec_nan_unless_finite(sum[0], first);
    sum[1] = vec_nan_unless_finite(sum[1], last);
    source += stride;
    panel += TILE_ROWS;
  }
  return vec_add(sum[0], sum[1]);
}

/* Packs columns 0..lanes−1 of the rows into a panel, whose other lanes become zeros. Returns zeros if every number is
 * finite. */
static vec pack_last_panel(float *panel, const float *source, size_t stride, size_t rows, size_t lanes) {
  vec sum = vec_splat(0);
  for (size_t r = 0; r < rows; r++) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t lane = 0; lane < TILE_ROWS; lane++) {
      float x = lane < lanes ? source[lane] : 0;
      sum = vec_nan_unless_finite(sum, vec_splat(x));
      panel[lane] = x;
    }
    source += stride;
    panel += TILE_ROWS;
  }
  return sum;
}

bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride, size_t rows,
                       size_t columns) {
  vec sum = vec_splat(0);
  for (size_t column = 0; column < columns; column += TILE_ROWS) {
    float *panel = panels + column * capacity + first * TILE_ROWS;
    size_t lanes = columns - column;
    sum = vec_add(sum, lanes >= TILE_ROWS ? pack_panel(panel, source + column, stride, rows)
                                          : pack_last_panel(panel, source + column, stride, rows, lanes));
  }
  return vec_all_zero(sum);
}

void gemm_pack_right(float *panels, const float *source, size_t stride, size_t rows, size_t columns) {
  for (size_t column = 0; column < columns; column += TILE_COLS) {
    for (size_t r = 0; r < rows; r++) {
      const float *from = source + r * stride + column;
      if (columns - column >= TILE_COLS) {
        vec_store(panels, vec_load(from));
        vec_store(panels + 4, vec_load(from + 4));
      } else {
#pragma clang loop vectorize(disable) unroll(disable)
        for (size_t lane = 0; lane < TILE_COLS; lane++) panels[lane] = lane < columns - column ? from[lane] : 0;
      }
      panels += TILE_COLS;
    }
  }
}

const float gemm_zeros[TILE_ROWS * TILE_COLS];

#define TILE_PARAMETERS                                                                                                \
  float *c, size_t c_stride, const float *before, const float *a, size_t width, const float *b, size_t b_stride,       \
      size_t depth
#define TILE_ARGUMENTS c, c_stride, before, a, width, b, b_stride, depth

/* c(rows, 8) = a·b, or before + a·b if `add`. With this form of the loop, V8's register allocator produces no spills in
 * any version: a guarded `for` that ends when b does, sums that start at 0, and additions and stores in forward order.
 * Every element is summed in the order of depth for every shape of the tile, so a row has the same bits at any position
 * in the matrix. */
INLINE void multiply(int rows, bool add, TILE_PARAMETERS) {
  vec acc[TILE_ROWS][2];
  for (int r = 0; r < rows; r++) {
    acc[r][0] = vec_splat(0);
    acc[r][1] = vec_splat(0);
  }
  for (const float *end = b + depth * b_stride; b != end; b += b_stride) {
    vec b0 = vec_load(b), b1 = vec_load(b + 4);
    for (int r = 0; r < rows; r++) {
      vec ar = vec_load_splat(a + r);
      acc[r][0] = vec_fma(ar, b0, acc[r][0]);
      acc[r][1] = vec_fma(ar, b1, acc[r][1]);
    }
    a += width;
  }
  for (int r = 0; r < rows; r++) {
    vec_store(c, add ? vec_add(vec_load(before), acc[r][0]) : acc[r][0]);
    vec_store(c + 4, add ? vec_add(vec_load(before + 4), acc[r][1]) : acc[r][1]);
    c += c_stride;
    before += TILE_COLS;
  }
}

KERNEL void gemm_full_tile(float *c, size_t c_stride, const float *before, const float *a, const float *b,
                           size_t depth) {
  multiply(TILE_ROWS, true, c, c_stride, before, a, TILE_ROWS, b, TILE_COLS, depth);
}

KERNEL void gemm_full_tile_overwrite(float *c, const float *a, const float *b, size_t depth) {
  multiply(TILE_ROWS, false, c, TILE_COLS, gemm_zeros, a, TILE_ROWS, b, TILE_COLS, depth);
}

/* Defines a kernel for each number of rows below TILE_ROWS. */
#define LOW_TILE(n)                                                                                                    \
  KERNEL static void low_tile_##n(TILE_PARAMETERS) { multiply(n, true, TILE_ARGUMENTS); }
LOW_TILE(1)
LOW_TILE(2)
LOW_TILE(3)
LOW_TILE(4)
#if TILE_ROWS > 5
LOW_TILE(5)
#endif

void gemm_partial_tile(size_t rows, TILE_PARAMETERS) {
  if (rows == 1) low_tile_1(TILE_ARGUMENTS);
  else if (rows == 2) low_tile_2(TILE_ARGUMENTS);
  else if (rows == 3) low_tile_3(TILE_ARGUMENTS);
#if TILE_ROWS > 5
  else if (rows == 5) low_tile_5(TILE_ARGUMENTS);
#endif
  else low_tile_4(TILE_ARGUMENTS);
}

void gemm_tile(size_t rows, float *c, size_t c_stride, const float *before, const float *a, size_t width,
               const float *b, size_t depth) {
  if (rows == TILE_ROWS) gemm_full_tile(c, c_stride, before, a, b, depth);
  else gemm_partial_tile(rows, c, c_stride, before, a, width, b, TILE_COLS, depth);
}

/* Panels that are multiplied by a single row at a time. A single row leaves registers free for four panels, which are
 * needed to hide the latency of the sums. */
enum { ROW_PANELS = 4 };

KERNEL static void row_tile(float *c, const float *a, const float *b, size_t panel, size_t depth) {
  vec acc[ROW_PANELS][2];
  for (int p = 0; p < ROW_PANELS; p++) {
    acc[p][0] = vec_splat(0);
    acc[p][1] = vec_splat(0);
  }
  for (size_t k = 0; k < depth; k++) {
    vec x = vec_load_splat(a + k);
    for (int p = 0; p < ROW_PANELS; p++) {
      const float *from = b + p * panel + k * TILE_COLS;
      acc[p][0] = vec_fma(x, vec_load(from), acc[p][0]);
      acc[p][1] = vec_fma(x, vec_load(from + 4), acc[p][1]);
    }
  }
  for (int p = 0; p < ROW_PANELS; p++) {
    vec_store(c + p * TILE_COLS, acc[p][0]);
    vec_store(c + p * TILE_COLS + 4, acc[p][1]);
  }
}

double gemm_packed_floats(uint32_t out, uint32_t in) {
  const uint64_t columns = ((uint64_t)out + TILE_COLS - 1) / TILE_COLS * TILE_COLS;
  return (double)columns * in;
}

size_t gemm_left_row_floats(size_t in) { return in; }

/* Rows whose partial sums are buffered between passes, so that each row of y is written once. */
enum { BUFFER_ROWS = 60 };

/* Computes rows first..last−1 of y(rows, 8) = bias + x · b, where b is a panel of the weight and y points to row
 * `first`. The first pass adds to the bias, and each later pass to the sums of the previous one. The last pass writes
 * to y. */
static void multiply_panel(float *y, size_t stride, const gemm_left *x, size_t first, size_t last, const float *b,
                           const float *bias) {
  const size_t max_depth = pass_depth(x->in);
  float sums[BUFFER_ROWS * TILE_COLS], initial[TILE_ROWS * TILE_COLS];
  for (size_t i = 0; i < TILE_ROWS * TILE_COLS; i += 4) vec_store(initial + i, vec_load(bias + i % TILE_COLS));
  for (size_t row = first; row < last; row += BUFFER_ROWS) {
    size_t rows = last - row < BUFFER_ROWS ? last - row : BUFFER_ROWS;
    for (size_t k = 0; k < x->in || k == 0; k += max_depth) {
      const size_t depth = x->in - k < max_depth ? x->in - k : max_depth;
      const bool end = k + depth == x->in;
      for (size_t r = 0; r < rows; r += x->width) {
        float *partial = sums + r * TILE_COLS;
        gemm_tile(rows - r < x->width ? rows - r : x->width, end ? y + (row - first + r) * stride : partial,
                  end ? stride : TILE_COLS, k > 0 ? partial : initial, x->panels + (row + r) * x->in + k * x->width,
                  x->width, b + k * TILE_COLS, depth);
      }
    }
  }
}

/* Computes columns j..j+7 of these rows of the product, or fewer at the end. If fewer than eight columns are left, or
 * the product is added to y, the columns are computed in a temporary buffer. */
static void multiply_columns(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t j) {
  const size_t columns = p->out - j < TILE_COLS ? p->out - j : TILE_COLS;
  const float *b = p->weight + (j - p->first) * x->in;
  float *y = p->y + first * p->out + j;
  if (columns == TILE_COLS && !p->add) {
    multiply_panel(y, p->out, x, first, last, b, p->bias ? p->bias + j : gemm_zeros);
    return;
  }
  float product[BUFFER_ROWS * TILE_COLS], bias[TILE_COLS];
#pragma clang loop vectorize(disable) unroll(disable)
  for (size_t i = 0; i < TILE_COLS; i++) bias[i] = p->bias && i < columns ? p->bias[j + i] : 0;
  for (size_t row = first, rows; row < last; row += rows) {
    rows = last - row < BUFFER_ROWS ? last - row : BUFFER_ROWS;
    multiply_panel(product, TILE_COLS, x, row, row + rows, b, bias);
    for (const float *from = product; from < product + rows * TILE_COLS; from += TILE_COLS) {
      size_t i = 0;
      for (; i + 4 <= columns; i += 4)
        vec_store(y + i, p->add ? vec_add(vec_load(y + i), vec_load(from + i)) : vec_load(from + i));
#pragma clang loop vectorize(disable) unroll(disable)
      for (; i < columns; i++) y[i] = p->add ? y[i] + from[i] : from[i];
      y += p->out;
    }
  }
}

/* Computes a single row and ROW_PANELS panels. Sums have the same order as in multiply_panel. */
static void multiply_row(const gemm_product *p, const gemm_left *x, size_t row, size_t j) {
  const size_t max_depth = pass_depth(x->in);
  float *y = p->y + row * p->out + j, sums[ROW_PANELS * TILE_COLS], pass[ROW_PANELS * TILE_COLS];
#pragma clang loop unroll(disable)
  for (size_t i = 0; i < ROW_PANELS * TILE_COLS; i += 4)
    vec_store(sums + i, vec_load(p->bias ? p->bias + j + i : gemm_zeros));
  for (size_t k = 0; k < x->in; k += max_depth) {
    row_tile(pass, x->panels + row * x->in + k, p->weight + (j - p->first) * x->in + k * TILE_COLS, TILE_COLS * x->in,
             x->in - k < max_depth ? x->in - k : max_depth);
#pragma clang loop unroll(disable)
    for (size_t i = 0; i < ROW_PANELS * TILE_COLS; i += 4)
      vec_store(sums + i, vec_add(vec_load(sums + i), vec_load(pass + i)));
  }
#pragma clang loop unroll(disable)
  for (size_t i = 0; i < ROW_PANELS * TILE_COLS; i += 4) {
    vec_store(y + i, p->add ? vec_add(vec_load(y + i), vec_load(sums + i)) : vec_load(sums + i));
  }
}

void gemm_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  for (size_t j = from; j < to;) {
    if (x->width == 1 && to - j >= ROW_PANELS * TILE_COLS) {
      for (size_t row = first; row < last; row++) multiply_row(p, x, row, j);
      j += ROW_PANELS * TILE_COLS;
    } else {
      multiply_columns(p, x, first, last, j);
      j += TILE_COLS;
    }
  }
}
