#include "kernels/gemm_blocks_layout.h"

INLINE void add_words(int rows, vec acc[][2], const float *x, const vec words[2]) {
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) {
    const vec xr = vec_load_splat(x + r);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) acc[r][c] = bits_add(acc[r][c], words_dot(xr, words[c]));
  }
}

/* Unpacks the codes of a step to words: inputs 0 and 2 to `even`, inputs 1 and 3 to `odd`. In both, vector 0 has
 * columns 0 to 3 and vector 1 columns 4 to 7. */
INLINE void codes_as_words(bool four_bits, vec even[2], vec odd[2], const uint8_t *codes) {
  if (four_bits) {
    const vec mask = bits_splat(0x000f000f), all = bytes_load(codes);
    even[0] = bits_and(all, mask), even[1] = bits_and(words_shift_right(all, 4), mask);
    odd[0] = bits_and(words_shift_right(all, 8), mask), odd[1] = words_shift_right(all, 12);
    return;
  }
#pragma clang loop unroll(full)
  for (int c = 0; c < 2; c++) {
    const vec all = bytes_load(codes + c * VECTOR);
    even[c] = words_shift_right_signed(words_shift_left(all, 8), 8);
    odd[c] = words_shift_right_signed(all, 8);
  }
}

INLINE size_t step_bytes(bool four_bits) { return four_bits ? VECTOR : 2 * VECTOR; }

/* total += scale · x_scale · (start + acc). Each operation is rounded, because a fused one would give other bits. */
INLINE vec add_block(vec total, vec acc, vec start, const float *scales, vec x_scale) {
  return vec_add(total, vec_mul(vec_from_integers(bits_add(acc, start)), vec_mul(vec_load(scales), x_scale)));
}

/* ---- a tile of rows ---- */

INLINE void clear(int rows, vec acc[][2]) {
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = bits_splat(0);
}

/* sums(rows, 8) += the product of a block, from its integer sums `acc`. */
INLINE void finish(int rows, float *sums, vec acc[][2], const float *head, size_t width, const float *scales) {
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) {
    const vec x_scale = vec_load_splat(head + r), start = vec_load_splat(head + width + r);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) {
      float *sum = sums + r * TILE_COLS + 4 * c;
      vec_store(sum, add_block(vec_load(sum), acc[r][c], start, scales + 4 * c, x_scale));
    }
  }
}

/* sums(rows, 8) += the product of `rows` lanes of a panel of x with a panel of weights, without its minimums. */
#define TILE_ARGUMENTS float *sums, const float *x, size_t width, const uint8_t *panel, size_t in, size_t length

INLINE void words(bool four_bits, int rows, TILE_ARGUMENTS) {
  for (; in > 0; in -= BLOCK_INPUTS) {
    const float *head = x;
    x += LEFT_HEAD * width;
    for (size_t k = 0; k < BLOCK_INPUTS; k += length) {
      const float *scales = (const float *)(const void *)panel;
      vec acc[BLOCKS_TILE_ROWS][2], even[2], odd[2];
      clear(rows, acc);
      panel += SCALE_BYTES;
#pragma clang loop unroll(disable)
      for (const uint8_t *end = panel + length / STEP_INPUTS * step_bytes(four_bits); panel != end;
           x += 2 * width, panel += step_bytes(four_bits)) {
        codes_as_words(four_bits, even, odd, panel);
        add_words(rows, acc, x, even);
        add_words(rows, acc, x + width, odd);
      }
      finish(rows, sums, acc, head, width, scales);
    }
  }
}
INLINE void nibbles(int rows, TILE_ARGUMENTS) { words(true, rows, sums, x, width, panel, in, length); }
INLINE void bytes(int rows, TILE_ARGUMENTS) { words(false, rows, sums, x, width, panel, in, length); }

typedef void tile(TILE_ARGUMENTS);

#define TILE(form, n)                                                                                                  \
  KERNEL static void form##_##n(TILE_ARGUMENTS) { form(n, sums, x, width, panel, in, length); }
TILE(nibbles, 4)
TILE(bytes, 4)

/* ---- a single row ---- */

/* Parameters of a kernel for one row and two panels. Each panel is read as a stream of its own, which is faster than
 * one stream. The second panel begins `second` bytes after the first, and its sums follow those of the first. */
#define ROW_ARGUMENTS float *sums, const float *x, const uint8_t *panel, size_t second, size_t in, size_t length

/* total(2, 8) += the products of one block of each panel. */
INLINE void add_blocks(vec total[4], vec acc[2][2], const uint8_t *block, size_t second, vec x_scale, vec start) {
  const float *scales = (const float *)(const void *)block, *others = (const float *)(const void *)(block + second);
#pragma clang loop unroll(full)
  for (int c = 0; c < 2; c++) {
    total[c] = add_block(total[c], acc[0][c], start, scales + 4 * c, x_scale);
    total[2 + c] = add_block(total[2 + c], acc[1][c], start, others + 4 * c, x_scale);
  }
}

INLINE void words_row(bool four_bits, ROW_ARGUMENTS) {
  vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
  for (; in > 0; in -= BLOCK_INPUTS) {
    const vec x_scale = vec_load_splat(x), start = vec_load_splat(x + 1);
    x += LEFT_HEAD;
    for (size_t k = 0; k < BLOCK_INPUTS; k += length) {
      const uint8_t *block = panel;
      vec acc[2][2], even[2], odd[2];
      clear(2, acc);
      panel += SCALE_BYTES;
#pragma clang loop unroll(disable)
      for (const uint8_t *end = panel + length / STEP_INPUTS * step_bytes(four_bits); panel != end;
           x += 2, panel += step_bytes(four_bits)) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 2; i++) {
          codes_as_words(four_bits, even, odd, panel + (size_t)i * second);
          add_words(1, acc + i, x, even);
          add_words(1, acc + i, x + 1, odd);
        }
      }
      add_blocks(total, acc, block, second, x_scale, start);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) vec_store(sums + 4 * i, total[i]);
}
KERNEL static void nibbles_row(ROW_ARGUMENTS) { words_row(true, sums, x, panel, second, in, length); }
KERNEL static void bytes_row(ROW_ARGUMENTS) { words_row(false, sums, x, panel, second, in, length); }

typedef void row(ROW_ARGUMENTS);

/* ---- inputs of eight bits: the sums of a block fit into words, 15 · 127 · 2 for each of eight steps ---- */

#if HL_SIMD_RELAXED_BYTES
INLINE void add_bytes(int rows, vec acc[][2], const float *x, const uint8_t *codes) {
  const vec mask = bits_splat(0x0f0f0f0f), both = bytes_load(codes);
  const vec w[2] = {bits_and(both, mask), bits_and(words_shift_right(both, 4), mask)};
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) {
    const vec xr = vec_load_splat(x + r);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) acc[r][c] = words_add(acc[r][c], bytes_dot_words(xr, w[c]));
  }
}

INLINE void add_pairs(int rows, vec acc[][2]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < 2 * rows; i++) acc[i / 2][i % 2] = words_add_pairs(acc[i / 2][i % 2]);
}

INLINE void byte_inputs(int rows, TILE_ARGUMENTS) {
  (void)length;
  for (; in > 0; in -= BLOCK_INPUTS) {
    const float *scales = (const float *)(const void *)panel, *head = x;
    vec acc[BLOCKS_TILE_ROWS][2];
    clear(rows, acc);
    panel += SCALE_BYTES;
    x += LEFT_HEAD * width;
#pragma clang loop unroll(disable)
    for (int i = 0; i < STEPS; i++, x += width, panel += VECTOR) add_bytes(rows, acc, x, panel);
    add_pairs(rows, acc);
    finish(rows, sums, acc, head, width, scales);
  }
}
TILE(byte_inputs, 2)
TILE(byte_inputs, 4)

KERNEL static void byte_inputs_row(ROW_ARGUMENTS) {
  vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
  (void)length;
  for (; in > 0; in -= BLOCK_INPUTS) {
    const vec x_scale = vec_load_splat(x), start = vec_load_splat(x + 1);
    const uint8_t *block = panel;
    vec acc[2][2];
    clear(2, acc);
    panel += SCALE_BYTES;
    x += LEFT_HEAD;
#pragma clang loop unroll(disable)
    for (int i = 0; i < STEPS; i++, x++, panel += VECTOR) {
      add_bytes(1, acc, x, panel);
      add_bytes(1, acc + 1, x, panel + second);
    }
    add_pairs(2, acc);
    add_blocks(total, acc, block, second, x_scale, start);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) vec_store(sums + 4 * i, total[i]);
}
#else
#define byte_inputs_4 nibbles_4
#define byte_inputs_2 byte_inputs_4 /* not called, because no tile has two rows without lanes of bytes */
#define byte_inputs_row nibbles_row
#endif

/* ---- products ---- */

/* sums(rows, 8) += the minimums, each times the sum of x over its block. */
static void add_minimums(float *sums, size_t rows, const float *x, size_t width, const float *minimums, block_form form,
                         size_t in) {
  const size_t size = (LEFT_HEAD + STEPS * step_lanes(form)) * width;
  for (; in > 0; in -= BLOCK_INPUTS, x += size) {
    for (size_t half = 0; half < BLOCK_INPUTS / block_length(form); half++, minimums += TILE_COLS) {
      for (size_t r = 0; r < rows; r++) {
        const float *sum = x + 2 * width + r;
        const vec by = vec_splat(block_length(form) == BLOCK_INPUTS ? sum[0] + sum[width] : sum[half * width]);
        for (size_t c = 0; c < TILE_COLS; c += 4) {
          float *to = sums + r * TILE_COLS + c;
          vec_store(to, vec_add(vec_load(to), vec_mul(by, vec_load(minimums + c))));
        }
      }
    }
  }
}

/* y(columns) = sums + bias */
static void store_row(float *y, const float *sums, const float *bias, size_t columns) {
  for (size_t i = 0; i < columns; i++) y[i] = bias ? sums[i] + bias[i] : sums[i];
}

typedef struct {
  const gemm_product *product;
  const gemm_left *x;
  block_form form;
  size_t kernels; /* index of the kernels: 0 bytes, 1 nibbles, 2 nibbles with inputs of bytes */
  size_t left_row, panel_bytes;
} job;

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Computes the columns from..to−1 of one row. Each panel of the first half is multiplied together with one of the
 * second half. */
static void row_range(const job *j, size_t r, size_t from, size_t to) {
  const gemm_product *p = j->product;
  const size_t in = j->x->in, panels = (to - from + TILE_COLS - 1) / TILE_COLS, half = (panels + 1) / 2;
  const size_t other = panels - half; /* if the number is odd, the panel in the middle is in both halves */
  const float *left = j->x->panels + r * j->left_row;
  const uint8_t *panel = panel_of(p->weight, j->form, from, in);
  static row *const ROWS[] = {bytes_row, nibbles_row, byte_inputs_row};
  for (size_t i = 0; i < half; i++, panel += j->panel_bytes) {
    float sums[2 * TILE_COLS];
    ROWS[j->kernels](sums, left, panel, other * j->panel_bytes, in, block_length(j->form));
    for (size_t s = 0; s < 2; s++) {
      const size_t column = from + (i + s * other) * TILE_COLS;
      float *sum = sums + s * TILE_COLS;
      if (has_minimums(j->form))
        add_minimums(sum, 1, left, 1, minimums_of(panel + s * other * j->panel_bytes, j->form, in), j->form, in);
      store_row(p->y + r * p->out + column, sum, p->bias ? p->bias + column : NULL, min_size(to - column, TILE_COLS));
    }
  }
}

/* Multiplies a tile of rows with a panel of the weight. */
static void tile_at(const job *j, size_t first, size_t rows, size_t column, size_t columns) {
  static tile *const TILES[] = {bytes_4, nibbles_4, byte_inputs_4};
  const gemm_product *p = j->product;
  const gemm_left *x = j->x;
  const float *left = x->panels + first * j->left_row;
  const uint8_t *panel = panel_of(p->weight, j->form, column, x->in);
  float sums[BLOCKS_TILE_ROWS * TILE_COLS] = {0};
  tile *const multiply = x->width == 2 ? byte_inputs_2 : TILES[j->kernels];
  multiply(sums, left, x->width, panel, x->in, block_length(j->form));
  if (has_minimums(j->form))
    add_minimums(sums, rows, left, x->width, minimums_of(panel, j->form, x->in), j->form, x->in);
  for (size_t r = 0; r < rows; r++)
    store_row(p->y + (first + r) * p->out + column, sums + r * TILE_COLS, p->bias ? p->bias + column : NULL, columns);
}

void gemm_blocks_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  const block_form form = gemm_blocks_packed_form(p->weight);
  const size_t kernels = has_byte_inputs(form) ? 2 : code_bits(form) == 4;
  const job j = {p, x, form, kernels, gemm_blocks_left_row_floats(x->in), (size_t)panel_bytes(form, x->in)};
  if (x->width == 1) {
    for (size_t r = first; r < last; r++) row_range(&j, r, from, to);
    return;
  }
  for (size_t column = from; column < to; column += TILE_COLS) {
    for (size_t r = first; r < last; r += x->width)
      tile_at(&j, r, min_size(last - r, x->width), column, min_size(to - column, TILE_COLS));
  }
}
