/* The matrix product with weights in blocks, as in GGUF files. A weight is a code of four or eight bits. A block of 32
 * or 16 inputs of a row has a scale.
 *
 * A weight is scale · code, plus a minimum if the blocks have one. Codes of four bits are unsigned; without a minimum,
 * 8 is subtracted from them. Codes of eight bits are signed.
 *
 * Each row of x is rounded in blocks of 32 to integers times a scale. The integers have 16 bits or, for codes of four
 * bits, optionally eight bits, which is faster. The sums within a block are exact, in integers. The sums of the blocks
 * are added in order, and each multiplication and each addition is rounded, so the bits of the result are the same for
 * every flavour, processor and number of rows. */
#ifndef HL_GEMM_BLOCKS_H
#define HL_GEMM_BLOCKS_H

#include "kernels/gemm.h"

/* The form of a weight, in one word: the bits of a code (4 or 8); the inputs of a block (32; for codes of eight bits
 * also 16); a flag for blocks with minimums; and, for codes of four bits, a flag for rounding x to eight bits. */
typedef uint32_t block_form;
static inline block_form block_form_of(uint32_t bits, uint32_t length, bool has_minimums, bool has_byte_inputs) {
  return bits | length << 8 | (uint32_t)has_minimums << 16 | (uint32_t)has_byte_inputs << 17;
}
static inline uint32_t code_bits(block_form form) { return form & 0xff; }
static inline uint32_t block_length(block_form form) { return form >> 8 & 0xff; }
static inline bool has_minimums(block_form form) { return (form >> 16 & 1) != 0; }
static inline bool has_byte_inputs(block_form form) { return form >> 17 != 0; }

/* The number of inputs of a weight is a multiple of BLOCK_INPUTS. */
enum { BLOCK_INPUTS = 32, BLOCKS_TILE_ROWS = 4 };

/* gemm_blocks_packed_floats: floats of a packed weight (out, in). gemm_blocks_left_row_floats: floats of a packed row
 * of x. */
uint64_t gemm_blocks_packed_floats(block_form form, uint32_t out, uint32_t in);
size_t gemm_blocks_left_row_floats(size_t in);

/* Returns the bytes of a row of a weight that is not packed: the scales of its blocks, their minimums, then its codes,
 * one byte each. */
size_t gemm_blocks_row_bytes(block_form form, size_t in);

/* A weight is packed in parts. gemm_blocks_pack_start writes the header. gemm_blocks_pack_panel packs a panel of
 * `count` ≤ 8 rows, the first of which is row `first` of the weight, a multiple of eight. */
void gemm_blocks_pack_start(float *packed, block_form form);
void gemm_blocks_pack_panel(float *packed, size_t first, const uint8_t *rows, size_t count, size_t in);
block_form gemm_blocks_packed_form(const float *packed);

/* Packs a panel from rows of floats (count, in), which are rounded to codes of four bits without minimums. Several
 * scales are tried for each block, and the one with the least squared error is used. */
void gemm_blocks_quantize_panel(float *packed, size_t first, const float *rows, size_t count, size_t in);

/* to(in) = row `row` of a packed weight. */
void gemm_blocks_unpack_row(float *to, const float *packed, size_t row, size_t in);

/* Returns the number of rows of a tile for a product of `rows` rows: 4 for more than two rows, 2 for two rows if x has
 * lanes of bytes, otherwise 1. */
size_t gemm_blocks_tile_rows(size_t rows, block_form form);

/* Packs x(rows, in) into panels of `width` rows for weights of a form. A block that is not finite gives NaN. */
void gemm_blocks_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, block_form form);

/* Does the same as gemm_range, for a weight and an x that the functions above have packed. */
void gemm_blocks_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);

#endif
