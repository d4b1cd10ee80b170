/* Few queries use the values too seldom for packing them to pay: here they are read where they lie, and the output is
 * written where it belongs, with the same bits. */
#include "attention.h"
#include "panel.h"

enum { FEW_KEYS = 64 };

bool few_queries(const hl_attention_args *a) {
  return a->queries > 1 && a->queries <= TILE_QUERIES && a->keys <= FEW_KEYS && a->appended == 0 &&
         a->value_stride.row >= a->value_width;
}

bool few_finite(const hl_attention_args *a, const float *value) {
  float sum = 0;
  for (size_t s = 0; s < a->keys; s++) {
    for (size_t j = 0; j < a->value_width; j++) sum += value[s * a->value_stride.row + j] * 0;
  }
  return sum == 0;
}

/* How many of what is left a low tile takes. */
static size_t rows_of(size_t left) { return left < TILE_ROWS ? left : 4; }

/* Narrow values: their columns are the rows of a tile, and the queries its columns. */
static void narrow_values(const attention_tile *t, uint32_t panel, float *output, const float *value, size_t keys) {
  size_t width = t->args->value_width;
  float *heads = panel_heads(t, panel);
  for (size_t j = 0, rows; j < width; j += rows) {
    rows = rows_of(width - j);
    gemm_low_tile(rows, heads + j * TILE_COLS, TILE_COLS, gemm_zeros, value + j, t->args->value_stride.row,
                  panel_scores(t, panel), TILE_COLS, keys);
  }
  panel_store(output, t->args->output_stride.row, heads, width, panel_queries(t, panel));
}

/* The last columns share their tile with some of those before, which come out the same twice. */
static void wide_values(const attention_tile *t, uint32_t panel, float *output, const float *value, size_t keys) {
  size_t queries = panel_queries(t, panel), width = t->args->value_width, to = t->args->output_stride.row;
  for (size_t c = 0, rows; c < queries; c += rows) {
    rows = rows_of(queries - c);
    for (size_t j = 0; j < width; j += TILE_COLS) {
      size_t column = width - j < TILE_COLS ? width - TILE_COLS : j;
      gemm_low_tile(rows, output + c * to + column, to, gemm_zeros, panel_scores(t, panel) + c, TILE_COLS, value + column,
                    t->args->value_stride.row, keys);
    }
  }
}

void few_values(const attention_tile *t, span keys) {
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    const float *value = t->values + (size_t)keys.from * t->args->value_stride.row;
    (t->args->value_width < TILE_COLS ? narrow_values : wide_values)(t, p, tile_to(t, p), value, keys.to - keys.from);
  }
}

void few_scale(const attention_tile *t, uint32_t panel, const float factor[TILE_COLS]) {
  float *output = tile_to(t, panel);
  for (size_t c = 0; c < panel_queries(t, panel); c++) {
    size_t j = 0, width = t->args->value_width;
    for (; j + 4 <= width; j += 4) vec_store(output + j, vec_mul(vec_load(output + j), vec_splat(factor[c])));
    for (; j < width; j++) output[j] *= factor[c];
    output += t->args->output_stride.row;
  }
}
