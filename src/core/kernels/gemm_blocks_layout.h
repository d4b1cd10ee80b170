/* Memory layout of the packed operands, shared by gemm_blocks_pack.c and gemm_blocks.c. */
#ifndef HL_GEMM_BLOCKS_LAYOUT_H
#define HL_GEMM_BLOCKS_LAYOUT_H

#include "kernels/gemm_blocks.h"

/* A packed weight is a header with its form, then panels of eight columns. A panel consists of blocks: the scales of
 * the eight columns, then steps of four inputs. The minimums of all blocks follow, eight floats each.
 *
 * A step of codes of eight bits is two vectors: four inputs of columns 0 to 3, then four inputs of columns 4 to 7. A
 * step of codes of four bits is one vector, whose bytes have a code of columns 0 to 3 in the lower half and a code of
 * columns 4 to 7 in the upper half. */
enum { HEADER = 4, VECTOR = 16, SCALE_BYTES = 4 * TILE_COLS, STEP_INPUTS = 4, STEPS = BLOCK_INPUTS / STEP_INPUTS };

/* CODE_OFFSET is subtracted from codes of four bits without a minimum. BYTE_LEVELS and WORD_LEVELS are the largest
 * integers to which x is rounded. */
enum { CODE_OFFSET = 8, BYTE_LEVELS = 127, WORD_LEVELS = 32767 };

/* A panel of x has for each 32 inputs: scales[width], the initial integers of the sums [width], the sum of x over each
 * half [2][width], then lanes[][width]. A step has one lane of four bytes, or two lanes of two words: one of inputs 0
 * and 2, and one of inputs 1 and 3. */
enum { LEFT_HEAD = 4, MAX_LANES = 2 * STEPS };

static inline bool has_byte_lanes(block_form form) { return HL_SIMD_RELAXED_BYTES && has_byte_inputs(form); }
static inline size_t step_lanes(block_form form) { return has_byte_lanes(form) ? 1 : 2; }

static inline size_t block_bytes(block_form form) { return SCALE_BYTES + (size_t)block_length(form) * code_bits(form); }

static inline uint64_t panel_bytes(block_form form, size_t in) {
  return (uint64_t)in / block_length(form) * (block_bytes(form) + (has_minimums(form) ? SCALE_BYTES : 0));
}

static inline const uint8_t *panel_of(const float *packed, block_form form, size_t column, size_t in) {
  return (const uint8_t *)(packed + HEADER) + column / TILE_COLS * (size_t)panel_bytes(form, in);
}

/* Returns the minimums of a panel, (in/length, 8). */
static inline const float *minimums_of(const uint8_t *panel, block_form form, size_t in) {
  return (const float *)(const void *)(panel + in / block_length(form) * block_bytes(form));
}

#endif
