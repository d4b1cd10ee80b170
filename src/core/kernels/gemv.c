#include "kernels/gemv.h"

/* Two rows of the weight are read at a time, one from each half of a group. Each number of x is loaded once for both,
 * and some processors (Xeon) read two streams faster than one. The streams must be long, because other processors
 * (EPYC) read two streams of 24 KB at two thirds of the rate of one. Up to three rows of x are multiplied in one pass
 * over the weight. More rows need several passes, over groups so small that the weight is still in the cache. */
enum { MAX_ROWS = 3, LANES = 4, GROUP = 128, CACHED_GROUP = 16 };

/* Computes sums[column][row][lane], the lanes of each product, which are not yet added up. It does so for `columns`
 * rows of the weight, and for as many rows that begin `second` rows after the first. Each product is computed in
 * `parts` independent sums. */
INLINE void multiply(int rows, int parts, float *sums, const float *x, const float *weight, size_t columns,
                     size_t second, size_t in) {
  const size_t step = (size_t)parts * LANES, second_weight = second * in, second_sums = second * (size_t)rows * LANES;
  for (; columns > 0; columns--, sums += rows * LANES) {
    vec acc[MAX_ROWS][2][4];
    const float *from[MAX_ROWS], *steps = weight + in / step * step, *whole = weight + in / LANES * LANES,
                                 *end = weight + in;
    for (int r = 0; r < rows; r++) {
      from[r] = x + r * in;
      for (int i = 0; i < 2 * parts; i++) acc[r][i % 2][i / 2] = vec_splat(0);
    }
    for (; weight != steps; weight += step) {
      for (int i = 0; i < parts; i++) {
        const vec w[2] = {vec_load(weight + i * LANES), vec_load(weight + second_weight + i * LANES)};
        for (int r = 0; r < rows; r++) {
          const vec xi = vec_load(from[r] + i * LANES);
          for (int s = 0; s < 2; s++) acc[r][s][i] = vec_fma(xi, w[s], acc[r][s][i]);
        }
      }
      for (int r = 0; r < rows; r++) from[r] += step;
    }
    for (; weight != whole; weight += LANES) {
      for (int r = 0; r < rows; r++, from[r - 1] += LANES) {
        for (int s = 0; s < 2; s++)
          acc[r][s][0] = vec_fma(vec_load(from[r]), vec_load(weight + s * second_weight), acc[r][s][0]);
      }
    }
    for (int r = 0; r < rows; r++) {
      for (int s = 0; s < 2; s++) {
        for (int i = 1; i < parts; i++) acc[r][s][0] = vec_add(acc[r][s][0], acc[r][s][i]);
        vec_store(sums + s * second_sums + r * LANES, acc[r][s][0]);
      }
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (; weight != end; weight++) {
      for (int r = 0; r < rows; r++, from[r - 1]++) {
        for (size_t s = 0; s <= (second > 0); s++)
          sums[s * second_sums + r * LANES] += *from[r] * weight[s * second_weight];
      }
    }
  }
}

typedef void kernel(float *sums, const float *x, const float *weight, size_t columns, size_t second, size_t in);

/* Defines a kernel for n rows of x. With several rows, more parts would not fit into the registers. */
#define ROWS(n, parts)                                                                                                 \
  KERNEL static void rows_##n(float *sums, const float *x, const float *weight, size_t columns, size_t second,         \
                              size_t in) {                                                                             \
    multiply(n, parts, sums, x, weight, columns, second, in);                                                          \
  }
ROWS(1, 4)
ROWS(2, 2)
ROWS(3, 2)

/* Kernels for a weight of 16-bit numbers, whose rows have a multiple of STEP elements. Each weight is converted once
 * for all rows of x. */
enum { STEP = 8, MAX_HALVES_ROWS = 2 };

/* Converts eight finite float16 to floats divided by 2¹¹², because the exponent keeps its bias; denormal numbers too.
 * The shift copies the sign into three bits of the exponent, which are cleared. */
INLINE void small_floats(vec *w, vec halves) {
  const vec upper = bits_and(words_shift_right_signed(halves, 3), bits_splat(0x8FFF8FFF));
  const vec lower = words_shift_left(halves, 13);
  w[0] = words_interleave_low(lower, upper);
  w[1] = words_interleave_high(lower, upper);
}
INLINE void load_halves(bool float16, vec *w, const uint16_t *from) {
  const vec halves = halves_load(from);
  w[0] = words_interleave_low(bits_splat(0), halves);
  w[1] = words_interleave_high(bits_splat(0), halves);
  if (float16) small_floats(w, halves);
}
/* Factors that undo the division by 2¹¹², which is their product. x is multiplied by X_SCALE and the sums by SUM_SCALE,
 * so that neither x nor the products leave the range of floats. */
static const float X_SCALE = 0x1p84f, SUM_SCALE = 0x1p28f;

INLINE void multiply_halves(bool float16, int rows, float *sums, const float *x, const uint16_t *weight, size_t columns,
                            size_t second, size_t in) {
  const size_t second_weight = second * in, second_sums = second * (size_t)rows * LANES;
  for (; columns > 0; columns--, sums += rows * LANES) {
    vec acc[MAX_HALVES_ROWS][2][2];
    for (int i = 0; i < 4 * rows; i++) acc[i / 4][i % 2][i / 2 % 2] = vec_splat(0);
    const float *from = x;
#pragma clang loop unroll(disable)
    for (const uint16_t *end = weight + in; weight != end; weight += STEP, from += STEP) {
      vec w[2][2];
      for (int s = 0; s < 2; s++) load_halves(float16, w[s], weight + s * second_weight);
      for (int r = 0; r < rows; r++) {
        for (int i = 0; i < 2; i++) {
          const vec given = vec_load(from + r * in + i * LANES);
          const vec xi = float16 ? vec_mul(given, vec_splat(X_SCALE)) : given;
          for (int s = 0; s < 2; s++) acc[r][s][i] = vec_fma(xi, w[s][i], acc[r][s][i]);
        }
      }
    }
    for (int r = 0; r < rows; r++) {
      for (int s = 0; s < 2; s++) {
        const vec sum = vec_add(acc[r][s][0], acc[r][s][1]);
        vec_store(sums + s * second_sums + r * LANES, float16 ? vec_mul(sum, vec_splat(SUM_SCALE)) : sum);
      }
    }
  }
}

#define HALVES(type, float16, n)                                                                                       \
  KERNEL static void type##_##n(float *sums, const float *x, const float *weight, size_t columns, size_t second,       \
                                size_t in) {                                                                           \
    multiply_halves(float16, n, sums, x, (const uint16_t *)(const void *)weight, columns, second, in);                 \
  }
HALVES(float16, true, 1)
HALVES(float16, true, 2)
HALVES(bfloat16, false, 1)
HALVES(bfloat16, false, 2)
static kernel *const kernels[][MAX_ROWS] = {
    [HL_STORED_F32] = {rows_1, rows_2, rows_3},
    [HL_STORED_F16] = {float16_1, float16_2},
    [HL_STORED_BF16] = {bfloat16_1, bfloat16_2},
};

bool gemv_supports(hl_stored stored, size_t in) { return stored == HL_STORED_F32 || in % STEP == 0; }

/* Stores up to four columns of a row of y. It always adds up the lanes of four sums, although fewer may be needed. */
static void store_columns(float *y, const float *sums, size_t stride, size_t columns, const float *bias) {
  vec lanes[4];
  float row[4];
  for (size_t c = 0; c < 4; c++) lanes[c] = vec_load(sums + c * stride);
  vec_transpose(lanes);
  vec_store(row, vec_add(vec_add(lanes[0], lanes[1]), vec_add(lanes[2], lanes[3])));
  for (size_t c = 0; c < 4 && c < columns; c++) y[c] = row[c] + (bias ? bias[c] : 0);
}

void gemv_range(const gemm_product *p, hl_stored stored, const float *x, size_t rows, size_t in, size_t from,
                size_t to) {
  const size_t most = stored == HL_STORED_F32 ? MAX_ROWS : MAX_HALVES_ROWS, group = rows > most ? CACHED_GROUP : GROUP;
  for (size_t j = from; j < to; j += group) {
    const size_t columns = to - j < group ? to - j : group;
    for (size_t r = 0, row_count; r < rows; r += row_count) {
      float sums[GROUP * MAX_ROWS * LANES];
      const size_t left = rows - r;
      row_count = left == most + 1 ? 2 : left < most ? left : most; /* avoids a single last row */
      const size_t half = (columns + 1) / 2; /* if the number is odd, both halves contain the row in the middle */
      const float *weight = (const float *)((const char *)p->weight + (j - p->first) * in * stored_bytes(stored));
      kernels[stored][row_count - 1](sums, x + r * in, weight, half, columns - half, in);
      for (size_t i = 0; i < row_count; i++) {
        for (size_t c = 0; c < columns; c += 4)
          store_columns(p->y + (r + i) * p->out + j + c, sums + (c * row_count + i) * LANES, row_count * LANES,
                        columns - c, p->bias ? p->bias + j + c : NULL);
      }
    }
  }
}
