#include "attention/tile.h"

#include "base/exp.h"
#include "base/panel.h"
#include "kernels/softcap.h"

void tile_visibility(visibility *v, const hl_attention_args *a, uint32_t batch, uint32_t head) {
  const hl_broadcast *m = &a->mask_stride, *b = &a->bias_stride;
  const bool has_keys = a->keys > 0;
  v->keys = a->keys;
  v->appended = a->appended;
  v->fill = a->fill;
  v->none_hidden = !a->bias && !a->mask && !a->key_padding && !a->valid_lens && !a->causal && a->window_left < 0 &&
                   a->window_right < 0 && !a->slopes;
  /* If no key is masked, the other fields are not read. Setting them would take a measurable share of the time of a
   * small head. */
  if (v->none_hidden) return;
  v->mask = has_keys && a->mask ? a->mask + (size_t)batch * m->batch + (size_t)head * m->head : NULL;
  v->bias = has_keys && a->bias ? a->bias + (size_t)batch * b->batch + (size_t)head * b->head : NULL;
  v->padding = has_keys && a->key_padding ? a->key_padding + (size_t)batch * a->key_padding_stride[0] : NULL;
  v->lengths = has_keys && a->valid_lens ? a->valid_lens + (size_t)batch * a->valid_lens_stride[0] : NULL;
  v->mask_query = m->query;
  v->mask_key = m->key;
  v->bias_query = b->query;
  v->bias_key = b->key;
  v->padding_key = a->key_padding_stride[1];
  v->lengths_query = a->valid_lens_stride[1];
  v->offset = a->offset ? a->offset[batch] : 0;
  v->slope = a->slopes ? a->slopes[head] : 0;
  v->left = a->window_left;
  v->right = a->causal ? 0 : a->window_right;
}

/* Returns the base of the softmax. Steps that read or change the scores before softmax need scores without the factor
 * log₂ e. If weights are returned, base e is used as well, so that the bits do not depend on whether scores are
 * requested. */
static softmax_base base_of(const hl_attention_args *a) {
  bool read = a->weights_mode != HL_WEIGHTS_NONE || a->scores_step != HL_SCORES_NONE || a->softcap != 0 || a->bias ||
              a->slopes || a->fill > -__builtin_inff();
  return read ? SOFTMAX_OF_E : SOFTMAX_OF_2;
}

void tile_set_head(attention_tile *t, const hl_attention_args *a, uint32_t batch, uint32_t head) {
  t->args = a;
  t->batch = batch;
  t->head = head;
  tile_visibility(&t->visible, a, batch, head);
  t->drop = (dropout){a->dropout, {a->seed[0], a->seed[1]}, a->keep, total_keys(a)};
  t->base = base_of(a);
  t->sink = a->sinks ? a->sinks[head] * (t->base == SOFTMAX_OF_2 ? LOG2_E : 1) : -__builtin_inff();
}

span tile_span(const attention_tile *t) {
  span s = mask_span(&t->visible, t->first, t->queries);
  s.from -= s.from % TILE_ROWS;
  return s;
}

float tile_scale(const attention_tile *t) {
  const hl_attention_args *a = t->args;
  return a->scores_step == HL_SCORES_RAW ? 1 : t->base == SOFTMAX_OF_2 ? a->scale * LOG2_E : a->scale;
}

void tile_softcap(const attention_tile *t, span keys) {
  if (t->args->softcap == 0) return;
  for (uint32_t p = 0; p < tile_panel_count(t); p++)
    softcap_panel(panel_scores(t, p), keys.to - keys.from, t->args->softcap);
}

void tile_mask(const attention_tile *t, span keys) {
  if (t->visible.none_hidden) return;
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    mask_panel(panel_scores(t, p), &t->visible, panel_first(t, p), panel_queries(t, p), keys.from, keys.to - keys.from);
  }
}

void tile_dropout(const attention_tile *t, float *weights, uint32_t panel, span keys) {
  if (t->drop.probability == 0 && !t->drop.keep) return;
  dropout_panel(weights, &t->drop, tile_row(t, panel, true), panel_queries(t, panel), keys.from, keys.to - keys.from);
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

void tile_begin_heads(const attention_tile *t, uint32_t panel, const float *factor) {
  float *heads = panel_heads(t, panel);
  if (factor) panel_scale(heads, t->args->value_width, factor);
  else panel_zero(heads, t->args->value_width);
}

bool tile_output(const attention_tile *t, uint32_t panel, const float *factor) {
  const hl_attention_args *args = t->args;
  float *heads = panel_heads(t, panel);
  const bool finite = factor && panel_scale_finite(heads, args->value_width, factor);
  panel_store(tile_output_rows(t, panel), args->output_stride.row, heads, args->value_width, panel_queries(t, panel));
  return finite;
}
