#include "attention/packed_keys.h"

#include "base/panel.h"

double packed_keys_floats(const hl_attention_args *a) { return (double)round_up(total_keys(a), TILE_ROWS) * a->width; }
double packed_values_floats(const hl_attention_args *a) {
  return (double)total_keys(a) * (double)round_up(a->value_width, TILE_ROWS);
}

void packed_append(float *packed, const hl_attention_args *a, const float *appended, size_t width, uint32_t kv_head) {
  for (size_t e = 0; e < a->appended; e++) {
    size_t row = a->keys + e, lane = row % TILE_ROWS;
    float *panel = packed + (row - lane) * width;
    const float *from = appended + (e * a->kv_heads + kv_head) * width;
    for (size_t i = 0; lane == 0 && i < width * TILE_ROWS; i++) panel[i] = 0;
    for (size_t d = 0; d < width; d++) panel[d * TILE_ROWS + lane] = from[d];
  }
}

const attention_path *packed_pack(const hl_attention_args *a, uint32_t batch, uint32_t kv_head, float *keys,
                                  float *values) {
  const float *key = head_start(a->key, &a->key_stride, batch, kv_head),
              *value = head_start(a->value, &a->value_stride, batch, kv_head);
  gemm_pack_rows(keys, TILE_ROWS, key, a->key_stride.row, a->keys, a->width, 1);
  bool finite = gemm_pack_columns(values, total_keys(a), 0, value, a->value_stride.row, a->keys, a->value_width);
  if (a->appended > 0) {
    packed_append(keys, a, a->appended_key, a->width, kv_head);
    finite = gemm_pack_columns(values, total_keys(a), a->keys, a->appended_value + (size_t)kv_head * a->value_width,
                               (size_t)a->kv_heads * a->value_width, a->appended, a->value_width) &&
             finite;
  }
  return finite ? &packed_path : &packed_nonfinite_path;
}

void packed_product(const attention_tile *t, span keys, float *panels, const float *left, const float *right,
                    size_t width) {
  const size_t count = tile_panel_count(t), panel = t->score_rows * TILE_COLS;
  for (size_t s = keys.from; s < keys.to; s += TILE_ROWS) {
    float *to = panels + (s - keys.from) * TILE_COLS;
    for (size_t p = 0; p < count; p++)
      gemm_full_tile_overwrite(to + p * panel, left + s * width, right + p * width * TILE_COLS, width);
  }
}

void packed_gather(float *sum, const float *columns, size_t capacity, size_t width, const float *panel, size_t depth) {
  for (size_t s = 0; s < depth; s += VALUE_DEPTH) {
    size_t pass = depth - s < VALUE_DEPTH ? depth - s : VALUE_DEPTH;
    for (size_t j = 0; j < width; j += TILE_ROWS) {
      float *to = sum + j * TILE_COLS;
      gemm_tile(width - j < TILE_ROWS ? width - j : TILE_ROWS, to, TILE_COLS, to,
                columns + j * capacity + s * TILE_ROWS, TILE_ROWS, panel + s * TILE_COLS, pass);
    }
  }
}

static void pack_queries(const attention_tile *t) {
  gemm_pack_rows(t->query, TILE_COLS, tile_query_rows(t), t->args->query_stride.row, t->queries, t->args->width,
                 tile_scale(t));
}

static void scores(const attention_tile *t, span keys) {
  packed_product(t, keys, t->scores, t->keys, t->query, t->args->width);
}

static void values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    tile_begin_heads(t, p, factor ? factor[p] : NULL);
    packed_gather(panel_heads(t, p), t->values + (size_t)keys.from * TILE_ROWS, total_keys(t->args),
                  t->args->value_width, panel_scores(t, p), keys.to - keys.from);
  }
}

/* Adds weights · v, one key at a time. 0 · NaN is NaN, so a value that is not finite would leak from a masked key into
 * the product. Masked keys of weight 0 are therefore skipped. */
static void add_values_one_by_one(const attention_tile *t, uint32_t panel, span keys) {
  const float *weights = panel_scores(t, panel);
  float *heads = panel_heads(t, panel);
  size_t capacity = total_keys(t->args);
  for (uint32_t c = 0; c < panel_queries(t, panel); c++) {
    for (uint32_t s = keys.from; s < keys.to; s++) {
      float w = weights[(s - keys.from) * TILE_COLS + c];
      if (w == 0 && !mask_is_visible(&t->visible, panel_first(t, panel) + c, s)) continue;
      for (size_t j = 0; j < t->args->value_width; j++) {
        size_t row = j % TILE_ROWS, from = j - row;
        heads[j * TILE_COLS + c] += w * t->values[from * capacity + s * TILE_ROWS + row];
      }
    }
  }
}

static void values_one_by_one(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    tile_begin_heads(t, p, factor ? factor[p] : NULL);
    add_values_one_by_one(t, p, keys);
  }
}

const attention_path packed_path = {pack_queries, scores, values, tile_output};
const attention_path packed_nonfinite_path = {pack_queries, scores, values_one_by_one, tile_output};
