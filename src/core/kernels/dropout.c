#include "kernels/dropout.h"

#include "base/simd.h"

/* Maps 32-bit integers one to one, so that every input bit flips every output bit with a probability of about ½. The
 * constants were found by a search for the lowest bias. */
static uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x21f0aaadu;
  x = (x ^ x >> 15) * 0xd35a2d97u;
  return x ^ x >> 15;
}

INLINE vec vec_mix(vec x) {
  x = bits_mul(bits_xor(x, bits_shift_right(x, 16)), bits_splat(0x21f0aaadu));
  x = bits_mul(bits_xor(x, bits_shift_right(x, 15)), bits_splat(0xd35a2d97u));
  return bits_xor(x, bits_shift_right(x, 15));
}

static void apply_given_mask(float *panel, const dropout *d, size_t row, uint32_t queries, size_t key, size_t keys,
                             float scale) {
  for (size_t c = 0; c < queries; c++) {
    const uint8_t *keep = d->keep + (row + c) * d->keys + key;
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t s = 0; s < keys; s++) panel[s * TILE_COLS + c] *= keep[s] ? scale : 0;
  }
}

/* Each row has two random words: one is added to the index of the key before the first mix, the other is combined with
 * the result before the second mix. */
static void apply_seeded_mask(float *panel, const dropout *d, size_t row, size_t key, size_t keys, float scale) {
  uint32_t start[TILE_COLS], stream[TILE_COLS];
#pragma clang loop vectorize(disable) unroll(disable)
  for (uint32_t c = 0; c < TILE_COLS; c++) {
    start[c] = mix(d->seed[0] + mix((uint32_t)row + c));
    stream[c] = mix(d->seed[1] ^ mix(start[c] + 0x9E3779B9u));
  }
  const vec threshold = bits_splat((uint32_t)((double)d->probability * 4294967296.0));
  const vec factor = vec_splat(scale);
  for (size_t c = 0; c < TILE_COLS; c += 4) {
    vec first = bits_load(start + c), second = bits_load(stream + c);
    for (size_t s = 0; s < keys; s++) {
      float *at = panel + s * TILE_COLS + c;
      vec random = vec_mix(bits_xor(vec_mix(bits_add(first, bits_splat((uint32_t)(key + s)))), second));
      vec_store(at, vec_zero_where(bits_less(random, threshold), vec_mul(vec_load(at), factor)));
    }
  }
}

void dropout_panel(float *panel, const dropout *d, size_t row, uint32_t queries, size_t key, size_t keys) {
  if (d->probability == 1) {
    for (size_t i = 0; i < keys * TILE_COLS; i += 4) vec_store(panel + i, vec_splat(0));
  } else if (d->keep) {
    apply_given_mask(panel, d, row, queries, key, keys, 1 / (1 - d->probability));
  } else {
    apply_seeded_mask(panel, d, row, key, keys, 1 / (1 - d->probability));
  }
}
