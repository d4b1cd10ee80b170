#include "attention/attention.h"
#include "base/exp.h"
#include "base/panel.h"

span tile_span(const attention_tile *t) {
  span s = mask_span(t->args, t->batch, t->first, t->queries);
  s.from -= s.from % TILE_ROWS;
  return s;
}

void tile_product(const attention_tile *t, span keys, float *panels, const float *left, const float *right,
                  size_t width) {
  const size_t count = tile_panels(t), panel = t->score_rows * TILE_COLS;
  for (size_t s = keys.from; s < keys.to; s += TILE_ROWS) {
    float *to = panels + (s - keys.from) * TILE_COLS;
    for (size_t p = 0; p < count; p++)
      gemm_lone_tile(to + p * panel, left + s * width, right + p * width * TILE_COLS, width);
  }
}

void tile_scores(const attention_tile *t, span keys) {
  if (t->direct) row_scores(t, keys);
  else if (t->few) few_scores(t, keys);
  else tile_product(t, keys, t->scores, t->keys, t->query, t->args->width);
}

void tile_softcap(const attention_tile *t, uint32_t panel, size_t keys) {
  if (t->args->softcap == 0) return;
  const vec cap = vec_splat(t->args->softcap), inverse = vec_splat(1 / t->args->softcap);
  float *scores = panel_scores(t, panel);
  for (size_t i = 0; i < keys * TILE_COLS; i += 4) {
    vec_store(scores + i, vec_mul(cap, vec_tanh(vec_mul(vec_load(scores + i), inverse))));
  }
}

/* 0 · NaN is NaN, so a value that is not finite would leak from a hidden key through the packed product.
 * Here hidden keys of weight 0 are stepped over instead. */
static void values_one_by_one(const attention_tile *t, uint32_t panel, span keys) {
  const float *weights = panel_scores(t, panel);
  float *heads = panel_heads(t, panel);
  size_t capacity = all_keys(t->args);
  for (uint32_t c = 0; c < panel_queries(t, panel); c++) {
    for (uint32_t s = keys.from; s < keys.to; s++) {
      float w = weights[(s - keys.from) * TILE_COLS + c];
      if (w == 0 && !mask_sees(t->args, t->batch, t->head, t->first + panel * TILE_COLS + c, s)) continue;
      for (size_t j = 0; j < t->args->value_width; j++) {
        size_t row = j % TILE_ROWS, from = j - row;
        heads[j * TILE_COLS + c] += w * t->values[from * capacity + s * TILE_ROWS + row];
      }
    }
  }
}

void tile_gather(float *sum, const float *columns, size_t capacity, size_t width, const float *panel, size_t depth) {
  for (size_t s = 0; s < depth; s += VALUE_DEPTH) {
    size_t pass = depth - s < VALUE_DEPTH ? depth - s : VALUE_DEPTH;
    for (size_t j = 0; j < width; j += TILE_ROWS) {
      float *to = sum + j * TILE_COLS;
      gemm_tile(width - j < TILE_ROWS ? width - j : TILE_ROWS, to, TILE_COLS, to,
                columns + j * capacity + s * TILE_ROWS, TILE_ROWS, panel + s * TILE_COLS, pass);
    }
  }
}

void tile_values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]) {
  size_t width = t->args->value_width;
  if (t->few) {
    few_values(t, keys, factor);
    return;
  }
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    float *heads = panel_heads(t, p);
    if (factor) panel_scale(heads, width, factor[p]);
    else panel_zero(heads, width);
    if (t->direct) row_values(t, keys);
    else if (!t->finite) values_one_by_one(t, p, keys);
    else
      tile_gather(heads, t->values + (size_t)keys.from * TILE_ROWS, all_keys(t->args), width, panel_scores(t, p),
                  keys.to - keys.from);
  }
}

void tile_statistics(const attention_tile *t, uint32_t panel, const float max[TILE_COLS],
                     const float inverse[TILE_COLS]) {
  const hl_attention_args *args = t->args;
  if (!args->statistics) return;
  size_t rows = (size_t)args->batch * args->heads * args->queries;
  float *to = args->statistics + tile_row(t, panel, true);
  for (size_t c = 0; c < panel_queries(t, panel); c++) {
    to[c] = max[c];
    to[rows + c] = inverse[c];
  }
}

void tile_output(const attention_tile *t, uint32_t panel, const float *factor) {
  const hl_attention_args *args = t->args;
  float *heads = panel_heads(t, panel);
  if (t->few) {
    if (factor) few_scale(t, panel, factor);
    return;
  }
  if (factor) panel_scale(heads, args->value_width, factor);
  panel_store(tile_to(t, panel), args->output_stride.row, heads, args->value_width, panel_queries(t, panel));
}
