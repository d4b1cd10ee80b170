#include "kernels/gemm_blocks_layout.h"
#include "kernels/rounding.h"

uint64_t gemm_blocks_packed_floats(block_form form, uint32_t out, uint32_t in) {
  return HEADER + ((uint64_t)out + TILE_COLS - 1) / TILE_COLS * (panel_bytes(form, in) / sizeof(float));
}

/* ---- weights --------------------------------------------------------------------------------------------------- */

void gemm_blocks_pack_start(float *packed, block_form form) {
  for (int i = 0; i < HEADER; i++) packed[i] = i == 0 ? (float)form : 0;
}

block_form gemm_blocks_packed_form(const float *packed) { return (block_form)packed[0]; }

/* Returns the offset of the byte with the code of column j and input k, within the steps of a block. */
static size_t byte_of(block_form form, size_t j, size_t k) {
  const size_t step = k / STEP_INPUTS, byte = j % 4 * STEP_INPUTS + k % STEP_INPUTS;
  return code_bits(form) == 4 ? step * VECTOR + byte : (2 * step + j / 4) * VECTOR + byte;
}

/* Adds the codes of column j to a block. */
static void add_codes(uint8_t *block, block_form form, size_t j, const uint8_t *codes) {
  const uint32_t shift = code_bits(form) == 4 && j >= 4 ? 4 : 0;
  for (size_t k = 0; k < block_length(form); k++)
    block[SCALE_BYTES + byte_of(form, j, k)] |= (uint8_t)(codes[k] << shift);
}

size_t gemm_blocks_row_bytes(block_form form, size_t in) {
  return in + in / block_length(form) * (has_minimums(form) ? 2 : 1) * sizeof(float);
}

void gemm_blocks_pack_panel(float *packed, size_t first, const uint8_t *rows, size_t count, size_t in) {
  const block_form form = gemm_blocks_packed_form(packed);
  const size_t blocks = in / block_length(form), row_bytes = gemm_blocks_row_bytes(form, in);
  uint8_t *panel = (uint8_t *)panel_of(packed, form, first, in);
  float *minimums = (float *)minimums_of(panel, form, in);
  __builtin_memset(panel, 0, (size_t)panel_bytes(form, in));
  for (size_t j = 0; j < count; j++, rows += row_bytes) {
    const float *scales = (const float *)(const void *)rows;
    const uint8_t *codes = rows + row_bytes - in;
    for (size_t b = 0; b < blocks; b++, codes += block_length(form)) {
      uint8_t *block = panel + b * block_bytes(form);
      ((float *)(void *)block)[j] = scales[b];
      if (has_minimums(form)) minimums[b * TILE_COLS + j] = scales[blocks + b];
      add_codes(block, form, j, codes);
    }
  }
}

/* Returns the value with the largest magnitude. */
static float largest_of(const float *x) {
  float largest = 0;
  for (size_t i = 0; i < BLOCK_INPUTS; i++) {
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(largest)) largest = x[i];
  }
  return largest;
}

INLINE vec code_of(const float *x, vec inverse) {
  return vec_min(vec_max(vec_nearest(vec_mul(vec_load(x), inverse)), vec_splat(-CODE_OFFSET)),
                 vec_splat(CODE_OFFSET - 1));
}

/* Rounds x to codes c with the inverse of a scale. For these codes the scale with the least squared error is Σxc/Σc²,
 * and its error is Σx² − (Σxc)²/Σc². Stores this scale in `scale`, and returns (Σxc)²/Σc². */
static float explained_by(float *scale, const float *x, float inverse) {
  vec products = vec_splat(0), squares = vec_splat(0);
  for (size_t i = 0; i < BLOCK_INPUTS; i += 4) {
    const vec code = code_of(x + i, vec_splat(inverse));
    products = vec_add(products, vec_mul(vec_load(x + i), code));
    squares = vec_add(squares, vec_mul(code, code));
  }
  float lanes[8];
  vec_store(lanes, products);
  vec_store(lanes + 4, squares);
  const float xc = lanes[0] + lanes[1] + lanes[2] + lanes[3], cc = lanes[4] + lanes[5] + lanes[6] + lanes[7];
  *scale = cc > 0 ? xc / cc : 0;
  return cc > 0 ? xc * xc / cc : 0;
}

/* Number of scales that are tried. They map the largest value to numbers between −6.7 and −8.9, because −8 is the code
 * of largest magnitude. */
enum { CANDIDATES = 12 };

/* Rounds a block to codes, and returns its scale. */
static float quantize_block(uint8_t codes[BLOCK_INPUTS], const float *x) {
  const float largest = largest_of(x);
  float best = 0, scale = 0, best_inverse = 0;
  for (int i = 0; i < CANDIDATES && largest != 0; i++) {
    const float inverse = -(6.7F + 0.2F * (float)i) / largest;
    float candidate;
    const float explained = explained_by(&candidate, x, inverse);
    if (explained > best) best = explained, scale = candidate, best_inverse = inverse;
  }
  for (size_t i = 0; i < BLOCK_INPUTS; i += 4) {
    float lanes[4];
    vec_store(lanes, code_of(x + i, vec_splat(best_inverse)));
    for (size_t k = 0; k < 4; k++) codes[i + k] = (uint8_t)((int32_t)lanes[k] + CODE_OFFSET);
  }
  return largest_magnitude(x, BLOCK_INPUTS) <= __FLT_MAX__ ? scale : __builtin_nanf("");
}

void gemm_blocks_quantize_panel(float *packed, size_t first, const float *rows, size_t count, size_t in) {
  const block_form form = gemm_blocks_packed_form(packed);
  uint8_t *panel = (uint8_t *)panel_of(packed, form, first, in);
  __builtin_memset(panel, 0, (size_t)panel_bytes(form, in));
  for (size_t j = 0; j < count; j++) {
    uint8_t *block = panel;
    for (size_t k = 0; k < in; k += BLOCK_INPUTS, block += block_bytes(form)) {
      uint8_t codes[BLOCK_INPUTS];
      ((float *)(void *)block)[j] = quantize_block(codes, rows + j * in + k);
      add_codes(block, form, j, codes);
    }
  }
}

void gemm_blocks_unpack_row(float *to, const float *packed, size_t row, size_t in) {
  const block_form form = gemm_blocks_packed_form(packed);
  const size_t blocks = in / block_length(form), j = row % TILE_COLS;
  const uint8_t *panel = panel_of(packed, form, row, in);
  const float *minimums = minimums_of(panel, form, in);
  for (size_t b = 0; b < blocks; b++) {
    const uint8_t *block = panel + b * block_bytes(form), *codes = block + SCALE_BYTES;
    const float scale = ((const float *)(const void *)block)[j];
    const float minimum = has_minimums(form) ? minimums[b * TILE_COLS + j] : -0.0F; /* x − 0 is x, also for −0 */
    for (size_t k = 0; k < block_length(form); k++) {
      const uint8_t byte = codes[byte_of(form, j, k)];
      const int32_t nibble = j < 4 ? byte & 15 : byte >> 4;
      const int32_t code = code_bits(form) == 8 ? (int8_t)byte : nibble - (has_minimums(form) ? 0 : CODE_OFFSET);
      /* The product is exact in double precision, so the result is rounded once, as it is in the files that have
       * minimums. */
      *to++ = (float)((double)scale * code + minimum);
    }
  }
}

/* ---- x --------------------------------------------------------------------------------------------------------- */

size_t gemm_blocks_tile_rows(size_t rows, block_form form) {
  if (rows > 2) return BLOCKS_TILE_ROWS;
  return has_byte_lanes(form) ? rows : 1;
}

size_t gemm_blocks_left_row_floats(size_t in) { return in / BLOCK_INPUTS * (LEFT_HEAD + MAX_LANES); }

/* rounded(32) = x(32) · factor, as words. Stores the sum of each half in `sums`. */
static void round_block(int16_t rounded[BLOCK_INPUTS], int32_t sums[2], const float *x, float factor) {
  for (int half = 0; half < 2; half++) {
    vec words[2], sum = bits_splat(0);
    for (int i = 0; i < 2; i++) {
      const float *from = x + half * 16 + i * 8;
      words[i] = words_narrow(vec_round(vec_mul(vec_load(from), vec_splat(factor))),
                              vec_round(vec_mul(vec_load(from + 4), vec_splat(factor))));
      sum = bits_add(sum, words_dot(words[i], bits_splat(0x00010001)));
      bytes_store((uint8_t *)(rounded + half * 16 + i * 8), words[i]);
    }
    uint32_t lanes[4];
    bits_store(lanes, sum);
    sums[half] = (int32_t)(lanes[0] + lanes[1] + lanes[2] + lanes[3]);
  }
}

static uint32_t word_pair(int16_t low, int16_t high) { return (uint16_t)low | (uint32_t)(uint16_t)high << 16; }

/* Packs 32 inputs of a row into one lane of a panel. */
static void pack_block(uint32_t *panel, size_t width, const float *x, block_form form) {
  const float scale =
      rounding_step(largest_magnitude(x, BLOCK_INPUTS), has_byte_inputs(form) ? BYTE_LEVELS : WORD_LEVELS);
  int16_t rounded[BLOCK_INPUTS];
  int32_t sums[2];
  float *head = (float *)panel;
  round_block(rounded, sums, x, 1 / scale);
  head[0] = scale;
  panel[width] = code_bits(form) == 4 && !has_minimums(form) ? (uint32_t)(-CODE_OFFSET * (sums[0] + sums[1])) : 0;
  for (size_t half = 0; half < 2; half++) head[(2 + half) * width] = scale * (float)sums[half];
  uint32_t *lanes = panel + LEFT_HEAD * width;
  for (size_t step = 0; step < STEPS; step++) {
    const int16_t *in = rounded + step * STEP_INPUTS;
    if (has_byte_lanes(form)) {
      lanes[step * width] = (uint8_t)in[0] | (uint32_t)(uint8_t)in[1] << 8 | (uint32_t)(uint8_t)in[2] << 16 |
                            (uint32_t)(uint8_t)in[3] << 24;
    } else {
      lanes[2 * step * width] = word_pair(in[0], in[2]);
      lanes[(2 * step + 1) * width] = word_pair(in[1], in[3]);
    }
  }
}

void gemm_blocks_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, block_form form) {
  const size_t size = LEFT_HEAD + STEPS * step_lanes(form);
  const float zeros[BLOCK_INPUTS] = {0};
  for (size_t r = 0; r < round_up(rows, width); r++) {
    uint32_t *panel = (uint32_t *)panels + (r - r % width) * gemm_blocks_left_row_floats(in) + r % width;
    for (size_t k = 0; k < in; k += BLOCK_INPUTS, panel += size * width)
      pack_block(panel, width, r < rows ? x + r * in + k : zeros, form);
  }
}
