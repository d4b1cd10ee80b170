#include "base/stored_type.h"

#include "base/check.h"
#include "base/float16.h"

bool has_stored(const void *numbers, hl_stored stored, double count) {
  return has_floats(numbers, count * (double)stored_bytes(stored) / sizeof(float));
}

void stored_load(float *to, const void *from, hl_stored stored, size_t count) {
  if (stored == HL_STORED_F32) __builtin_memcpy(to, from, count * sizeof(float));
  else if (stored == HL_STORED_F16) float16_load(to, from, count);
  else bfloat16_load(to, from, count);
}

hl_status hl_stored_load(float *to, const void *from, uint32_t stored, uint32_t count) {
  if (stored > HL_STORED_BF16) return HL_BAD_ARGUMENT;
  if (!has_floats(to, count) || !has_stored(from, stored, count)) return HL_BAD_SHAPE;
  if (count > 0) stored_load(to, from, stored, count);
  return HL_OK;
}
