#include "attention/validate.h"

static void copy(float *to, const float *from, size_t count) { __builtin_memcpy(to, from, count * sizeof(float)); }

hl_status hl_cache_append(float *present, const float *past, const float *fresh, uint32_t batch, uint32_t kv_heads,
                          uint32_t past_keys, uint32_t keys, uint32_t width, uint32_t fresh_batch_stride,
                          uint32_t fresh_head_stride, uint32_t fresh_row_stride) {
  const hl_stride stride = {fresh_batch_stride, fresh_head_stride, fresh_row_stride};
  if (!cache_fits(present, past, fresh, batch, kv_heads, past_keys, keys, width, &stride)) return HL_BAD_SHAPE;
  if (width == 0 || (past_keys == 0 && keys == 0)) return HL_OK;
  const size_t heads = (size_t)batch * kv_heads, past_size = (size_t)past_keys * width;
  for (size_t i = 0; i < heads; i++) {
    float *to = present + i * (past_size + (size_t)keys * width);
    if (past_keys > 0) copy(to, past + i * past_size, past_size);
    for (size_t s = 0; s < keys; s++) {
      const float *from = fresh + i / kv_heads * fresh_batch_stride + i % kv_heads * fresh_head_stride;
      copy(to + past_size + s * width, from + s * fresh_row_stride, width);
    }
  }
  return HL_OK;
}
