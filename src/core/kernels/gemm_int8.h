/* The matrix product with weights of nine bits.
 *
 * Each row of the weight, one output channel, is cut into groups of 128 inputs. A group is rounded to −254..254 times a
 * scale of its own. Each row of x is rounded to −levels..levels times one scale. Both are done when they are packed.
 * The sums over a group are of integers and exact; those of the groups are added up as floats, in order:
 *
 *   y = bias + x_scale · Σ weight_scale · Σ x·w        the outer sum over groups, the inner one over their inputs
 *
 * Errors of the projections add up: that of a whole layer is about twice that of one product. With normal weights,
 * eight bits and one scale a channel make it up to 1.9% of the largest value of the output, nine bits in groups up to
 * 0.8%. x of eight bits alone would make it 1.5%.
 *
 * Integers are multiplied several at a time. Which form is fastest depends on the processor:
 *
 *   pairs   two at a time, as words of 16 bits. x has 32767 levels.
 *   quads   four at a time, as bytes, where the relaxed dot product is one instruction. Two products of bytes stand for
 *           one of more bits: with x = 8a + 7b, a and b nearly equal, and w = c + d, where d is c or c + 1, x·w is
 *           nearly 2 · (8·a·c + 7·b·d). x has 1800 levels. */
#ifndef HL_GEMM_INT8_H
#define HL_GEMM_INT8_H

#include "base/stored.h"
#include "kernels/gemm.h"

/* The relaxed dot product takes the weights as signed or as unsigned numbers. */
typedef enum { INT8_PAIRS = 0, INT8_SIGNED_QUADS = 1, INT8_UNSIGNED_QUADS = 2 } int8_form;

/* More than five rows of two accumulators spill: the product needs a register before it is added. */
enum { INT8_TILE_ROWS = 5 };

/* The fastest form here. */
int8_form gemm_int8_form(void);

/* Floats of a packed weight, of any form; and of a packed row of x. */
uint64_t gemm_int8_packed_weight(uint32_t out, uint32_t in);
size_t gemm_int8_left_row(size_t in);

/* A weight is packed in parts: the header of the packed weight; and the panel of `count` rows, at most eight, the first
 * of which is `first` of the weight, a multiple of eight. */
void gemm_int8_pack_start(float *packed, int8_form form);
void gemm_int8_pack_panel(float *packed, size_t first, const void *rows, hl_stored stored, size_t count, size_t in,
                          int8_form form);
int8_form gemm_int8_form_of(const float *packed_weight);

/* to(in) = row `row` of a packed weight. */
void gemm_int8_unpack_row(float *to, const float *packed_weight, size_t row, size_t in);

/* x becomes panels of rows with their scales; a row that is not finite gets the scale NaN. */
void gemm_int8_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, int8_form form);

/* As gemm_range. */
void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
