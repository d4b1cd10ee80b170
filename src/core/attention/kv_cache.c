#include "attention/cache_row.h"
#include "attention/validate.h"
#include "base/check.h"
#include "base/elements.h"

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

typedef struct {
  float *rows_out;    /* (B,G,rows,width) */
  float *cache;       /* (B,G,capacity,row) */
  const float *fresh; /* (B,G,rows,width), strided */
  hl_stride stride;
  size_t kv_heads, first, rows, capacity, width;
  hl_keys type;
} job;

/* Returns the address at which the cache stores fresh row `row`, counted over all B·G·rows fresh rows. */
static float *cache_row(const job *j, size_t row) {
  const size_t index = row / j->rows * j->capacity + j->first + row % j->rows;
  return j->cache + index * hl_cache_row_size((uint32_t)j->width, j->type);
}

static void store_row(const void *arg, size_t row) {
  const job *j = arg;
  const size_t head = row / j->rows;
  const float *from = j->fresh + head / j->kv_heads * j->stride.batch + head % j->kv_heads * j->stride.head +
                      row % j->rows * j->stride.row;
  cache_row_store(cache_row(j, row), from, j->width, j->type);
}

static void load_row(const void *arg, size_t row) {
  const job *j = arg;
  cache_row_load(j->rows_out + row * j->width, cache_row(j, row), j->width, j->type);
}

static bool has_cache(const void *cache, double heads, double rows, uint32_t capacity, uint32_t width, uint32_t type) {
  return rows <= capacity && has_floats(cache, heads * capacity * hl_cache_row_size(width, type));
}

hl_status hl_cache_store(void *cache, const float *fresh, uint32_t batch, uint32_t kv_heads, uint32_t first,
                         uint32_t rows, uint32_t capacity, uint32_t width, uint32_t fresh_batch_stride,
                         uint32_t fresh_head_stride, uint32_t fresh_row_stride, uint32_t type) {
  const hl_stride stride = {fresh_batch_stride, fresh_head_stride, fresh_row_stride};
  const double heads = (double)batch * kv_heads;
  if (type > HL_KEYS_INT8) return HL_BAD_ARGUMENT;
  if (!has_cache(cache, heads, (double)first + rows, capacity, width, type) ||
      !has_rows(fresh, batch, kv_heads, rows, width, &stride))
    return HL_BAD_SHAPE;
  const job j = {.cache = cache,
                 .fresh = fresh,
                 .stride = stride,
                 .kv_heads = kv_heads,
                 .first = first,
                 .rows = rows,
                 .capacity = capacity,
                 .width = width,
                 .type = type};
  if (width > 0 && rows > 0) elements_for_each_row(store_row, &j, (size_t)batch * kv_heads * rows, width, 2);
  return HL_OK;
}

hl_status hl_cache_load(float *rows_out, const void *cache, uint32_t batch, uint32_t kv_heads, uint32_t rows,
                        uint32_t capacity, uint32_t width, uint32_t type) {
  const double heads = (double)batch * kv_heads;
  if (type != HL_KEYS_FLOAT16 && type != HL_KEYS_INT8) return HL_BAD_ARGUMENT;
  if (!has_cache(cache, heads, rows, capacity, width, type) || !has_floats(rows_out, heads * rows * width))
    return HL_BAD_SHAPE;
  const job j = {
      .rows_out = rows_out, .cache = (float *)cache, .rows = rows, .capacity = capacity, .width = width, .type = type};
  if (width > 0 && rows > 0) elements_for_each_row(load_row, &j, (size_t)batch * kv_heads * rows, width, 2);
  return HL_OK;
}
