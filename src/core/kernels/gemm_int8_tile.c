#include "kernels/gemm_int8_layout.h"

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

/* The words are made once for all tiles: with one tile, of three rows or more, that costs no more than making them in
 * the loop. */
KERNEL void int8_open_words(int8_weights *w) {
  const uint8_t *from = w->packed;
  uint8_t *to = w->open;
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS)) {
    group g = group_at(from, left);
    from = g.end;
    for (; g.bytes != g.end; g.bits += VECTOR) {
      vec bits = bytes_load(g.bits), words[2];
#pragma clang loop unroll(disable)
      for (const uint8_t *end = g.bytes + BLOCK_BYTES; g.bytes != end; g.bytes += VECTOR, to += 2 * VECTOR) {
        pair_words(words, bytes_load(g.bytes), &bits);
        bytes_store(to, words[0]);
        bytes_store(to + VECTOR, words[1]);
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

/* sums(rows, 8) += factor · scales · acc */
VERB void finish(int rows, float *sums, vec acc[][2], const float *scales, float factor) {
  const vec s0 = vec_mul(vec_load(scales), vec_splat(factor)), s1 = vec_mul(vec_load(scales + 4), vec_splat(factor));
  for (int r = 0; r < rows; r++, sums += TILE_COLS) {
    vec_store(sums, vec_fma(vec_of_bits(acc[r][0]), s0, vec_load(sums)));
    vec_store(sums + 4, vec_fma(vec_of_bits(acc[r][1]), s1, vec_load(sums + 4)));
  }
}

#define KERNEL_ARGUMENTS float *sums, const float *x, size_t width, const int8_weights *w

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

/* First one, then the other: sums of both would not fit the registers. The second product is unrolled, which makes it a
 * quarter faster. */
VERB void quads_each(int rows, KERNEL_ARGUMENTS) {
  const uint8_t *from = w->packed;
  const float *scales = w->scales[0];
  for (size_t left = w->blocks; left > 0; left -= least(left, GROUP_BLOCKS), scales += TILE_COLS) {
    group g = group_at(from, left);
    from = g.end;
#pragma clang loop unroll(disable)
    for (int part = 0; part < 2; part++) {
      vec acc[INT8_TILE_ROWS][2];
      start(rows, acc, x);
      x += width;
      if (part == 0) {
        for (const uint8_t *at = g.bytes; at != g.end; x += width, at += 2 * VECTOR) {
          const vec c[2] = {bytes_load(at), bytes_load(at + VECTOR)};
          add_bytes(rows, acc, x, c);
        }
      } else {
        for (; g.bytes != g.end; g.bits += VECTOR) {
          vec bits = bytes_load(g.bits);
#pragma clang loop unroll(full)
          for (int i = 0; i < BLOCK / 4; i++, x += width, g.bytes += 2 * VECTOR) {
            vec d[2];
            for (int j = 0; j < 2; j++) d[j] = quad_bytes(bytes_load(g.bytes + j * VECTOR), &bits);
            add_bytes(rows, acc, x, d);
          }
        }
      }
      finish(rows, sums, acc, scales, part == 0 ? HIGH : LOW);
    }
  }
}

#define TILE(n, form, how)                                                                                             \
  KERNEL static void form##_##n(KERNEL_ARGUMENTS) { form##_##how(n, sums, x, width, w); }
#define TILES(form, few, many)                                                                                         \
  TILE(1, form, few)                                                                                                   \
  TILE(2, form, few)                                                                                                   \
  TILE(3, form, many)                                                                                                  \
  TILE(4, form, many)                                                                                                  \
  TILE(5, form, many) int8_tile *const int8_##form[] = {form##_1, form##_2, form##_3, form##_4, form##_5};
TILES(pairs, packed, open)
TILES(quads, both, each)
