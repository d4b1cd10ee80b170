#include "attention/kv_gradient.h"

#include "attention/tile.h"
#include "base/panel.h"

static size_t key_rows(const hl_attention_args *a) { return round_up(total_keys(a), TILE_COLS); }

double kv_gradient_floats(const hl_attention_args *a) {
  return (double)key_rows(a) * ((double)a->width + a->value_width);
}

double kv_gradient_parts_floats(const hl_attention_args *a, uint32_t part_count) {
  return part_count > 1 ? (double)a->batch * a->kv_heads * part_count * kv_gradient_floats(a) : 0;
}

double kv_gradient_appended_floats(const hl_attention_args *a) {
  return (double)a->batch * a->appended * a->kv_heads * ((double)a->width + a->value_width);
}

float *kv_gradient_value(const hl_attention_args *a, float *panels) { return panels + key_rows(a) * a->width; }

static float *part_panels(const kv_gradients *g, const head_part *h) {
  const hl_attention_args *a = &g->args->attention;
  const size_t head = (size_t)h->batch * a->kv_heads + h->kv_head;
  return g->parts + (head * g->part_count + h->part) * (size_t)kv_gradient_floats(a);
}

float *kv_gradient_begin(const kv_gradients *g, float *scratch, const head_part *h) {
  float *panels = g->part_count > 1 ? part_panels(g, h) : scratch;
  panel_zero(panels, (size_t)kv_gradient_floats(&g->args->attention) / TILE_COLS);
  return panels;
}

/* Copies the gradients of the appended keys (or values) of one head from its panels to to(E,width). */
static void store_appended(float *to, size_t stride, const float *panels, const hl_attention_args *a, size_t width) {
  for (size_t e = 0; e < a->appended; e++) {
    size_t key = a->keys + e, lane = key % TILE_COLS;
    for (size_t d = 0; d < width; d++) to[e * stride + d] = panels[(key - lane) * width + d * TILE_COLS + lane];
  }
}

static void store_keys(float *to, size_t stride, const float *panels, const hl_attention_args *a, size_t width) {
  for (size_t s = 0; s < a->keys; s += TILE_COLS) {
    panel_store(to + s * stride, stride, panels + s * width, width, a->keys - s < TILE_COLS ? a->keys - s : TILE_COLS);
  }
}

static size_t appended_row(const hl_attention_args *a) {
  return (size_t)a->kv_heads * ((size_t)a->width + a->value_width);
}

static void store(const kv_gradients *g, float *d_key, const head_part *h) {
  const hl_attention_args *a = &g->args->attention;
  const size_t keys_row = (size_t)a->kv_heads * a->width, row = appended_row(a);
  const float *d_value = kv_gradient_value(a, d_key);
  float *appended = g->appended + (size_t)h->batch * a->appended * row;
  panel_multiply(d_key, key_rows(a) / TILE_COLS * a->width, a->scale);
  store_keys(head_start(g->args->d_key, &a->key_stride, h->batch, h->kv_head), a->key_stride.row, d_key, a, a->width);
  store_keys(head_start(g->args->d_value, &a->value_stride, h->batch, h->kv_head), a->value_stride.row, d_value, a,
             a->value_width);
  store_appended(appended + (size_t)h->kv_head * a->width, row, d_key, a, a->width);
  store_appended(appended + keys_row + (size_t)h->kv_head * a->value_width, row, d_value, a, a->value_width);
}

void kv_gradient_end(const kv_gradients *g, float *panels, const head_part *h) {
  if (g->part_count == 1) store(g, panels, h);
}

void kv_gradient_join(const void *arg, uint32_t thread, const head_part *h) {
  const kv_gradients *g = arg;
  const size_t floats = (size_t)kv_gradient_floats(&g->args->attention);
  float *sum = part_panels(g, h);
  (void)thread;
  for (size_t part = 1; part < g->part_count; part++) panel_sum(sum, sum + part * floats, floats / TILE_COLS);
  store(g, sum, h);
}

static void sum_appended(const kv_gradients *g, float *to, size_t from, size_t width) {
  const hl_attention_args *a = &g->args->attention;
  const size_t row = appended_row(a);
  for (size_t e = 0; to && e < a->appended; e++) {
    for (size_t i = 0; i < width; i++) {
      float sum = 0;
      for (size_t b = 0; b < a->batch; b++) sum += g->appended[(b * a->appended + e) * row + from + i];
      to[e * width + i] = sum;
    }
  }
}

void kv_gradient_sum_appended(const kv_gradients *g) {
  const hl_attention_args *a = &g->args->attention;
  const size_t keys_row = (size_t)a->kv_heads * a->width;
  sum_appended(g, g->args->d_appended_key, 0, keys_row);
  sum_appended(g, g->args->d_appended_value, keys_row, (size_t)a->kv_heads * a->value_width);
}
