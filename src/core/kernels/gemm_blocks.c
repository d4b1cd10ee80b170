#include "kernels/gemm_blocks_layout.h"

INLINE void add_words(int rows, vec acc[][2], const float *x, const vec words[2]) {
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) {
    const vec xr = vec_load_splat(x + r);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) acc[r][c] = bits_add(acc[r][c], words_dot(xr, words[c]));
  }
}

/* Sums of a block: of words in the relaxed flavour, where eight steps of 15 · 127 · 2 fit into a word; otherwise of
 * 32-bit integers. */
#if HL_SIMD_RELAXED_BYTES
INLINE void add_nibbles(int rows, vec acc[][2], const float *x, size_t width, const uint8_t *codes) {
  const vec mask = bits_splat(0x0f0f0f0f), both = bytes_load(codes);
  const vec w[2] = {bits_and(both, mask), bits_and(words_shift_right(both, 4), mask)};
  (void)width;
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r++) {
    const vec xr = vec_load_splat(x + r);
#pragma clang loop unroll(full)
    for (int c = 0; c < 2; c++) acc[r][c] = words_add(acc[r][c], bytes_dot_words(xr, w[c]));
  }
}
INLINE vec nibble_sum(vec acc) { return words_add_pairs(acc); }
#else
INLINE void add_nibbles(int rows, vec acc[][2], const float *x, size_t width, const uint8_t *codes) {
  const vec mask = bits_splat(0x000f000f), all = bytes_load(codes);
  const vec even[2] = {bits_and(all, mask), bits_and(words_shift_right(all, 4), mask)};
  const vec odd[2] = {bits_and(words_shift_right(all, 8), mask), words_shift_right(all, 12)};
  add_words(rows, acc, x, even);
  add_words(rows, acc, x + width, odd);
}
INLINE vec nibble_sum(vec acc) { return acc; }
#endif

INLINE void add_bytes(int rows, vec acc[][2], const float *x, size_t width, const uint8_t *codes) {
  vec even[2], odd[2];
#pragma clang loop unroll(full)
  for (int c = 0; c < 2; c++) {
    const vec all = bytes_load(codes + c * VECTOR);
    even[c] = words_shift_right_signed(words_shift_left(all, 8), 8);
    odd[c] = words_shift_right_signed(all, 8);
  }
  add_words(rows, acc, x, even);
  add_words(rows, acc, x + width, odd);
}

/* total += scale · x_scale · (start + acc). Each operation is rounded, because a fused one gives other bits. */
INLINE vec add_block(vec total, vec acc, vec start, const float *scales, vec x_scale) {
  return vec_add(total, vec_mul(vec_from_integers(bits_add(acc, start)), vec_mul(vec_load(scales), x_scale)));
}

/* sums(rows, 8) += the product of `rows` lanes of a panel of x with a panel of weights, without its minimums. */
#define TILE_ARGUMENTS float *sums, const float *x, size_t width, const uint8_t *panel, size_t in, size_t length

INLINE void nibbles(int rows, TILE_ARGUMENTS) {
  const size_t lanes = width * (HL_SIMD_RELAXED_BYTES ? 1 : 2);
  (void)length;
  for (; in > 0; in -= BLOCK_INPUTS) {
    const float *scales = (const float *)(const void *)panel, *head = x;
    vec acc[BLOCKS_TILE_ROWS][2];
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = bits_splat(0);
    panel += SCALE_BYTES;
    x += LEFT_HEAD * width;
#pragma clang loop unroll_count(2)
    for (int i = 0; i < STEPS; i++, x += lanes, panel += VECTOR) add_nibbles(rows, acc, x, width, panel);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; r++) {
      const vec x_scale = vec_load_splat(head + r), start = vec_load_splat(head + width + r);
#pragma clang loop unroll(full)
      for (int c = 0; c < 2; c++) {
        float *sum = sums + r * TILE_COLS + 4 * c;
        vec_store(sum, add_block(vec_load(sum), nibble_sum(acc[r][c]), start, scales + 4 * c, x_scale));
      }
    }
  }
}

INLINE void bytes(int rows, TILE_ARGUMENTS) {
  for (; in > 0; in -= BLOCK_INPUTS) {
    const float *head = x;
    x += LEFT_HEAD * width;
    for (size_t k = 0; k < BLOCK_INPUTS; k += length) {
      const float *scales = (const float *)(const void *)panel;
      vec acc[BLOCKS_TILE_ROWS][2];
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = bits_splat(0);
      panel += SCALE_BYTES;
#pragma clang loop unroll(disable)
      for (const uint8_t *end = panel + length * TILE_COLS; panel != end; x += 2 * width, panel += 2 * VECTOR)
        add_bytes(rows, acc, x, width, panel);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; r++) {
        const vec x_scale = vec_load_splat(head + r);
#pragma clang loop unroll(full)
        for (int c = 0; c < 2; c++) {
          float *sum = sums + r * TILE_COLS + 4 * c;
          vec_store(sum, add_block(vec_load(sum), acc[r][c], bits_splat(0), scales + 4 * c, x_scale));
        }
      }
    }
  }
}

/* Two panels and one row: both panels are read as a stream of their own, which is faster than one stream. The second
 * begins `second` bytes after the first, and its sums follow those of the first. */
#define ROW_ARGUMENTS float *sums, const float *x, const uint8_t *panel, size_t second, size_t in, size_t length

KERNEL static void nibbles_row(ROW_ARGUMENTS) {
  vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
  (void)length;
  for (; in > 0; in -= BLOCK_INPUTS) {
    const float *scales = (const float *)(const void *)panel, *head = x;
    vec acc[2][2] = {{bits_splat(0), bits_splat(0)}, {bits_splat(0), bits_splat(0)}};
    panel += SCALE_BYTES;
    x += LEFT_HEAD;
#pragma clang loop unroll_count(2)
    for (int i = 0; i < STEPS; i++, x += HL_SIMD_RELAXED_BYTES ? 1 : 2, panel += VECTOR) {
      add_nibbles(1, acc, x, 1, panel);
      add_nibbles(1, acc + 1, x, 1, panel + second);
    }
    const vec x_scale = vec_load_splat(head), start = vec_load_splat(head + 1);
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++)
      total[i] = add_block(total[i], nibble_sum(acc[i / 2][i % 2]), start,
                           scales + (size_t)(i / 2) * second / sizeof(float) + 4 * (i % 2), x_scale);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) vec_store(sums + 4 * i, total[i]);
}

KERNEL static void bytes_row(ROW_ARGUMENTS) {
  vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
  for (; in > 0; in -= BLOCK_INPUTS) {
    const vec x_scale = vec_load_splat(x);
    x += LEFT_HEAD;
    for (size_t k = 0; k < BLOCK_INPUTS; k += length) {
      const float *scales = (const float *)(const void *)panel;
      vec acc[2][2] = {{bits_splat(0), bits_splat(0)}, {bits_splat(0), bits_splat(0)}};
      panel += SCALE_BYTES;
#pragma clang loop unroll_count(2)
      for (const uint8_t *end = panel + length * TILE_COLS; panel != end; x += 2, panel += 2 * VECTOR) {
        add_bytes(1, acc, x, 1, panel);
        add_bytes(1, acc + 1, x, 1, panel + second);
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < 4; i++)
        total[i] = add_block(total[i], acc[i / 2][i % 2], bits_splat(0),
                             scales + (size_t)(i / 2) * second / sizeof(float) + 4 * (i % 2), x_scale);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) vec_store(sums + 4 * i, total[i]);
}

typedef void tile(TILE_ARGUMENTS);

#define TILE(form, n)                                                                                                  \
  KERNEL static void form##_##n(TILE_ARGUMENTS) { form(n, sums, x, width, panel, in, length); }
TILE(nibbles, 2)
TILE(nibbles, 4)
TILE(bytes, 2)
TILE(bytes, 4)

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
  size_t left_row, panel_bytes;
} job;

/* One row and the columns from..to−1: panels of the first half together with those of the second. */
static void row_range(const job *j, size_t row, size_t from, size_t to) {
  const gemm_product *p = j->product;
  const size_t in = j->x->in, panels = (to - from + TILE_COLS - 1) / TILE_COLS, half = (panels + 1) / 2;
  const size_t other = panels - half; /* if the number is odd, the panel in the middle is in both halves */
  const float *left = j->x->panels + row * j->left_row;
  const uint8_t *panel = panel_of(p->weight, j->form, from, in);
  for (size_t i = 0; i < half; i++, panel += j->panel_bytes) {
    float sums[2 * TILE_COLS];
    (code_bits(j->form) == 4 ? nibbles_row : bytes_row)(sums, left, panel, other * j->panel_bytes, in,
                                                        block_length(j->form));
    for (size_t s = 0; s < 2; s++) {
      const size_t column = from + (i + s * other) * TILE_COLS;
      float *sum = sums + s * TILE_COLS;
      if (has_minimums(j->form))
        add_minimums(sum, 1, left, 1, minimums_of(panel + s * other * j->panel_bytes, j->form, in), j->form, in);
      const size_t columns = to - column < TILE_COLS ? to - column : TILE_COLS;
      store_row(p->y + row * p->out + column, sum, p->bias ? p->bias + column : NULL, columns);
    }
  }
}

/* A tile of rows and a panel of weights. */
static void tile_at(const job *j, size_t row, size_t rows, size_t column, size_t columns) {
  const gemm_product *p = j->product;
  const gemm_left *x = j->x;
  const float *left = x->panels + row * j->left_row;
  const uint8_t *panel = panel_of(p->weight, j->form, column, x->in);
  float sums[BLOCKS_TILE_ROWS * TILE_COLS] = {0};
  tile *const multiply = code_bits(j->form) == 4 ? x->width == 2 ? nibbles_2 : nibbles_4
                         : x->width == 2         ? bytes_2
                                                 : bytes_4;
  multiply(sums, left, x->width, panel, x->in, block_length(j->form));
  if (has_minimums(j->form))
    add_minimums(sums, rows, left, x->width, minimums_of(panel, j->form, x->in), j->form, x->in);
  for (size_t r = 0; r < rows; r++)
    store_row(p->y + (row + r) * p->out + column, sums + r * TILE_COLS, p->bias ? p->bias + column : NULL, columns);
}

void gemm_blocks_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  const block_form form = gemm_blocks_packed_form(p->weight);
  const job j = {p, x, form, gemm_blocks_left_row_floats(x->in), (size_t)panel_bytes(form, x->in)};
  if (x->width == 1) {
    for (size_t row = first; row < last; row++) row_range(&j, row, from, to);
    return;
  }
  for (size_t column = from; column < to; column += TILE_COLS) {
    const size_t columns = to - column < TILE_COLS ? to - column : TILE_COLS;
    for (size_t row = first; row < last; row += x->width)
      tile_at(&j, row, last - row < x->width ? last - row : x->width, column, columns);
  }
}
