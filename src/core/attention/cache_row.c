#include "attention/cache_row.h"

#include <stdbool.h>

#include "base/float16.h"
#include "kernels/rounding.h"

/* Magnitude of the largest integer. The integers are −127..127, so that a number and its negative have the same
 * magnitude. */
#define LEVELS 127

uint32_t hl_cache_row_size(uint32_t width, uint32_t type) {
  const uint32_t groups = width / CACHE_GROUP + (width % CACHE_GROUP > 0);
  return type == HL_KEYS_INT8 ? 1 + groups * 2 : type == HL_KEYS_FLOAT16 ? groups * 4 : width;
}

static void store_bytes(float *row, const float x[CACHE_GROUP], vec scale) {
  const vec words = words_narrow(vec_round(vec_div(vec_load(x), scale)), vec_round(vec_div(vec_load(x + 4), scale)));
  vec_store_half(row, bytes_narrow(words, words));
}

static void store_groups(float *row, const float *numbers, size_t width, bool bytes) {
  const float scale = bytes ? rounding_step(largest_magnitude(numbers, width), LEVELS) : 1;
  if (bytes) *row++ = scale;
  for (size_t d = 0; d < width; d += CACHE_GROUP, row += bytes ? 2 : 4) {
    float x[CACHE_GROUP] = {0};
    __builtin_memcpy(x, numbers + d, (width - d < CACHE_GROUP ? width - d : CACHE_GROUP) * sizeof *x);
    if (bytes) store_bytes(row, x, vec_splat(scale));
    else float16_store((uint16_t *)(void *)row, x, CACHE_GROUP);
  }
}

void cache_row_store(float *row, const float *numbers, size_t width, hl_keys type) {
  if (type == HL_KEYS_FLOAT32) __builtin_memcpy(row, numbers, width * sizeof *row);
  else store_groups(row, numbers, width, type == HL_KEYS_INT8);
}

void cache_row_load(float *numbers, const float *row, size_t width, hl_keys type) {
  if (type == HL_KEYS_FLOAT16) {
    float16_load(numbers, (const uint16_t *)(const void *)row, width);
    return;
  }
  const int8_t *bytes = (const int8_t *)(row + 1);
  for (size_t d = 0; d < width; d++) numbers[d] = *row * (float)bytes[d];
}
