/* The formulas of headlight.h as plain loops in double precision, for the native tests. Sizes and strides are small. */
#ifndef HL_REFERENCE_H
#define HL_REFERENCE_H

#include <stddef.h>

#include "headlight.h"

/* Function that compares a number that a call returned with the expected one. */
typedef void compare(const char *what, double got, double expected);

/* Allocates exactly this many bytes on the heap, set to 0. */
void *exactly(size_t bytes);
double *zeros(size_t count);

/* Computes output (B,H,T,Dv), contiguous, and compares the output, weights and scores of the call with the formula.
 * Dropout needs an explicit mask in `keep`. */
double *attention_reference(const hl_attention_args *args);
void check_attention(const hl_attention_args *args, compare *near);

/* Compares the gradients of a call with the formula. `before` has the previous contents of those gradients to which
 * the call adds. */
typedef struct {
  const float *bias, *sinks, *additive;
} sums_before;
void check_attention_backward(const hl_attention_backward_args *args, const sums_before *before, compare *near);

/* Returns y(rows, out) = x(rows, in) · weight(out, in)ᵀ + bias(out). bias may be NULL. */
double *linear_reference(const float *x, const float *weight, const float *bias, size_t rows, size_t out, size_t in);

#endif
