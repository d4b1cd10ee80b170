#include "kernels/gemv.h"

/* Two sums for each of four rows of the weight hide each other's latency; for two rows of x, of two rows of the weight.
 * More rows of the weight at a time would lie in the same set of the first-level cache where `in` is a power of 2. */
enum { COLUMNS = 4 };

/* sums[r][c] = x[r] · w[c], of rows · columns = 4. */
VERB void dots(int rows, float sums[4], const float *const x[], const float *const w[], size_t depth) {
  const int columns = 4 / rows;
  vec acc[4], more[4];
  float last[4] = {0};
  for (int i = 0; i < 4; i++) acc[i] = more[i] = vec_splat(0);
  size_t k = 0;
  for (; k + 8 <= depth; k += 8) {
    for (int i = 0; i < 4; i++) {
      acc[i] = vec_fma(vec_load(x[i / columns] + k), vec_load(w[i % columns] + k), acc[i]);
      more[i] = vec_fma(vec_load(x[i / columns] + k + 4), vec_load(w[i % columns] + k + 4), more[i]);
    }
  }
  if (k + 4 <= depth) {
    for (int i = 0; i < 4; i++) acc[i] = vec_fma(vec_load(x[i / columns] + k), vec_load(w[i % columns] + k), acc[i]);
    k += 4;
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (; k < depth; k++) {
    for (int i = 0; i < 4; i++) last[i] += x[i / columns][k] * w[i % columns][k];
  }
  for (int i = 0; i < 4; i++) acc[i] = vec_add(acc[i], more[i]);
  vec_transpose(acc);
  vec_store(sums, vec_add(vec_add(vec_add(acc[0], acc[1]), vec_add(acc[2], acc[3])), vec_load(last)));
}

KERNEL static void one_row(float sums[4], const float *const x[1], const float *const w[4], size_t depth) {
  dots(1, sums, x, w, depth);
}

KERNEL static void two_rows(float sums[4], const float *const x[2], const float *const w[2], size_t depth) {
  dots(2, sums, x, w, depth);
}

/* sums[r][c] of up to two rows of x and four of the weight. */
static void multiply_block(float sums[2][COLUMNS], const float *x, size_t rows, const float *const w[COLUMNS],
                           size_t in) {
  const float *const both[2] = {x, x + (rows > 1 ? in : 0)};
  if (rows == 1) {
    one_row(sums[0], both, w, in);
    return;
  }
  for (size_t c = 0; c < COLUMNS; c += 2) {
    float square[4];
    two_rows(square, both, w + c, in);
    for (size_t r = 0; r < 2; r++) {
      sums[r][c] = square[2 * r];
      sums[r][c + 1] = square[2 * r + 1];
    }
  }
}

void gemv_range(const gemm_product *p, const float *x, size_t rows, size_t in, size_t from, size_t to) {
  for (size_t j = from; j < to; j += COLUMNS) {
    const size_t columns = to - j < COLUMNS ? to - j : COLUMNS;
    const float *w[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) w[c] = p->weight + (j + (c < columns ? c : 0)) * in;
    for (size_t r = 0, some; r < rows; r += some) {
      float sums[2][COLUMNS];
      some = rows - r < 2 ? 1 : 2;
      multiply_block(sums, x + r * in, some, w, in);
      for (size_t i = 0; i < some; i++) {
        for (size_t c = 0; c < columns; c++)
          p->y[(r + i) * p->out + j + c] = sums[i][c] + (p->bias ? p->bias[j + c] : 0);
      }
    }
  }
}
