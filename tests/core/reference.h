/* The formulas of headlight.h as plain loops in double precision, for the native tests. Sizes and strides are small. */
#ifndef HL_REFERENCE_H
#define HL_REFERENCE_H

#include <stddef.h>

#include "headlight.h"

/* Called with every number that a call has returned. */
typedef void compare(const char *what, double got, double expected);

/* Allocates exactly this many bytes on the heap, set to 0. */
void *exactly(size_t bytes);
double *zeros(size_t count);

/* Computes output (B,H,T,Dv), contiguous, and compares the output, weights and scores of the call with the formula. A
 * dropout mask must be given as `keep`. */
double *attention_reference(const hl_attention_args *args);
void check_attention(const hl_attention_args *args, compare *near);

/* The same for the gradients; `before` holds the previous contents of gradients that are added to. */
typedef struct {
  const float *bias, *sinks, *additive;
} sums_before;
void check_attention_backward(const hl_attention_backward_args *args, const sums_before *before, compare *near);

/* y(rows, out) = x(rows, in) · weight(out, in)ᵀ + bias(out), or NULL */
double *linear_reference(const float *x, const float *weight, const float *bias, size_t rows, size_t out, size_t in);

#endif
