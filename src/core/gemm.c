#include "gemm.h"

/* The most depth of one pass over a panel: a right panel of it, 8 columns wide, stays in the first-level cache, and
 * what a pass sums up is added to the others only at its end: twice the depth is less exact by half. For that there
 * is more than one pass wherever a sum is longer than SHORT_DEPTH. */
enum { PASS_DEPTH = 192, SHORT_DEPTH = 100 };

static size_t pass_depth(size_t in) {
  size_t passes = (in + PASS_DEPTH - 1) / PASS_DEPTH;
  if (passes == 1 && in > SHORT_DEPTH) passes = 2;
  return passes ? (in + passes - 1) / passes : 1;
}

/* Up to four rows of the source become one group of lanes of the panel, four steps of depth at a time. */
VERB void pack_group(float *panel, size_t width, const float *source, size_t stride, size_t rows, size_t lanes,
                       size_t depth, float scale) {
  const vec factor = vec_splat(scale);
  size_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    vec group[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t r = 0; r < rows; r++) group[r] = vec_mul(vec_load(source + r * stride + k), factor);
    vec_transpose(group);
    for (size_t i = 0; i < 4; i++) {
      vec_store_lanes(panel + (k + i) * width, group[i], lanes);
    }
  }
  for (; k < depth; k++) {
    for (size_t r = 0; r < lanes; r++) panel[k * width + r] = r < rows ? source[r * stride + k] * scale : 0;
  }
}

/* One row becomes one lane. */
static void pack_lane(float *panel, size_t width, const float *source, size_t depth, float scale) {
  for (size_t k = 0; k < depth; k++) panel[k * width] = source[k] * scale;
}

void gemm_pack_rows(float *panels, size_t width, const float *source, size_t stride, size_t rows, size_t depth,
                    float scale) {
  for (size_t row = 0; row < rows; row += width) {
    for (size_t lane = 0; lane < width; lane += 4) {
      size_t left = rows > row + lane ? rows - row - lane : 0, lanes = width - lane < 4 ? width - lane : 4;
      float *panel = panels + row * depth + lane;
      const float *from = source + (row + lane) * stride;
      /* What most groups are, known when compiled: their vectors stay in registers. */
      if (lanes == 4 && left >= 4) pack_group(panel, width, from, stride, 4, 4, depth, scale);
      else if (lanes == 2 && left >= 2) pack_group(panel, width, from, stride, 2, 2, depth, scale);
      else if (lanes == 1 && left >= 1) pack_lane(panel, width, from, depth, scale);
      else pack_group(panel, width, from, stride, left < lanes ? left : lanes, lanes, depth, scale);
    }
  }
}

/* x · 0 is 0 for every finite x, and NaN for the rest: their sum tells whether there was one. */
VERB vec nan_unless_finite(vec sum, vec x) { return vec_fma(x, vec_splat(0), sum); }

/* Two vectors that overlap hold a row of the panel. */
VERB vec pack_panel(float *panel, const float *source, size_t stride, size_t rows) {
  vec sum[2] = {vec_splat(0), vec_splat(0)};
  for (size_t r = 0; r < rows; r++) {
    vec first = vec_load(source), last = vec_load(source + TILE_ROWS - 4);
    vec_store(panel, first);
    vec_store(panel + TILE_ROWS - 4, last);
    sum[0] = nan_unless_finite(sum[0], first);
    sum[1] = nan_unless_finite(sum[1], last);
    source += stride;
    panel += TILE_ROWS;
  }
  return vec_add(sum[0], sum[1]);
}

/* Columns 0..lanes−1 of the rows become a panel; the lanes beyond them are zeros. */
static vec pack_last_panel(float *panel, const float *source, size_t stride, size_t rows, size_t lanes) {
  vec sum = vec_splat(0);
  for (size_t r = 0; r < rows; r++) {
    for (size_t lane = 0; lane < TILE_ROWS; lane++) {
      float x = lane < lanes ? source[lane] : 0;
      sum = nan_unless_finite(sum, vec_splat(x));
      panel[lane] = x;
    }
    source += stride;
    panel += TILE_ROWS;
  }
  return sum;
}

bool gemm_pack_columns(float *panels, size_t capacity, size_t first, const float *source, size_t stride,
                       size_t rows, size_t columns) {
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
        for (size_t lane = 0; lane < TILE_COLS; lane++) panels[lane] = lane < columns - column ? from[lane] : 0;
      }
      panels += TILE_COLS;
    }
  }
}

/* c(rows, 8) = a·b. A guarded `for` that counts down, sums from 0 and stores in forward order to one place after
 * the other are what V8's register allocator keeps free of spills in every version. Every element is summed in
 * the order of depth, whatever the shape of the tile: so a row has the same bits wherever in the matrix it stands. */
VERB void multiply(int rows, float *c, const float *a, size_t width, const float *b, size_t depth) {
  vec acc[TILE_ROWS][2];
  for (int r = 0; r < rows; r++) {
    acc[r][0] = vec_splat(0);
    acc[r][1] = vec_splat(0);
  }
  for (size_t k = depth; k > 0; k--) {
    vec b0 = vec_load(b), b1 = vec_load(b + 4);
    for (int r = 0; r < rows; r++) {
      vec ar = vec_load_splat(a + r);
      acc[r][0] = vec_fma(ar, b0, acc[r][0]);
      acc[r][1] = vec_fma(ar, b1, acc[r][1]);
    }
    a += width;
    b += TILE_COLS;
  }
  for (int r = 0; r < rows; r++) {
    vec_store(c + r * TILE_COLS, acc[r][0]);
    vec_store(c + r * TILE_COLS + 4, acc[r][1]);
  }
}

KERNEL void gemm_tile(float *c, const float *a, const float *b, size_t depth) {
  multiply(TILE_ROWS, c, a, TILE_ROWS, b, depth);
}

/* Tiles of fewer rows, of a panel `width` wide: each a kernel of its own. */
#define LOW_TILE(n)                                                                                              \
  KERNEL static void low_tile_##n(float *c, const float *a, size_t width, const float *b, size_t depth) {          \
    multiply(n, c, a, width, b, depth);                                                                          \
  }
LOW_TILE(1) LOW_TILE(2) LOW_TILE(3) LOW_TILE(4)
#if TILE_ROWS > 5
LOW_TILE(5)
#endif

void gemm_tile_rows(size_t rows, float *c, const float *a, size_t width, const float *b, size_t depth) {
  if (rows == TILE_ROWS) gemm_tile(c, a, b, depth);
  else if (rows == 1) low_tile_1(c, a, width, b, depth);
  else if (rows == 2) low_tile_2(c, a, width, b, depth);
  else if (rows == 3) low_tile_3(c, a, width, b, depth);
  else if (rows == 4) low_tile_4(c, a, width, b, depth);
#if TILE_ROWS > 5
  else low_tile_5(c, a, width, b, depth);
#endif
}

/* A single row leaves registers for four panels at a time, and needs them to hide the latency of its sums. */
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

uint64_t gemm_packed_weight(uint32_t out, uint32_t in) { return round_up(out, TILE_COLS) * (uint64_t)in; }

size_t gemm_left_row(size_t in) { return in; }

/* Rows and passes whose sums are held at a time: so a row of y is written once for 768 of depth. */
enum { HELD_ROWS = 60, HELD_PASSES = 4, HELD = HELD_ROWS * TILE_COLS };

/* Whole columns of a single pass: what most products of small calls are. */
VERB void add_one_pass(float *y, size_t stride, const float *base, size_t base_stride, const float *sums, size_t rows) {
  for (; rows > 0; rows--) {
    vec_store(y, vec_add(vec_load(base), vec_load(sums)));
    vec_store(y + 4, vec_add(vec_load(base + 4), vec_load(sums + 4)));
    y += stride;
    base += base_stride;
    sums += TILE_COLS;
  }
}

/* y(rows, columns) = base + Σ sums[pass](rows, 8), rows of y and of the base `stride` and `base_stride` apart. */
static void add_sums(float *y, size_t stride, const float *base, size_t base_stride, const float *sums, size_t passes,
                     size_t rows, size_t columns) {
  if (passes == 1 && columns == TILE_COLS) {
    add_one_pass(y, stride, base, base_stride, sums, rows);
    return;
  }
  for (size_t r = 0; r < rows; r++) {
    vec low = vec_load(sums), high = vec_load(sums + 4);
    for (size_t p = 1; p < passes; p++) {
      low = vec_add(low, vec_load(sums + p * HELD));
      high = vec_add(high, vec_load(sums + p * HELD + 4));
    }
    if (columns >= 4) vec_store(y, vec_add(vec_load(base), low));
    if (columns == TILE_COLS) {
      vec_store(y + 4, vec_add(vec_load(base + 4), high));
    } else {
      float some[TILE_COLS];
      vec_store(some, low);
      vec_store(some + 4, high);
      for (size_t j = columns & 4; j < columns; j++) y[j] = base[j] + some[j];
    }
    y += stride;
    base += base_stride;
    sums += TILE_COLS;
  }
}

/* One panel of columns from `j` on, of all the rows. */
static void multiply_panel(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t j, size_t columns) {
  static const float zeros[TILE_COLS];
  const float *b = p->weight + j * x->in;
  const size_t most = pass_depth(x->in);
  float sums[HELD_PASSES * HELD];
  for (size_t row = first; row < last; row += HELD_ROWS) {
    size_t rows = last - row < HELD_ROWS ? last - row : HELD_ROWS;
    for (size_t from = 0; from < x->in || from == 0; from += HELD_PASSES * most) {
      float *y = p->y + row * p->out + j;
      size_t passes = 0;
      for (size_t k = from; (k < x->in && passes < HELD_PASSES) || passes == 0; k += most, passes++) {
        size_t depth = x->in - k < most ? x->in - k : most;
        for (size_t r = 0; r < rows; r += x->width) {
          gemm_tile_rows(rows - r < x->width ? rows - r : x->width, sums + passes * HELD + r * TILE_COLS,
                         x->panels + (row + r) * x->in + k * x->width, x->width, b + k * TILE_COLS, depth);
        }
      }
      if (from > 0 || p->add) add_sums(y, p->out, y, p->out, sums, passes, rows, columns);
      else add_sums(y, p->out, p->bias ? p->bias + j : zeros, 0, sums, passes, rows, columns);
    }
  }
}

/* A single row, and as many columns as it takes at a time; added up in the same order. */
static void multiply_row(const gemm_product *p, const gemm_left *x, size_t row, size_t j) {
  const size_t most = pass_depth(x->in);
  float *y = p->y + row * p->out + j, sums[ROW_PANELS * TILE_COLS], pass[ROW_PANELS * TILE_COLS];
  for (size_t from = 0; from < x->in || from == 0; from += HELD_PASSES * most) {
    size_t to = x->in - from < HELD_PASSES * most ? x->in : from + HELD_PASSES * most;
    for (size_t k = from; k < to || k == from; k += most) {
      row_tile(k > from ? pass : sums, x->panels + row * x->in + k, p->weight + j * x->in + k * TILE_COLS,
               TILE_COLS * x->in, to - k < most ? to - k : most);
      for (size_t i = 0; k > from && i < ROW_PANELS * TILE_COLS; i++) sums[i] += pass[i];
    }
    for (size_t i = 0; i < ROW_PANELS * TILE_COLS; i++) y[i] = (from > 0 || p->add ? y[i] : p->bias ? p->bias[j + i] : 0) + sums[i];
  }
}

void gemm_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  for (size_t j = from; j < to;) {
    if (x->width == 1 && to - j >= ROW_PANELS * TILE_COLS) {
      for (size_t row = first; row < last; row++) multiply_row(p, x, row, j);
      j += ROW_PANELS * TILE_COLS;
    } else {
      size_t columns = to - j < TILE_COLS ? to - j : TILE_COLS;
      multiply_panel(p, x, first, last, j, columns);
      j += columns;
    }
  }
}
