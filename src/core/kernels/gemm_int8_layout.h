/* Memory layout of the packed operands, shared by gemm_int8_pack.c and gemm_int8.c. */
#ifndef HL_GEMM_INT8_LAYOUT_H
#define HL_GEMM_INT8_LAYOUT_H

#include "kernels/gemm_int8.h"

/* GROUP inputs share one scale. A block is BLOCK inputs of eight columns: one vector of ninth bits and eight of
 * bytes. */
enum { GROUP = 128, BLOCK = 16, GROUP_BLOCKS = GROUP / BLOCK, VECTOR = 16, BLOCK_BYTES = BLOCK * TILE_COLS };

/* If weights are multiplied as unsigned numbers, 256 is added to words and 128 to bytes. The sum of words over a group
 * is at most 510 · 32767 · 128 < 2³¹. */
enum { WEIGHT_LEVELS = 254, WORD_OFFSET = 256, BYTE_OFFSET = 128, PAIR_LEVELS = 32767 };

/* x = HIGH · a + LOW · b. The magnitude of x is at most 15 · 120, so that a and b are at most 127. */
enum { HIGH = 8, LOW = 7, QUAD_LEVELS = (HIGH + LOW) * 120 };

/* A packed weight is a header with its form, then panels of eight columns. A panel consists of groups of inputs. A
 * group consists of the scales of its eight columns (the upper halves of floats), then for each block a vector of ninth
 * bits, then for each block eight vectors of bytes. Bit i of byte k of a block's bit vector is the ninth bit of byte k
 * of the block's vector i.
 *
 * A panel of x is scales[width], then lanes[][width] for each group. The lanes of pairs are the initial value of the
 * sums, which cancels the offset of the weights, then the words. The lanes of quads are an initial value and the bytes
 * of a, then an initial value and the bytes of b. */
enum { HEADER = 4, SCALES = 2 * TILE_COLS };

static inline uint64_t panel_bytes(uint64_t in) {
  return (in + GROUP - 1) / GROUP * SCALES + (in + BLOCK - 1) / BLOCK * (VECTOR + BLOCK_BYTES);
}

static inline uint8_t *panel_of(const float *packed, size_t column, size_t in) {
  return (uint8_t *)(packed + HEADER) + column / TILE_COLS * (size_t)panel_bytes(in);
}

static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

#endif
