/* Between gemm_int8_pack.c and gemm_int8.c: how the packed operands lie. */
#ifndef HL_GEMM_INT8_LAYOUT_H
#define HL_GEMM_INT8_LAYOUT_H

#include "kernels/gemm_int8.h"

/* GROUP inputs have one scale, BLOCK inputs of eight columns one vector of ninth bits and eight of bytes. */
enum { GROUP = 128, BLOCK = 16, GROUP_BLOCKS = GROUP / BLOCK, VECTOR = 16, BLOCK_BYTES = BLOCK * TILE_COLS };

/* Where weights are multiplied as unsigned numbers, 256 is added to words and 128 to bytes. The sum of words over a
 * group, at most 510 · 32767 · 128, is below 2³¹. */
enum { WEIGHT_LEVELS = 254, WORD_OFFSET = 256, BYTE_OFFSET = 128, PAIR_LEVELS = 32767 };

/* x = HIGH · a + LOW · b, at most 15 · 120: so the largest byte is 127. */
enum { HIGH = 8, LOW = 7, QUAD_LEVELS = (HIGH + LOW) * 120 };

/* A packed weight is its form, then panels of eight columns. A panel is groups of inputs; a group the scales of its
 * columns, the upper halves of floats, then the ninth bits of its blocks, then their bytes. Vector i of a block has its
 * bits at bit i of the bytes.
 *
 * A panel of x is scales[width], then for each group lanes[][width]: in pairs where its sums start, to undo the offset
 * of the weights, and its words; in quads the same of a, then of b, in bytes. */
enum { HEADER = 4, SCALES = 2 * TILE_COLS };

static inline uint64_t panel_bytes(uint64_t in) {
  return (in + GROUP - 1) / GROUP * SCALES + (in + BLOCK - 1) / BLOCK * (VECTOR + BLOCK_BYTES);
}

static inline uint8_t *panel_of(const float *packed, size_t column, size_t in) {
  return (uint8_t *)(packed + HEADER) + column / TILE_COLS * (size_t)panel_bytes(in);
}

static inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

#endif
