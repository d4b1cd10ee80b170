/* The matrix product with weights of eight bits.
 *
 * Each row of the weight, one output channel, is rounded to −127..127 times a scale of its own, and each row of x
 * to −levels..levels times one, when it is packed. The sums are of integers and exact:
 *
 *   y = bias + x_scale · weight_scale · Σ x·w
 *
 * Integers are multiplied some at a time, and lie so in the panels. Which form is fastest hangs on the processor:
 *
 *   pairs   two at a time, as 16-bit numbers: x has as many levels as the sum has room for, at most 32767;
 *   quads   four at a time, where the relaxed dot product is one instruction: x has 127 levels, and 128 added
 *           to it where the instruction takes it for unsigned. */
#ifndef HL_GEMM_INT8_H
#define HL_GEMM_INT8_H

#include "kernels/gemm.h"

typedef enum { INT8_PAIRS = 0, INT8_SIGNED_QUADS = 1, INT8_UNSIGNED_QUADS = 2 } int8_form;

/* More than five rows of two accumulators spill: the product needs a register before it is added. */
enum { INT8_TILE_ROWS = 5 };

/* The fastest form here. */
int8_form gemm_int8_form(void);

/* Floats of a packed weight, of any form; and of a packed row of x. */
uint64_t gemm_int8_packed_weight(uint32_t out, uint32_t in);
size_t gemm_int8_left_row(size_t in);

void gemm_int8_pack_weight(float *packed, const float *weight, uint32_t out, uint32_t in, int8_form form);
int8_form gemm_int8_form_of(const float *packed_weight);

/* x becomes panels of rows with their scales; a row that is not finite gets the scale NaN. */
void gemm_int8_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, int8_form form);

/* As gemm_range. */
void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
