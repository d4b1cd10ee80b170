/* Elementwise operations on rows of floats, shared by embedding, norms, activations, losses and optimisers.
 *
 * An operation handles whole vectors only. If the length of a row is not a multiple of four, its last floats are copied
 * into a padded vector, and the results are copied back. */
#ifndef HL_ELEMENTS_H
#define HL_ELEMENTS_H

#include "base/simd.h"

/* Processes `count` floats, a multiple of four. `context` holds scalar parameters and running sums. */
typedef void element_operation(void *context, float *const to[3], const float *const from[4], size_t count);

typedef struct {
  element_operation *operation;
  void *context;
  float *to[3]; /* unused outputs are NULL */
  const float *from[4];
  float fill; /* value of the inputs in the lanes after the end of a row */
} elements;

/* Applies the operation to the floats start..start + count − 1 of every input and output. */
void elements_apply(const elements *e, size_t start, size_t count);

/* Applies the operation to the first `count` floats, on all threads; `work` is the work of parallel_for for one
 * float. */
void elements_parallel(const elements *e, size_t count, double work);

/* Σ (x − origin)² in double precision; the order of the additions depends on the count only. */
double elements_square_sum(const float *x, size_t count, float origin);
/* Σ x in double precision, in an order that depends on the count only. */
double elements_sum(const float *x, size_t count);

/* to = a + b */
void elements_add(float *to, const float *a, const float *b, size_t count);

typedef struct {
  float factor, plus;
} affine;
/* The operation to = from · factor + plus, whose context is an `affine`. */
element_operation affine_operation;

/* Calls a function for every row of a matrix, on all threads. Rows must be independent of each other; `work` is the
 * work of parallel_for for one float. */
typedef void row_function(const void *arg, size_t row);
void elements_for_each_row(row_function *function, const void *arg, size_t rows, size_t width, double work);

#endif
