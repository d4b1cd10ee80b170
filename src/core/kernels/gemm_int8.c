#include "kernels/gemm_int8_layout.h"

/* The next group of a packed panel, of at most so many blocks. */
typedef struct {
  const uint8_t *bits, *bytes, *end;
  size_t blocks;
} group;

VERB group group_at(const uint8_t *packed, size_t blocks) {
  blocks = least(blocks, GROUP_BLOCKS);
  const uint8_t *bits = packed + SCALES, *bytes = bits + blocks * VECTOR;
  return (group){bits, bytes, bytes + blocks * BLOCK_BYTES, blocks};
}

/* Groups of a panel that are multiplied at a time: opened, they take 8 KB of the first-level cache. */
enum { GROUPS = 4 };

/* Weights of eight columns, packed and opened: as words for pairs, the bytes of d for quads. */
typedef struct {
  const uint8_t *packed;
  size_t blocks;
  float scales[GROUPS][TILE_COLS];
  uint8_t open[GROUPS * GROUP * TILE_COLS * 2];
} weights;

/* A vector of pairs, whose ninth bits come to the lowest of their bytes one after the other. */
VERB void pair_words(vec words[2], vec bytes, vec *bits) {
  const vec ninth = bits_and(*bits, bits_splat(0x01010101));
  words[0] = words_of_bytes_first(bytes, ninth);
  words[1] = words_of_bytes_last(bytes, ninth);
  *bits = words_shift_right(*bits, 1);
}

/* d of a vector c. */
VERB vec quad_bytes(vec bytes, vec *bits) {
  const vec result = bytes_add(bytes, bits_and(*bits, bits_splat(0x01010101)));
  *bits = words_shift_right(*bits, 1);
  return result;
}

/* The words of pairs, or d of quads, are made once for all tiles: with one tile, of three rows or more, that costs no
 * more than making them in the loop. */
KERNEL static void open_weights(weights *w, bool as_quads) {
  const uint8_t *from = w->packed;
  uint8_t *to = w->open;
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS)) {
    group g = group_at(from, left);
    from = g.end;
    for (; g.bytes != g.end; g.bits += VECTOR) {
      vec bits = bytes_load(g.bits), words[2];
#pragma clang loop unroll(disable)
      for (const uint8_t *end = g.bytes + BLOCK_BYTES; g.bytes != end; g.bytes += VECTOR, to += VECTOR) {
        if (as_quads) {
          bytes_store(to, quad_bytes(bytes_load(g.bytes), &bits));
        } else {
          pair_words(words, bytes_load(g.bytes), &bits);
          bytes_store(to, words[0]);
          to += VECTOR;
          bytes_store(to, words[1]);
        }
      }
    }
  }
}

/* What the kernels are made of: sums of integers, over a group, of `rows` rows and eight columns. */
VERB void start(int rows, vec acc[][2], const float *starts) {
  for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = vec_load_splat(starts + r);
}

VERB void add_words(int rows, vec acc[][2], const float *x, const vec words[2]) {
  for (int r = 0; r < rows; r++) {
    vec xr = vec_load_splat(x + r);
    for (int i = 0; i < 2; i++) acc[r][i] = bits_add(acc[r][i], words_dot(xr, words[i]));
  }
}

VERB void add_bytes(int rows, vec acc[][2], const float *x, const vec bytes[2]) {
  for (int r = 0; r < rows; r++) {
    vec xr = vec_load_splat(x + r);
    for (int i = 0; i < 2; i++) acc[r][i] = bytes_dot(xr, bytes[i], acc[r][i]);
  }
}

VERB void step_bytes(int rows, vec acc[][2], const float *x, const uint8_t *bytes) {
  const vec some[2] = {bytes_load(bytes), bytes_load(bytes + VECTOR)};
  add_bytes(rows, acc, x, some);
}

/* sums(rows, 8) += factor · scales · acc */
VERB void finish(int rows, float *sums, vec acc[][2], const float *scales, float factor) {
  const vec s0 = vec_mul(vec_load(scales), vec_splat(factor)), s1 = vec_mul(vec_load(scales + 4), vec_splat(factor));
  for (int r = 0; r < rows; r++, sums += TILE_COLS) {
    vec_store(sums, vec_fma(vec_of_bits(acc[r][0]), s0, vec_load(sums)));
    vec_store(sums + 4, vec_fma(vec_of_bits(acc[r][1]), s1, vec_load(sums + 4)));
  }
}

#define KERNEL_ARGUMENTS float *sums, const float *x, size_t width, const weights *w

VERB void pairs_open(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *words = w->open;
  const float *scales = w->scales[0];
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales += TILE_COLS) {
    vec acc[INT8_TILE_ROWS][2];
    start(rows, acc, x);
    x += width;
    for (const uint8_t *end = words + least(left, GROUP_BLOCKS) * (2 * BLOCK_BYTES); words != end; x += width) {
      const vec some[2] = {bytes_load(words), bytes_load(words + VECTOR)};
      add_words(rows, acc, x, some);
      words += 2 * VECTOR;
    }
    finish(rows, sums, acc, scales, 1);
  }
}

VERB void pairs_packed(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed;
  const float *scales = w->scales[0];
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales += TILE_COLS) {
    vec acc[INT8_TILE_ROWS][2];
    start(rows, acc, x);
    x += width;
    group g = group_at(from, left);
    from = g.end;
    for (; g.bytes != g.end; g.bits += VECTOR) {
      vec bits = bytes_load(g.bits);
#pragma clang loop unroll_count(2)
      for (int i = 0; i < BLOCK / 2; i++, x += width, g.bytes += VECTOR) {
        vec words[2];
        pair_words(words, bytes_load(g.bytes), &bits);
        add_words(rows, acc, x, words);
      }
    }
    finish(rows, sums, acc, scales, 1);
  }
}

/* Both products at a time, a · c and b · d: each sum depends on the one before it, and two rows have few sums. */
VERB void quads_both(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed;
  const float *scales = w->scales[0];
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales += TILE_COLS) {
    group g = group_at(from, left);
    from = g.end;
    const size_t part = (1 + g.blocks * (BLOCK / 4)) * width;
    vec ac[INT8_TILE_ROWS][2], bd[INT8_TILE_ROWS][2];
    start(rows, ac, x);
    start(rows, bd, x + part);
    x += width;
    for (; g.bytes != g.end; g.bits += VECTOR) {
      vec bits = bytes_load(g.bits);
      for (int i = 0; i < BLOCK / 4; i++, x += width, g.bytes += 2 * VECTOR) {
        const vec c[2] = {bytes_load(g.bytes), bytes_load(g.bytes + VECTOR)};
        vec d[2];
        for (int j = 0; j < 2; j++) d[j] = quad_bytes(c[j], &bits);
        add_bytes(rows, ac, x, c);
        add_bytes(rows, bd, x + part, d);
      }
    }
    x += part;
    finish(rows, sums, ac, scales, HIGH);
    finish(rows, sums, bd, scales, LOW);
  }
}

/* First one, then the other: sums of both would not fit the registers. The first step stands before the loop: sums that
 * enter a loop as copies of one another are kept in memory by V8. */
VERB void quads_open(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed, *opened = w->open;
  const float *scales = w->scales[0];
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales += TILE_COLS) {
    const group g = group_at(from, left);
    const uint8_t *bytes = g.bytes;
    const size_t size = g.blocks * BLOCK_BYTES;
    float factor = HIGH;
#pragma clang loop unroll(disable)
    for (int part = 0; part < 2; part++) {
      vec acc[INT8_TILE_ROWS][2];
      start(rows, acc, x);
      x += width;
      const uint8_t *end = bytes + size;
      step_bytes(rows, acc, x, bytes);
      for (x += width, bytes += 2 * VECTOR; bytes != end; x += width, bytes += 2 * VECTOR)
        step_bytes(rows, acc, x, bytes);
      /* Otherwise the sums would be taken into registers before the loop, which has none left. */
      __asm__ volatile("" ::: "memory");
      finish(rows, sums, acc, scales, factor);
      bytes = opened;
      factor = LOW;
    }
    opened += size;
    from = g.end;
  }
}

typedef void tile(KERNEL_ARGUMENTS);

#define TILE(n, form, how)                                                                                             \
  KERNEL static void form##_##n(KERNEL_ARGUMENTS) { form##_##how(n, sums, x, width, w); }
/* By the number of rows. A row that is left alone is multiplied with the zeros beside it. */
#define TILES(form, few, many)                                                                                         \
  TILE(2, form, few)                                                                                                   \
  TILE(3, form, many)                                                                                                  \
  TILE(4, form, many)                                                                                                  \
  TILE(5, form, many) static tile *const form[] = {NULL, form##_2, form##_2, form##_3, form##_4, form##_5};
TILES(pairs, packed, open)
TILES(quads, both, open)

/* The rows from which on they are many. */
enum { OPENED_FROM = 3 };

static void open_scales(weights *w, float unit) {
  const uint8_t *from = w->packed;
  float(*scales)[TILE_COLS] = w->scales;
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales++) {
    const vec halves = bytes_load(from), zero = bits_splat(0);
    vec_store(*scales, vec_mul(bits_of_words_first(zero, halves), vec_splat(unit)));
    vec_store(*scales + 4, vec_mul(bits_of_words_last(zero, halves), vec_splat(unit)));
    from = group_at(from, left).end;
  }
}

/* Rows whose sums are held at a time. */
enum { HELD_ROWS = 130 };

/* sums(rows, 8) of rows first.. of x. */
static void multiply_panel(float *sums, const gemm_left *x, size_t first, size_t rows, const uint8_t *panel,
                           bool as_quads) {
  const size_t left_row = gemm_int8_left_row(x->in);
  const float *left = x->panels + first * left_row + x->width;
  weights w;
  for (size_t i = 0; i < round_up(rows, 2) * TILE_COLS; i += 4) vec_store(sums + i, vec_splat(0));
  for (size_t k = 0; k < x->in; k += GROUPS * GROUP) {
    w.packed = panel;
    w.blocks = (least(x->in - k, GROUPS * GROUP) + BLOCK - 1) / BLOCK;
    open_scales(&w, as_quads ? 2 : 1);
    if (x->width >= OPENED_FROM) open_weights(&w, as_quads);
    for (size_t r = 0; r < rows; r += x->width) {
      tile *run = (as_quads ? quads : pairs)[least(rows - r, x->width)];
      run(sums + r * TILE_COLS, left + r * left_row, x->width, &w);
    }
    left += x->width * (w.blocks * (BLOCK / 2) + GROUPS * (as_quads ? 2 : 1));
    panel += panel_bytes((uint64_t)GROUPS * GROUP);
  }
}

/* A row of y: scale · sums + bias. */
static void store_row(float *y, const float *sums, float scale, const float *bias, size_t columns) {
  float row[TILE_COLS];
  for (int i = 0; i < TILE_COLS; i += 4)
    vec_store(row + i, vec_fma(vec_splat(scale), vec_load(sums + i), vec_load(bias + i)));
  if (columns == TILE_COLS) {
    for (int i = 0; i < TILE_COLS; i += 4) vec_store(y + i, vec_load(row + i));
  } else {
    for (size_t i = 0; i < columns; i++) y[i] = row[i];
  }
}

/* ---- a single row ---- */

/* total += factor · scales · acc, of the eight columns whose group is at `packed`. */
VERB void gather(vec total[2], const uint8_t *packed, const vec acc[2], float factor) {
  const vec halves = bytes_load(packed), zero = bits_splat(0);
  const vec scales[2] = {bits_of_words_first(zero, halves), bits_of_words_last(zero, halves)};
  for (int i = 0; i < 2; i++) total[i] = vec_fma(vec_of_bits(acc[i]), vec_mul(scales[i], vec_splat(factor)), total[i]);
}

/* So many panels, and as many that begin `apart` bytes further on, whose sums lie `away` from the others. Panels lie
 * one after the other: so the weight is read as two streams, which memory gives faster than one. The sums of groups are
 * added in the order of the tiles above, so the bits are the same. */
#define ROW_ARGUMENTS                                                                                                  \
  float *sums, size_t away, const float *x, const uint8_t *from, size_t apart, size_t panels, size_t in

KERNEL static void quads_row(ROW_ARGUMENTS) {
  for (; panels > 0; panels--, sums += TILE_COLS) {
    const float *left = x;
    vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t blocks = (in + BLOCK - 1) / BLOCK; blocks > 0; blocks -= least(blocks, GROUP_BLOCKS)) {
      const group g = group_at(from, blocks);
      const size_t part = 1 + g.blocks * (BLOCK / 4);
      const uint8_t *bits_from = g.bits, *bytes = g.bytes;
      vec ac[4], bd[4];
      for (int i = 0; i < 4; i++) ac[i] = vec_load_splat(left), bd[i] = vec_load_splat(left + part);
      left++;
      for (; bytes != g.end; bits_from += VECTOR) {
        vec bits[2] = {bytes_load(bits_from), bytes_load(bits_from + apart)};
#pragma clang loop unroll(full)
        for (const uint8_t *end = bytes + BLOCK_BYTES; bytes != end; bytes += 2 * VECTOR, left++) {
          const vec a = vec_load_splat(left), b = vec_load_splat(left + part);
          for (int i = 0; i < 4; i++) {
            const vec c = bytes_load(bytes + i / 2 * apart + i % 2 * VECTOR);
            ac[i] = bytes_dot(a, c, ac[i]);
            bd[i] = bytes_dot(b, quad_bytes(c, &bits[i / 2]), bd[i]);
          }
        }
      }
      left += part;
      for (int i = 0; i < 4; i += 2) {
        gather(total + i, from + i / 2 * apart, ac + i, 2 * HIGH);
        gather(total + i, from + i / 2 * apart, bd + i, 2 * LOW);
      }
      from = g.end;
    }
    for (int i = 0; i < 4; i++) vec_store(sums + i / 2 * away + i % 2 * 4, total[i]);
  }
}

KERNEL static void pairs_row(ROW_ARGUMENTS) {
  for (; panels > 0; panels--, sums += TILE_COLS) {
    const float *left = x;
    vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t blocks = (in + BLOCK - 1) / BLOCK; blocks > 0; blocks -= least(blocks, GROUP_BLOCKS)) {
      const group g = group_at(from, blocks);
      const uint8_t *bits_from = g.bits, *bytes = g.bytes;
      vec acc[4];
      for (int i = 0; i < 4; i++) acc[i] = vec_load_splat(left);
      left++;
      for (; bytes != g.end; bits_from += VECTOR) {
        vec bits[2] = {bytes_load(bits_from), bytes_load(bits_from + apart)};
#pragma clang loop unroll_count(2)
        for (const uint8_t *end = bytes + BLOCK_BYTES; bytes != end; bytes += VECTOR, left++) {
          const vec xi = vec_load_splat(left);
          for (int p = 0; p < 2; p++) {
            vec words[2];
            pair_words(words, bytes_load(bytes + p * apart), &bits[p]);
            for (int j = 0; j < 2; j++) acc[2 * p + j] = bits_add(acc[2 * p + j], words_dot(xi, words[j]));
          }
        }
      }
      for (int i = 0; i < 4; i += 2) gather(total + i, from + i / 2 * apart, acc + i, 1);
      from = g.end;
    }
    for (int i = 0; i < 4; i++) vec_store(sums + i / 2 * away + i % 2 * 4, total[i]);
  }
}

enum { ROW_PANELS = 24 };

static void row_range(const gemm_product *p, const gemm_left *x, size_t row, size_t from, size_t to, bool as_quads) {
  const float *left = x->panels + row * gemm_int8_left_row(x->in);
  for (size_t j = from; j < to; j += ROW_PANELS * TILE_COLS) {
    float sums[ROW_PANELS * TILE_COLS];
    const size_t columns = least(to - j, ROW_PANELS * TILE_COLS), panels = (columns + TILE_COLS - 1) / TILE_COLS;
    const size_t half = (panels + 1) / 2, other = panels - half; /* of an odd number the one in the middle is in both */
    (as_quads ? quads_row : pairs_row)(sums, other * TILE_COLS, left + 1, panel_of(p->weight, j, x->in),
                                       other * (size_t)panel_bytes(x->in), half, x->in);
    for (size_t c = 0; c < columns; c += TILE_COLS) {
      const size_t some = least(columns - c, TILE_COLS);
      float bias[TILE_COLS] = {0};
      for (size_t i = 0; p->bias && i < some; i++) bias[i] = p->bias[j + c + i];
      store_row(p->y + row * p->out + j + c, sums + c, *left, bias, some);
    }
  }
}

void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  const bool as_quads = HL_SIMD_RELAXED && gemm_int8_form_of(p->weight) != INT8_PAIRS;
  const size_t held = HELD_ROWS / x->width * x->width, left_row = gemm_int8_left_row(x->in);
  if (x->width == 1) {
    for (size_t row = first; row < last; row++) row_range(p, x, row, from, to, as_quads);
    return;
  }
  for (size_t j = from; j < to; j += TILE_COLS) {
    const size_t columns = least(to - j, TILE_COLS);
    float bias[TILE_COLS] = {0}, sums[HELD_ROWS * TILE_COLS];
    for (size_t i = 0; p->bias && i < columns; i++) bias[i] = p->bias[j + i];
    for (size_t row = first; row < last; row += held) {
      const size_t rows = least(last - row, held);
      multiply_panel(sums, x, row, rows, panel_of(p->weight, j, x->in), as_quads);
      for (size_t r = 0; r < rows; r++) {
        const size_t lane = r % x->width;
        const float scale = x->panels[(row + r - lane) * left_row + lane];
        store_row(p->y + (row + r) * p->out + j, sums + r * TILE_COLS, scale, bias, columns);
      }
    }
  }
}
