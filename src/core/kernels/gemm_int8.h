/* The matrix product with weights of nine bits.
 *
 * Each row of the weight (one output channel) is divided into groups of 128 inputs. The weights of a group are rounded
 * to integers in −254..254 times the scale of the group. Each row of x is rounded to integers in −levels..levels times
 * the scale of the row. Both happen when the operands are packed. Sums within a group are exact, in integers; the sums
 * of the groups are added in order, as floats:
 *
 *   y = bias + x_scale · Σ weight_scale · Σ x·w        outer sum over the groups, inner sum over their inputs
 *
 * The errors of the projections add up: the error of a whole layer is about twice that of one product. With normally
 * distributed weights, eight bits and one scale per channel give an error of up to 1.9% of the largest output; nine
 * bits in groups give up to 0.8%. Eight bits for x alone would give 1.5%.
 *
 * One instruction multiplies several integers. The fastest form depends on the processor:
 *
 *   pairs   two at a time, as words of 16 bits. x has 32767 levels.
 *   quads   four at a time, as bytes, if the relaxed dot product is one instruction. Two products of bytes replace one
 *           of more bits: with x = 8a + 7b, where a and b are nearly equal, and w = c + d, where d is c or c + 1,
 *           x·w is approximately 2 · (8·a·c + 7·b·d). x has 1800 levels. */
#ifndef HL_GEMM_INT8_H
#define HL_GEMM_INT8_H

#include "base/stored_type.h"
#include "kernels/gemm.h"

/* Form of the packed operands. The relaxed dot product interprets weights as signed or as unsigned numbers. */
typedef enum { INT8_PAIRS = 0, INT8_SIGNED_QUADS = 1, INT8_UNSIGNED_QUADS = 2 } int8_form;

/* Maximum rows of a tile. With more rows, the two accumulators per row spill, because the product needs a register
 * before it is added. */
enum { INT8_TILE_ROWS = 5 };

/* Returns the fastest form on this processor. */
int8_form gemm_int8_form(void);

/* gemm_int8_packed_floats: floats of a packed weight (out, in), of any form. gemm_int8_left_row_floats: floats of a
 * packed row of x. */
uint64_t gemm_int8_packed_floats(uint32_t out, uint32_t in);
size_t gemm_int8_left_row_floats(size_t in);

/* A weight is packed in parts. gemm_int8_pack_start writes the header. gemm_int8_pack_panel packs a panel of `count` ≤
 * 8 rows (count, in), the first of which is row `first` of the weight, a multiple of eight. */
void gemm_int8_pack_start(float *packed, int8_form form);
void gemm_int8_pack_panel(float *packed, size_t first, const void *rows, hl_stored stored, size_t count, size_t in,
                          int8_form form);
int8_form gemm_int8_packed_form(const float *packed_weight);

/* to(in) = row `row` of a packed weight. */
void gemm_int8_unpack_row(float *to, const float *packed_weight, size_t row, size_t in);

/* Packs x(rows, in) into panels of `width` rows with their scales. The scale of a row that is not finite is NaN. */
void gemm_int8_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, int8_form form);

/* Does the same as gemm_range, for a weight and an x that the functions above have packed. */
void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
