#include "base/stored.h"

#include "base/check.h"
#include "base/float16.h"
#include "base/simd.h"

/* Their bits are the upper half of those of a float32. */
static void bfloat16_load(float *to, const uint16_t *from, size_t count) {
  const vec zero = bits_splat(0);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const vec x = halves_load(from + i);
    vec_store(to + i, bits_of_words_first(zero, x));
    vec_store(to + i + 4, bits_of_words_last(zero, x));
  }
  for (; i < count; i++) {
    const uint32_t bits = (uint32_t)from[i] << 16;
    __builtin_memcpy(to + i, &bits, sizeof bits);
  }
}

void stored_load(float *to, const void *from, hl_stored stored, size_t count) {
  if (stored == HL_STORED_F32) __builtin_memcpy(to, from, count * sizeof(float));
  else if (stored == HL_STORED_F16) float16_load(to, from, count);
  else bfloat16_load(to, from, count);
}

hl_status hl_stored_load(float *to, const void *from, uint32_t stored, uint32_t count) {
  if (stored > HL_STORED_BF16) return HL_BAD_ARGUMENT;
  if (!has_floats(to, count) || !has_floats(from, (double)count * (double)stored_bytes(stored) / sizeof(float)))
    return HL_BAD_SHAPE;
  if (count > 0) stored_load(to, from, stored, count);
  return HL_OK;
}
