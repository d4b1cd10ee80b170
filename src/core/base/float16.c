#include "base/float16.h"

#include <stdbool.h>

#define SIGN 0x80000000u
#define INFINITE 0x7F800000u

/* Converts to float16, in the lower 16 bits of each lane. If the result is a normal number, half a unit of the last
 * digit is added to the bits, minus one if that digit is 0 (ties to even), and the difference of the exponent biases,
 * 112, is subtracted. If the result is smaller, ½ is added to the number, which leaves the rounded digits in the lowest
 * bits. */
INLINE vec narrow(vec x) {
  const vec sign = bits_and(x, bits_splat(SIGN)), size = bits_xor(x, sign);
  const vec odd = bits_and(bits_shift_right(size, 13), bits_splat(1));
  const vec normal = bits_shift_right(bits_add(bits_add(size, odd), bits_splat(0xFFF - (112u << 23))), 13);
  const vec small = bits_add(vec_add(size, vec_splat(0.5f)), bits_splat(-0x3F000000u));
  vec result = vec_select(bits_less(size, bits_splat(113u << 23)), small, normal);
  result = vec_select(bits_less(size, bits_splat(143u << 23)), result, bits_splat(0x7C00));
  result = vec_select(bits_less(bits_splat(INFINITE), size), bits_splat(0x7E00), result);
  return bits_or(result, bits_shift_right(sign, 16));
}

/* Converts from float16. The multiplication by 2¹¹² corrects the exponent bias, for denormal numbers too. */
INLINE vec widen(vec x) {
  const vec size = bits_shift_left(bits_and(x, bits_splat(0x7FFF)), 13);
  const vec number = vec_mul(size, vec_splat(0x1p112f));
  const vec finite = bits_less(size, bits_splat(0x7C00u << 13));
  const vec sign = bits_shift_left(bits_and(x, bits_splat(0x8000)), 16);
  return bits_or(vec_select(finite, number, bits_or(size, bits_splat(INFINITE))), sign);
}

static void store_eight(uint16_t *to, const float *from) {
  halves_store(to, halves_narrow(narrow(vec_load(from)), narrow(vec_load(from + 4))));
}

/* Converts eight numbers. The bits of a bfloat16 are the upper half of the bits of a float32. */
static void load_eight(float *to, const uint16_t *from, bool bfloat) {
  const vec x = halves_load(from), zero = bits_splat(0);
  if (bfloat) {
    vec_store(to, words_interleave_low(zero, x));
    vec_store(to + 4, words_interleave_high(zero, x));
  } else {
    vec_store(to, widen(words_interleave_low(x, zero)));
    vec_store(to + 4, widen(words_interleave_high(x, zero)));
  }
}

void float16_store(uint16_t *to, const float *from, size_t count) {
  float padded[8] = {0};
  uint16_t narrowed[8];
  size_t i = 0;
  for (; i + 8 <= count; i += 8) store_eight(to + i, from + i);
  if (i == count) return;
  __builtin_memcpy(padded, from + i, (count - i) * sizeof(float));
  store_eight(narrowed, padded);
  __builtin_memcpy(to + i, narrowed, (count - i) * sizeof(uint16_t));
}

static void load(float *to, const uint16_t *from, size_t count, bool bfloat) {
  uint16_t padded[8] = {0};
  float widened[8];
  size_t i = 0;
  for (; i + 8 <= count; i += 8) load_eight(to + i, from + i, bfloat);
  if (i == count) return;
  __builtin_memcpy(padded, from + i, (count - i) * sizeof(uint16_t));
  load_eight(widened, padded, bfloat);
  __builtin_memcpy(to + i, widened, (count - i) * sizeof(float));
}

void float16_load(float *to, const uint16_t *from, size_t count) { load(to, from, count, false); }
void bfloat16_load(float *to, const uint16_t *from, size_t count) { load(to, from, count, true); }
