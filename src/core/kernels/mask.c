#include "kernels/mask.h"

#include "base/simd.h"

static uint32_t clamp(int64_t x, uint32_t most) { return x < 0 ? 0 : x > most ? most : (uint32_t)x; }

static bool has_interval(const hl_attention_args *args) {
  return args->causal || args->window_left >= 0 || args->window_right >= 0 || args->valid_lens;
}

/* Causal, window and length leave one query an interval of the S keys; appended keys come on top. */
static span interval(const hl_attention_args *args, uint32_t batch, uint32_t query) {
  int64_t position = (int64_t)query + (args->offset ? args->offset[batch] : 0);
  int64_t from = 0, to = args->keys;
  if (args->causal && to > position + 1) to = position + 1;
  if (args->window_right >= 0 && to > position + args->window_right + 1) to = position + args->window_right + 1;
  if (args->window_left >= 0) from = position - args->window_left;
  if (args->valid_lens) {
    const uint32_t *stride = args->valid_lens_stride;
    int32_t length = args->valid_lens[(size_t)batch * stride[0] + (size_t)query * stride[1]];
    if (to > length) to = length;
  }
  span s = {clamp(from, args->keys), clamp(to, args->keys)};
  if (s.from > s.to) s.from = s.to;
  return s;
}

span mask_span(const hl_attention_args *args, uint32_t batch, uint32_t first, uint32_t queries) {
  uint32_t all = args->keys + args->appended;
  if (args->fill > -__builtin_inff() || !has_interval(args)) return (span){0, all};
  span hull = {args->keys, 0};
  for (uint32_t t = first; t < first + queries; t++) {
    span s = interval(args, batch, t);
    if (s.from == s.to) continue;
    if (hull.from > s.from) hull.from = s.from;
    if (hull.to < s.to) hull.to = s.to;
  }
  if (args->appended) hull.to = all;
  if (hull.from > hull.to) hull.from = hull.to;
  return hull;
}

static const uint8_t *mask_row(const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t query) {
  const hl_broadcast *s = &args->mask_stride;
  return args->mask + (size_t)batch * s->batch + (size_t)head * s->head + (size_t)query * s->query;
}

static const uint8_t *padding_row(const hl_attention_args *args, uint32_t batch) {
  return args->key_padding + (size_t)batch * args->key_padding_stride[0];
}

bool mask_sees(const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t query, uint32_t key) {
  if (key >= args->keys) return true;
  span s = interval(args, batch, query);
  return key >= s.from && key < s.to &&
         (!args->mask || mask_row(args, batch, head, query)[(size_t)key * args->mask_stride.key]) &&
         (!args->key_padding || padding_row(args, batch)[(size_t)key * args->key_padding_stride[1]]);
}

static void hide_where_zero(float *column, const uint8_t *sees, size_t stride, size_t keys, float fill) {
  for (size_t s = 0; s < keys; s++) {
    if (!sees[s * stride]) column[s * TILE_COLS] = fill;
  }
}

/* One query: its scores are `column`, TILE_COLS apart. Hidden scores are replaced after the bias is added,
 * so that nothing of them remains, NaN neither. */
static void mask_column(float *column, const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t query,
                        uint32_t key, uint32_t keys) {
  if (args->bias) {
    const hl_broadcast *b = &args->bias_stride;
    const float *bias = args->bias + (size_t)batch * b->batch + (size_t)head * b->head + (size_t)query * b->query +
                        (size_t)key * b->key;
    for (size_t s = 0; s < keys; s++) column[s * TILE_COLS] += bias[s * b->key];
  }
  if (args->mask) {
    size_t stride = args->mask_stride.key;
    hide_where_zero(column, mask_row(args, batch, head, query) + key * stride, stride, keys, args->fill);
  }
  if (args->key_padding) {
    size_t stride = args->key_padding_stride[1];
    hide_where_zero(column, padding_row(args, batch) + key * stride, stride, keys, args->fill);
  }
  span seen = interval(args, batch, query);
  for (uint32_t s = 0; s < keys && key + s < seen.from; s++) column[(size_t)s * TILE_COLS] = args->fill;
  for (uint32_t s = seen.to > key ? seen.to - key : 0; s < keys; s++) column[(size_t)s * TILE_COLS] = args->fill;
}

bool mask_hides(const hl_attention_args *args) { return args->mask || args->key_padding || has_interval(args); }

void mask_panel(float *panel, const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t first,
                uint32_t queries, uint32_t key, uint32_t keys) {
  if (key >= args->keys || !(args->bias || mask_hides(args))) return;
  if (keys > args->keys - key) keys = args->keys - key;
  for (uint32_t c = 0; c < queries; c++) mask_column(panel + c, args, batch, head, first + c, key, keys);
}
