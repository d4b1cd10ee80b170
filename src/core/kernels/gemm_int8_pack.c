#include "kernels/gemm_int8_layout.h"
#include "kernels/rounding.h"

/* ---- choice of the form ------------------------------------------------------------------------------------- */

/* True if bytes_dot gives the exact result for a test product, with w as unsigned or as signed numbers. If it does, the
 * relaxed dot product is one instruction that neither saturates intermediate results nor loses the eighth bit of w.
 * Otherwise it takes five instructions, and pairs are as fast. */
static bool dots_are(const int8_t x[16], const uint8_t w[16], bool as_unsigned) {
  int32_t got[4];
  bool same = true;
  bits_store((uint32_t *)got, bytes_dot(bits_load((const uint32_t *)x), bits_load((const uint32_t *)w), bits_splat(7)));
  for (int lane = 0; lane < 4; lane++) {
    int32_t sum = 7;
    for (int i = 4 * lane; i < 4 * lane + 4; i++) sum += x[i] * (as_unsigned ? (int32_t)w[i] : (int32_t)(int8_t)w[i]);
    same = same && got[lane] == sum;
  }
  return same;
}

int8_form gemm_int8_form(void) {
  /* volatile, because constant folding by the compiler may give another result than the processor. */
  static volatile uint8_t w[16] = {255, 255, 255, 255, 200, 1, 255, 127, 128, 0, 3, 129, 7, 250, 90, 255};
  static volatile int8_t x[16] = {127, 127, 127, 127, -127, -1, -127, 5, 127, 9, -100, 127, 1, 2, 3, -127};
  uint8_t some_w[16];
  int8_t some_x[16];
  for (int i = 0; i < 16; i++) {
    some_w[i] = w[i];
    some_x[i] = x[i];
  }
  if (!HL_SIMD_RELAXED) return INT8_PAIRS;
  return dots_are(some_x, some_w, true)    ? INT8_UNSIGNED_QUADS
         : dots_are(some_x, some_w, false) ? INT8_SIGNED_QUADS
                                           : INT8_PAIRS;
}

/* ---- packing x ----------------------------------------------------------------------------------------------- */

/* scaled = BLOCK numbers of x times the factor. Numbers at or after index n are 0. */
INLINE void scale_block(vec scaled[4], const float *x, size_t n, vec factor) {
  float padded[BLOCK];
  if (n < BLOCK) {
    for (size_t i = 0; i < BLOCK; i++) padded[i] = i < n ? x[i] : 0;
    x = padded;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) scaled[i] = vec_mul(vec_load(x + 4 * i), factor);
}

INLINE void store_lanes(uint32_t *to, size_t width, vec lanes) {
  uint32_t values[4];
  bits_store(values, lanes);
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) to[i * width] = values[i];
}

INLINE vec rounded_words(const vec x[2]) { return words_narrow(vec_round(x[0]), vec_round(x[1])); }

static uint32_t lanes_sum(vec x) {
  uint32_t lanes[4];
  bits_store(lanes, x);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

/* Packs one lane of a group of n inputs, in pairs. Returns the position of the next group. */
static uint32_t *pack_pairs(uint32_t *to, size_t width, const float *x, size_t n, vec factor) {
  uint32_t *start = to;
  vec sum = bits_splat(0);
  to += width;
  for (size_t k = 0; k < n; k += BLOCK) {
    vec scaled[4];
    scale_block(scaled, x + k, n - k, factor);
#pragma clang loop unroll(full)
    for (int i = 0; i < 2; i++, to += 4 * width) {
      vec words = rounded_words(scaled + 2 * i);
      sum = bits_add(sum, words_dot(words, bits_splat(0x00010001)));
      store_lanes(to, width, words);
    }
  }
  *start = (uint32_t)-WORD_OFFSET * lanes_sum(sum);
  return to;
}

/* Packs one lane of a group of n inputs, in quads. Returns the position of the next group. */
static uint32_t *pack_quads(uint32_t *to, size_t width, const float *x, size_t n, vec factor, bool as_unsigned) {
  const size_t part = (1 + round_up(n, BLOCK) / 4) * width;
  const vec fifteenth = vec_splat(1.0f / (HIGH + LOW)), fifteen = bits_splat((HIGH + LOW) * 0x00010001);
  vec sums[2] = {bits_splat(0), bits_splat(0)};
  for (size_t k = 0; k < n; k += BLOCK) {
    vec scaled[4], shares[4], parts[2][2];
    scale_block(scaled, x + k, n - k, factor);
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
      scaled[i] = vec_nearest(scaled[i]);
      shares[i] = vec_mul(scaled[i], fifteenth);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 2; i++) {
      const vec rounded = rounded_words(scaled + 2 * i), quotient = rounded_words(shares + 2 * i);
      const vec remainder = words_sub(rounded, words_mul(quotient, fifteen));
      parts[0][i] = words_add(quotient, remainder);
      parts[1][i] = words_sub(quotient, remainder);
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < 2; p++) {
      vec bytes = bytes_narrow(parts[p][0], parts[p][1]);
      sums[p] = bytes_dot(bytes, bits_splat(0x01010101), sums[p]);
      store_lanes(to + (size_t)p * part + (1 + k / 4) * width, width, bytes);
    }
  }
  for (int p = 0; p < 2; p++) to[(size_t)p * part] = as_unsigned ? (uint32_t)-BYTE_OFFSET * lanes_sum(sums[p]) : 0;
  return to + 2 * part;
}

size_t gemm_int8_left_row_floats(size_t in) { return 1 + round_up(in, BLOCK) / 2 + 2 * ((in + GROUP - 1) / GROUP); }

void gemm_int8_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, int8_form form) {
  const float levels = form == INT8_PAIRS ? PAIR_LEVELS : QUAD_LEVELS;
  for (size_t r = 0; r < round_up(rows, width); r++) {
    const float *row = x + (r < rows ? r * in : 0);
    float *panel = panels + (r - r % width) * gemm_int8_left_row_floats(in) + r % width;
    const float scale = r < rows ? rounding_step(largest_magnitude(row, in), levels) : 0;
    const vec factor = vec_splat(scale > 0 ? 1 / scale : 0);
    uint32_t *to = (uint32_t *)(panel + width);
    panel[0] = scale;
    for (size_t k = 0; k < in; k += GROUP) {
      size_t n = min_size(in - k, GROUP);
      to = form == INT8_PAIRS ? pack_pairs(to, width, row + k, n, factor)
                              : pack_quads(to, width, row + k, n, factor, form == INT8_UNSIGNED_QUADS);
    }
  }
}

/* ---- packing weights ----------------------------------------------------------------------------------------- */

uint64_t gemm_int8_packed_floats(uint32_t out, uint32_t in) {
  return HEADER + ((uint64_t)out + TILE_COLS - 1) / TILE_COLS * (panel_bytes(in) / 4);
}

int8_form gemm_int8_packed_form(const float *packed_weight) { return (int8_form)packed_weight[0]; }

/* Returns the upper half (bfloat16) of the scale, rounded up; NaN for NaN. */
static uint16_t round_up_to_half(float scale) {
  union {
    float number;
    uint32_t bits;
  } x = {scale};
  return scale == scale ? (uint16_t)((x.bits + 0xffff) >> 16) : 0x7fc0;
}

static float half_to_float(uint16_t half) {
  union {
    uint32_t bits;
    float number;
  } x = {(uint32_t)half << 16};
  return x.number;
}

/* Returns the offset of the weight of input k and column j in a block. Vectors of pairs hold two inputs of eight
 * columns, vectors of quads four inputs of four columns. */
static size_t byte_in_block(size_t k, size_t j, int8_form form) {
  return form == INT8_PAIRS ? k / 2 * VECTOR + 2 * j + k % 2 : (k / 4 * 2 + j / 4) * VECTOR + 4 * (j % 4) + k % 4;
}

/* Transposes the bytes of eight columns, sixteen inputs of each, into the vectors of a block. For pairs, `first`
 * receives the first eight inputs and `last` the others; for quads, `first` receives the first four columns and `last`
 * the others. */
static void transpose_block(vec first[4], vec last[4], const vec columns[TILE_COLS], bool pairs) {
  for (int i = 0; i < 4; i++) {
    first[i] = pairs ? words_interleave_low(columns[2 * i], columns[2 * i + 1]) : columns[i];
    last[i] = pairs ? words_interleave_high(columns[2 * i], columns[2 * i + 1]) : columns[4 + i];
  }
  vec_transpose(first);
  vec_transpose(last);
}

/* Packs a block of eight columns. The ninth bit is the highest bit of a weight in pairs and the lowest bit in quads. */
static void pack_block(uint8_t *bits, uint8_t *bytes, const float *columns, const vec inverse[TILE_COLS], vec offset,
                       bool pairs) {
  const uint32_t byte_from = pairs ? 0 : 1, bit_from = pairs ? 8 : 0;
  const uint32_t after_first = pairs ? 1 : 2, last_from = pairs ? 4 : 1;
  const vec byte = bits_splat(0x00ff00ff), one = bits_splat(0x00010001);
  vec low[TILE_COLS], ninth[TILE_COLS], first[4], last[4], all = bits_splat(0);
  for (int j = 0; j < TILE_COLS; j++) {
    vec words[2], w[4];
    for (int i = 0; i < 4; i++)
      w[i] = bits_add(vec_round(vec_mul(vec_load(columns + j * GROUP + 4 * i), inverse[j])), offset);
    for (int i = 0; i < 2; i++) words[i] = words_narrow(w[2 * i], w[2 * i + 1]);
    low[j] = bytes_narrow_unsigned(bits_and(words_shift_right(words[0], byte_from), byte),
                                   bits_and(words_shift_right(words[1], byte_from), byte));
    ninth[j] = bytes_narrow_unsigned(bits_and(words_shift_right(words[0], bit_from), one),
                                     bits_and(words_shift_right(words[1], bit_from), one));
  }
  transpose_block(first, last, low, pairs);
  for (uint32_t i = 0; i < 4; i++) {
    bytes_store(bytes + i * after_first * VECTOR, first[i]);
    bytes_store(bytes + (last_from + i * after_first) * VECTOR, last[i]);
  }
  transpose_block(first, last, ninth, pairs);
  for (uint32_t i = 0; i < 4; i++) {
    all = bits_or(all, bits_shift_left(first[i], i * after_first));
    all = bits_or(all, bits_shift_left(last[i], last_from + i * after_first));
  }
  bytes_store(bits, all);
}

/* Packs a group of n inputs of eight columns; columns[8][GROUP] must be 0 from n to the end of the block. */
static void pack_group(uint8_t *packed, const float *columns, size_t n, int8_form form) {
  const bool pairs = form == INT8_PAIRS;
  const vec offset = bits_splat(form == INT8_SIGNED_QUADS ? 0 : WORD_OFFSET);
  uint8_t *bits = packed + SCALES, *bytes = bits + (n + BLOCK - 1) / BLOCK * VECTOR;
  vec inverse[TILE_COLS];
  for (size_t j = 0; j < TILE_COLS; j++) {
    const uint16_t half = round_up_to_half(rounding_step(largest_magnitude(columns + j * GROUP, n), WEIGHT_LEVELS));
    ((uint16_t *)packed)[j] = half;
    inverse[j] = vec_splat(half < 0x7f80 ? 1 / half_to_float(half) : 0);
  }
  for (size_t k = 0; k < n; k += BLOCK, bits += VECTOR, bytes += BLOCK_BYTES)
    pack_block(bits, bytes, columns + k, inverse, offset, pairs);
}

void gemm_int8_pack_panel(float *packed, size_t first, const void *rows, hl_stored stored, size_t count, size_t in,
                          int8_form form) {
  float columns[TILE_COLS * GROUP];
  uint8_t *group = panel_of(packed, first, in);
  const size_t size = stored_bytes(stored);
  for (size_t k = 0; k < in; k += GROUP) {
    const size_t n = min_size(in - k, GROUP);
    for (size_t j = 0; j < TILE_COLS; j++) {
      float *column = columns + j * GROUP;
      if (j < count) stored_load(column, (const uint8_t *)rows + (j * in + k) * size, stored, n);
      for (size_t i = j < count ? n : 0; i < round_up(n, BLOCK); i++) column[i] = 0;
    }
    pack_group(group, columns, n, form);
    group += panel_bytes(GROUP);
  }
}

void gemm_int8_pack_start(float *packed, int8_form form) {
  for (int i = 0; i < HEADER; i++) packed[i] = i == 0 ? (float)form : 0;
}

void gemm_int8_unpack_row(float *to, const float *packed, size_t row, size_t in) {
  const int8_form form = gemm_int8_packed_form(packed);
  const size_t column = row % TILE_COLS;
  const uint8_t *group = panel_of(packed, row, in);
  for (size_t k = 0; k < in; group += panel_bytes(GROUP)) {
    const size_t n = min_size(in - k, GROUP);
    const float scale = half_to_float(((const uint16_t *)group)[column]);
    const uint8_t *bits = group + SCALES, *bytes = bits + (n + BLOCK - 1) / BLOCK * VECTOR;
    for (size_t i = 0; i < n; i++, k++) {
      const size_t block = i / BLOCK, at = byte_in_block(i % BLOCK, column, form);
      const int32_t byte = bytes[block * BLOCK_BYTES + at], bit = bits[block * VECTOR + at % VECTOR] >> at / VECTOR & 1;
      const int32_t whole = form == INT8_PAIRS          ? byte + 256 * bit - WORD_OFFSET
                            : form == INT8_SIGNED_QUADS ? 2 * (int8_t)byte + bit
                                                        : 2 * byte + bit - WORD_OFFSET;
      to[k] = (float)whole * scale;
    }
  }
}
