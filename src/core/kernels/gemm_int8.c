#include "kernels/gemm_int8_layout.h"

/* Pointers into one group of a packed panel, with its number of blocks. */
typedef struct {
  const uint8_t *bits, *bytes, *end;
  size_t blocks;
} group;

INLINE group group_at(const uint8_t *packed, size_t blocks) {
  blocks = min_size(blocks, GROUP_BLOCKS);
  const uint8_t *bits = packed + SCALES, *bytes = bits + blocks * VECTOR;
  return (group){bits, bytes, bytes + blocks * BLOCK_BYTES, blocks};
}

/* Number of groups of a panel that are multiplied at a time. Unpacked, they take 8 KB of the first-level cache. */
enum { GROUPS = 4 };

/* Weights of eight columns, packed and unpacked: words for pairs, the bytes of d for quads. */
typedef struct {
  const uint8_t *packed;
  size_t blocks;
  float scales[GROUPS][TILE_COLS];
  uint8_t unpacked[GROUPS * GROUP * TILE_COLS * 2];
} weights;

/* Unpacks a vector of pairs. Their ninth bits are in the lowest bit of the bytes of `bits`, which is shifted for the
 * next vector. */
INLINE void pair_words(vec words[2], vec bytes, vec *bits) {
  const vec ninth = bits_and(*bits, bits_splat(0x01010101));
  words[0] = bytes_interleave_low(bytes, ninth);
  words[1] = bytes_interleave_high(bytes, ninth);
  *bits = words_shift_right(*bits, 1);
}

/* Returns d for a vector of c, in quads (see gemm_int8.h). The bits are shifted for the next vector. */
INLINE vec quad_bytes(vec bytes, vec *bits) {
  const vec result = bytes_add(bytes, bits_and(*bits, bits_splat(0x01010101)));
  *bits = words_shift_right(*bits, 1);
  return result;
}

/* Unpacks the words of pairs, or d of quads, once for all tiles. Even for a single tile this is not slower than
 * unpacking in the loop, if the tile has three rows or more. */
KERNEL static void unpack_weights(weights *w, bool as_quads) {
  const uint8_t *from = w->packed;
  uint8_t *to = w->unpacked;
  for (size_t remaining = w->blocks; remaining > 0; remaining -= min_size(remaining, GROUP_BLOCKS)) {
    group g = group_at(from, remaining);
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

/* Steps of the kernels, which compute integer sums over a group, for `rows` rows and eight columns. */
INLINE void start(int rows, vec acc[][2], const float *starts) {
  for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = vec_load_splat(starts + r);
}

INLINE void add_words(int rows, vec acc[][2], const float *x, const vec words[2]) {
  for (int r = 0; r < rows; r++) {
    vec xr = vec_load_splat(x + r);
    for (int i = 0; i < 2; i++) acc[r][i] = bits_add(acc[r][i], words_dot(xr, words[i]));
  }
}

INLINE void add_bytes(int rows, vec acc[][2], const float *x, const vec bytes[2]) {
  for (int r = 0; r < rows; r++) {
    vec xr = vec_load_splat(x + r);
    for (int i = 0; i < 2; i++) acc[r][i] = bytes_dot(xr, bytes[i], acc[r][i]);
  }
}

INLINE void step_bytes(int rows, vec acc[][2], const float *x, const uint8_t *bytes) {
  const vec loaded[2] = {bytes_load(bytes), bytes_load(bytes + VECTOR)};
  add_bytes(rows, acc, x, loaded);
}

/* sums(rows, 8) += factor · scales · acc */
INLINE void finish(int rows, float *sums, vec acc[][2], const float *scales, float factor) {
  const vec s0 = vec_mul(vec_load(scales), vec_splat(factor)), s1 = vec_mul(vec_load(scales + 4), vec_splat(factor));
  for (int r = 0; r < rows; r++, sums += TILE_COLS) {
    vec_store(sums, vec_fma(vec_from_integers(acc[r][0]), s0, vec_load(sums)));
    vec_store(sums + 4, vec_fma(vec_from_integers(acc[r][1]), s1, vec_load(sums + 4)));
  }
}

#define KERNEL_ARGUMENTS float *sums, const float *x, size_t width, const weights *w

INLINE void pairs_unpacked(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *words = w->unpacked;
  const float *scales = w->scales[0];
  for (size_t remaining = w->blocks; remaining > 0;
       remaining -= min_size(remaining, GROUP_BLOCKS), scales += TILE_COLS) {
    vec acc[INT8_TILE_ROWS][2];
    start(rows, acc, x);
    x += width;
    for (const uint8_t *end = words + min_size(remaining, GROUP_BLOCKS) * (2 * BLOCK_BYTES); words != end; x += width) {
      const vec loaded[2] = {bytes_load(words), bytes_load(words + VECTOR)};
      add_words(rows, acc, x, loaded);
      words += 2 * VECTOR;
    }
    finish(rows, sums, acc, scales, 1);
  }
}

INLINE void pairs_packed(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed;
  const float *scales = w->scales[0];
  for (size_t remaining = w->blocks; remaining > 0;
       remaining -= min_size(remaining, GROUP_BLOCKS), scales += TILE_COLS) {
    vec acc[INT8_TILE_ROWS][2];
    start(rows, acc, x);
    x += width;
    group g = group_at(from, remaining);
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

/* Computes both products, a · c and b · d, in one loop. Each sum depends on the previous one, so one product of two
 * rows has too few independent sums. */
INLINE void quads_packed(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed;
  const float *scales = w->scales[0];
  for (size_t remaining = w->blocks; remaining > 0;
       remaining -= min_size(remaining, GROUP_BLOCKS), scales += TILE_COLS) {
    group g = group_at(from, remaining);
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

/* Computes one product after the other, because the sums of both would not fit into the registers. The first step is
 * before the loop, because V8 keeps sums in memory if they enter a loop as copies of one another. */
INLINE void quads_unpacked(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed, *unpacked = w->unpacked;
  const float *scales = w->scales[0];
  for (size_t remaining = w->blocks; remaining > 0;
       remaining -= min_size(remaining, GROUP_BLOCKS), scales += TILE_COLS) {
    const group g = group_at(from, remaining);
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
      /* Prevents loading of the sums before the loop, in which no register is free. */
      __asm__ volatile("" ::: "memory");
      finish(rows, sums, acc, scales, factor);
      bytes = unpacked;
      factor = LOW;
    }
    unpacked += size;
    from = g.end;
  }
}

typedef void tile(KERNEL_ARGUMENTS);

#define TILE(n, form, how)                                                                                             \
  KERNEL static void form##_##n(KERNEL_ARGUMENTS) { form##_##how(n, sums, x, width, w); }
/* Kernels by the number of rows. A single row is multiplied together with the row of zeros next to it. */
#define TILES(form, few, many)                                                                                         \
  TILE(2, form, few)                                                                                                   \
  TILE(3, form, many)                                                                                                  \
  TILE(4, form, many)                                                                                                  \
  TILE(5, form, many) static tile *const form[] = {NULL, form##_2, form##_2, form##_3, form##_4, form##_5};
TILES(pairs, packed, unpacked)
TILES(quads, packed, unpacked)

/* Smallest number of rows for which weights are unpacked. */
enum { UNPACK_MIN_ROWS = 3 };

static void unpack_scales(weights *w, float unit) {
  const uint8_t *from = w->packed;
  float(*scales)[TILE_COLS] = w->scales;
  for (size_t remaining = w->blocks; remaining > 0; remaining -= min_size(remaining, GROUP_BLOCKS), scales++) {
    const vec halves = bytes_load(from), zero = bits_splat(0);
    vec_store(*scales, vec_mul(words_interleave_low(zero, halves), vec_splat(unit)));
    vec_store(*scales + 4, vec_mul(words_interleave_high(zero, halves), vec_splat(unit)));
    from = group_at(from, remaining).end;
  }
}

/* Rows whose sums are buffered at a time. */
enum { BUFFER_ROWS = 130 };

/* Computes sums(rows, 8) for `rows` rows of x, starting at row `first`. */
static void multiply_panel(float *sums, const gemm_left *x, size_t first, size_t rows, const uint8_t *panel,
                           bool as_quads) {
  const size_t left_row = gemm_int8_left_row_floats(x->in);
  const float *left = x->panels + first * left_row + x->width;
  weights w;
  for (size_t i = 0; i < round_up(rows, 2) * TILE_COLS; i += 4) vec_store(sums + i, vec_splat(0));
  for (size_t k = 0; k < x->in; k += GROUPS * GROUP) {
    w.packed = panel;
    w.blocks = (min_size(x->in - k, GROUPS * GROUP) + BLOCK - 1) / BLOCK;
    unpack_scales(&w, as_quads ? 2 : 1);
    if (x->width >= UNPACK_MIN_ROWS) unpack_weights(&w, as_quads);
    for (size_t r = 0; r < rows; r += x->width) {
      tile *multiply = (as_quads ? quads : pairs)[min_size(rows - r, x->width)];
      multiply(sums + r * TILE_COLS, left + r * left_row, x->width, &w);
    }
    left += x->width * (w.blocks * (BLOCK / 2) + GROUPS * (as_quads ? 2 : 1));
    panel += panel_bytes((uint64_t)GROUPS * GROUP);
  }
}

/* y(columns) = scale · sums + bias */
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

/* total += factor · scales · acc, for the eight columns whose group is at `packed`. */
INLINE void add_scaled(vec total[2], const uint8_t *packed, const vec acc[2], float factor) {
  const vec halves = bytes_load(packed), zero = bits_splat(0);
  const vec scales[2] = {words_interleave_low(zero, halves), words_interleave_high(zero, halves)};
  for (int i = 0; i < 2; i++)
    total[i] = vec_fma(vec_from_integers(acc[i]), vec_mul(scales[i], vec_splat(factor)), total[i]);
}

/* Parameters of a kernel that multiplies one row with `panels` panels, and with as many panels that begin
 * `second_bytes` bytes after the first ones. The sums of the latter are stored at an offset of `second_sums`. Panels
 * are contiguous, so the weight is read as two streams, which is faster than one. The sums of groups are added in the
 * same order as in the tiles above, so the bits are equal. */
#define ROW_ARGUMENTS                                                                                                  \
  float *sums, size_t second_sums, const float *x, const uint8_t *from, size_t second_bytes, size_t panels, size_t in

KERNEL static void quads_row(ROW_ARGUMENTS) {
  for (; panels > 0; panels--, sums += TILE_COLS) {
    const float *left = x;
    vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t blocks = (in + BLOCK - 1) / BLOCK; blocks > 0; blocks -= min_size(blocks, GROUP_BLOCKS)) {
      const group g = group_at(from, blocks);
      const size_t part = 1 + g.blocks * (BLOCK / 4);
      const uint8_t *bits_from = g.bits, *bytes = g.bytes;
      vec ac[4], bd[4];
      for (int i = 0; i < 4; i++) ac[i] = vec_load_splat(left), bd[i] = vec_load_splat(left + part);
      left++;
      for (; bytes != g.end; bits_from += VECTOR) {
        vec bits[2] = {bytes_load(bits_from), bytes_load(bits_from + second_bytes)};
#pragma clang loop unroll(full)
        for (const uint8_t *end = bytes + BLOCK_BYTES; bytes != end; bytes += 2 * VECTOR, left++) {
          const vec a = vec_load_splat(left), b = vec_load_splat(left + part);
          for (int i = 0; i < 4; i++) {
            const vec c = bytes_load(bytes + i / 2 * second_bytes + i % 2 * VECTOR);
            ac[i] = bytes_dot(a, c, ac[i]);
            bd[i] = bytes_dot(b, quad_bytes(c, &bits[i / 2]), bd[i]);
          }
        }
      }
      left += part;
      for (int i = 0; i < 4; i += 2) {
        add_scaled(total + i, from + i / 2 * second_bytes, ac + i, 2 * HIGH);
        add_scaled(total + i, from + i / 2 * second_bytes, bd + i, 2 * LOW);
      }
      from = g.end;
    }
    for (int i = 0; i < 4; i++) vec_store(sums + i / 2 * second_sums + i % 2 * 4, total[i]);
  }
}

KERNEL static void pairs_row(ROW_ARGUMENTS) {
  for (; panels > 0; panels--, sums += TILE_COLS) {
    const float *left = x;
    vec total[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    for (size_t blocks = (in + BLOCK - 1) / BLOCK; blocks > 0; blocks -= min_size(blocks, GROUP_BLOCKS)) {
      const group g = group_at(from, blocks);
      const uint8_t *bits_from = g.bits, *bytes = g.bytes;
      vec acc[4];
      for (int i = 0; i < 4; i++) acc[i] = vec_load_splat(left);
      left++;
      for (; bytes != g.end; bits_from += VECTOR) {
        vec bits[2] = {bytes_load(bits_from), bytes_load(bits_from + second_bytes)};
#pragma clang loop unroll_count(2)
        for (const uint8_t *end = bytes + BLOCK_BYTES; bytes != end; bytes += VECTOR, left++) {
          const vec xi = vec_load_splat(left);
          for (int p = 0; p < 2; p++) {
            vec words[2];
            pair_words(words, bytes_load(bytes + p * second_bytes), &bits[p]);
            for (int j = 0; j < 2; j++) acc[2 * p + j] = bits_add(acc[2 * p + j], words_dot(xi, words[j]));
          }
        }
      }
      for (int i = 0; i < 4; i += 2) add_scaled(total + i, from + i / 2 * second_bytes, acc + i, 1);
      from = g.end;
    }
    for (int i = 0; i < 4; i++) vec_store(sums + i / 2 * second_sums + i % 2 * 4, total[i]);
  }
}

enum { ROW_PANELS = 24 };

static void row_range(const gemm_product *p, const gemm_left *x, size_t row, size_t from, size_t to, bool as_quads) {
  const float *left = x->panels + row * gemm_int8_left_row_floats(x->in);
  for (size_t j = from; j < to; j += ROW_PANELS * TILE_COLS) {
    float sums[ROW_PANELS * TILE_COLS];
    const size_t columns = min_size(to - j, ROW_PANELS * TILE_COLS), panels = (columns + TILE_COLS - 1) / TILE_COLS;
    const size_t half = (panels + 1) / 2,
                 other = panels - half; /* if the number is odd, both halves contain the panel in the middle */
    (as_quads ? quads_row : pairs_row)(sums, other * TILE_COLS, left + 1, panel_of(p->weight, j, x->in),
                                       other * (size_t)panel_bytes(x->in), half, x->in);
    for (size_t c = 0; c < columns; c += TILE_COLS) {
      const size_t count = min_size(columns - c, TILE_COLS);
      float bias[TILE_COLS] = {0};
      for (size_t i = 0; p->bias && i < count; i++) bias[i] = p->bias[j + c + i];
      store_row(p->y + row * p->out + j + c, sums + c, *left, bias, count);
    }
  }
}

void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  const bool as_quads = HL_SIMD_RELAXED && gemm_int8_packed_form(p->weight) != INT8_PAIRS;
  const size_t buffered = BUFFER_ROWS / x->width * x->width, left_row = gemm_int8_left_row_floats(x->in);
  if (x->width == 1) {
    for (size_t row = first; row < last; row++) row_range(p, x, row, from, to, as_quads);
    return;
  }
  for (size_t j = from; j < to; j += TILE_COLS) {
    const size_t columns = min_size(to - j, TILE_COLS);
    float bias[TILE_COLS] = {0}, sums[BUFFER_ROWS * TILE_COLS];
    for (size_t i = 0; p->bias && i < columns; i++) bias[i] = p->bias[j + i];
    for (size_t row = first; row < last; row += buffered) {
      const size_t rows = min_size(last - row, buffered);
      multiply_panel(sums, x, row, rows, panel_of(p->weight, j, x->in), as_quads);
      for (size_t r = 0; r < rows; r++) {
        const size_t lane = r % x->width;
        const float scale = x->panels[(row + r - lane) * left_row + lane];
        store_row(p->y + (row + r) * p->out + j, sums + r * TILE_COLS, scale, bias, columns);
      }
    }
  }
}
