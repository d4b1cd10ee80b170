/* Arithmetic on rows of floats, each float by itself: what embedding, norms, gelu, losses and optimisers share.
 *
 * An operation is written for whole vectors alone. Where a row ends within one, its last floats are carried to a
 * vector of their own and back, the lanes beyond them filled. */
#ifndef HL_ELEMENTS_H
#define HL_ELEMENTS_H

#include "base/simd.h"

/* On `count` floats, a multiple of four. What is given by value, and sums, are in `numbers`. */
typedef void element_operation(void *numbers, float *const to[3], const float *const from[4], size_t count);

typedef struct {
  element_operation *operation;
  void *numbers;
  float *to[3]; /* NULL where there are fewer */
  const float *from[4];
  float fill;
} elements;

/* On the floats `start` to start + count of every row. */
void elements_run(const elements *e, size_t start, size_t count);

/* On the first `count`, shared out; `work` as of parallel_for, for one float. */
void elements_share(const elements *e, size_t count, double work);

/* Σ (x − origin)², in double precision, in an order that depends on the count alone. */
double elements_square_sum(const float *x, size_t count, float origin);
/* Σ x, likewise. */
double elements_sum(const float *x, size_t count);

/* to = a + b */
void elements_add(float *to, const float *a, const float *b, size_t count);

typedef struct {
  float factor, plus;
} affine;
/* to = from · factor + plus, of an `affine`. */
element_operation affine_operation;

/* A function of every row of a matrix, shared out: each is independent of the others. */
typedef void row_function(const void *arg, size_t row);
void elements_rows(row_function *function, const void *arg, size_t rows, size_t width, double work);

#endif
