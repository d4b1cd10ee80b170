#include "kernels/gemv.h"

/* Two rows of the weight are read at a time, one from each half of a group: each number of x is loaded once for both,
 * and some processors (Xeon) are given two streams faster than one. They must be long: of 24 KB each, others (EPYC) are
 * given them at two thirds of the rate of one. Up to three rows of x meet the weight in registers. For more it is met
 * again, so few of its rows at a time that they are still in the cache. */
enum { ABREAST = 3, LANES = 4, GROUP = 128, GROUP_AGAIN = 16 };

/* sums[column][row][lane] of so many rows of the weight, and of as many that begin `apart` rows further on: the lanes
 * of each product, yet to be added. Each is made in `parts` sums that do not wait for each other. */
VERB void multiply(int rows, int parts, float *sums, const float *x, const float *weight, size_t columns, size_t apart,
                   size_t in) {
  const size_t step = (size_t)parts * LANES, other = apart * in, away = apart * (size_t)rows * LANES;
  for (; columns > 0; columns--, sums += rows * LANES) {
    vec acc[ABREAST][2][4];
    const float *from[ABREAST], *steps = weight + in / step * step, *whole = weight + in / LANES * LANES,
                                *end = weight + in;
    for (int r = 0; r < rows; r++) {
      from[r] = x + r * in;
      for (int i = 0; i < 2 * parts; i++) acc[r][i % 2][i / 2] = vec_splat(0);
    }
    for (; weight != steps; weight += step) {
      for (int i = 0; i < parts; i++) {
        const vec w[2] = {vec_load(weight + i * LANES), vec_load(weight + other + i * LANES)};
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
          acc[r][s][0] = vec_fma(vec_load(from[r]), vec_load(weight + s * other), acc[r][s][0]);
      }
    }
    for (int r = 0; r < rows; r++) {
      for (int s = 0; s < 2; s++) {
        for (int i = 1; i < parts; i++) acc[r][s][0] = vec_add(acc[r][s][0], acc[r][s][i]);
        vec_store(sums + s * away + r * LANES, acc[r][s][0]);
      }
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (; weight != end; weight++) {
      for (int r = 0; r < rows; r++, from[r - 1]++) {
        for (size_t s = 0; s <= (apart > 0); s++) sums[s * away + r * LANES] += *from[r] * weight[s * other];
      }
    }
  }
}

typedef void kernel(float *sums, const float *x, const float *weight, size_t columns, size_t apart, size_t in);

/* More parts of several rows would not fit the registers. */
#define ROWS(n, parts)                                                                                                 \
  KERNEL static void rows_##n(float *sums, const float *x, const float *weight, size_t columns, size_t apart,          \
                              size_t in) {                                                                             \
    multiply(n, parts, sums, x, weight, columns, apart, in);                                                           \
  }
ROWS(1, 4)
ROWS(2, 2)
ROWS(3, 2)

/* The same of one row and a weight of 16-bit numbers; its rows have a multiple of STEP of them. */
enum { STEP = 8 };

/* Of a float16 that is finite. What is shifted into the exponent is the sign; the product moves the exponent, of
 * numbers below the normal ones as well. */
VERB vec float_of_half(vec upper) {
  const vec bits = bits_and(bits_shift_right_signed(upper, 3), bits_splat(0x8FFFFFFF));
  return vec_mul(bits, vec_splat(0x1p112f));
}

VERB void multiply_halves(bool float16, float *sums, const float *x, const uint16_t *weight, size_t columns,
                          size_t apart, size_t in) {
  const size_t other = apart * in;
  for (; columns > 0; columns--, sums += LANES) {
    vec acc[2][STEP / LANES];
    for (int i = 0; i < 2 * STEP / LANES; i++) acc[i % 2][i / 2] = vec_splat(0);
    const float *from = x;
#pragma clang loop unroll(disable)
    for (const uint16_t *end = weight + in; weight != end; weight += STEP, from += STEP) {
      for (int i = 0; i < STEP / LANES; i += 2) {
        for (int s = 0; s < 2; s++) {
          const vec both = halves_load(weight + s * other + i * LANES), zero = bits_splat(0);
          vec w[2] = {bits_of_words_first(zero, both), bits_of_words_last(zero, both)};
          for (int h = 0; h < 2; h++) {
            if (float16) w[h] = float_of_half(w[h]);
            acc[s][i + h] = vec_fma(vec_load(from + (i + h) * LANES), w[h], acc[s][i + h]);
          }
        }
      }
    }
    for (int s = 0; s < 2; s++) {
      for (int i = 1; i < STEP / LANES; i++) acc[s][0] = vec_add(acc[s][0], acc[s][i]);
      vec_store(sums + s * apart * LANES, acc[s][0]);
    }
  }
}

#define HALVES(type, float16)                                                                                          \
  KERNEL static void type(float *sums, const float *x, const float *weight, size_t columns, size_t apart, size_t in) { \
    multiply_halves(float16, sums, x, (const uint16_t *)(const void *)weight, columns, apart, in);                     \
  }
HALVES(float16, true)
HALVES(bfloat16, false)
static kernel *const kernels[] = {rows_1, rows_2, rows_3, float16, bfloat16};

bool gemv_reads(hl_stored stored, size_t rows, size_t in) {
  return stored == HL_STORED_F32 || (rows == 1 && in % STEP == 0);
}

/* Four columns of a row of y; or fewer: what stands behind their sums is added up for nothing. */
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
  const size_t most = rows > ABREAST ? GROUP_AGAIN : GROUP;
  for (size_t j = from; j < to; j += most) {
    const size_t columns = to - j < most ? to - j : most;
    for (size_t r = 0, some; r < rows; r += some) {
      float sums[GROUP * ABREAST * LANES];
      some = rows - r == ABREAST + 1 ? 2 : rows - r < ABREAST ? rows - r : ABREAST; /* none is left alone */
      const size_t half = (columns + 1) / 2; /* of an odd number the row in the middle is in both */
      const float *weight = (const float *)((const char *)p->weight + (j - p->first) * in * stored_bytes(stored));
      kernels[stored == HL_STORED_F32 ? some - 1 : ABREAST - 1 + stored](sums, x + r * in, weight, half, columns - half,
                                                                         in);
      for (size_t i = 0; i < some; i++) {
        for (size_t c = 0; c < columns; c += 4)
          store_columns(p->y + (r + i) * p->out + j + c, sums + (c * some + i) * LANES, some * LANES, columns - c,
                        p->bias ? p->bias + j + c : NULL);
      }
    }
  }
}
