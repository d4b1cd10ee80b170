/* After each block, heads = Σ e^(score − max) · v and sum = Σ e^(score − max) over the keys so far. If a later block
 * raises the max, the previous sums are multiplied by e^(old max − new max). */
#include "attention/stream.h"

#include "base/panel.h"

INLINE span block_at(const attention_tile *t, span all, uint32_t from) {
  const uint32_t rows = (uint32_t)t->score_rows;
  return (span){from, all.to - from < rows ? all.to : from + rows};
}

/* Computes the scores of a block, which are the input of softmax. */
static void block_scores(const attention_tile *t, span block) {
  t->path->scores(t, block);
  tile_softcap(t, block);
  tile_mask(t, block);
}

/* Recomputes the output of one query, whose max and 1/sum are known. The weights are normalised before they are
 * multiplied by the values. */
static void attend_normalised(const attention_tile *tile, uint32_t query, float max, float inverse) {
  const float maxima[TILE_COLS] = {max}, inverses[TILE_COLS] = {inverse}, ones[1][TILE_COLS] = {{1}};
  attention_tile t = *tile;
  t.first += query;
  t.queries = 1;
  t.path->queries(&t);
  const span all = tile_span(&t);
  for (uint32_t from = all.from; from < all.to; from += (uint32_t)t.score_rows) {
    const span block = block_at(&t, all, from);
    block_scores(&t, block);
    softmax_recompute(t.scores, block.to - block.from, t.base, maxima, inverses);
    tile_dropout(&t, t.scores, 0, block);
    t.path->values(&t, block, from == all.from ? NULL : ones);
  }
  t.path->output(&t, 0, NULL);
}

/* Recomputes rows that are not finite. For values near the largest float, Σ e^(score − max) · v may overflow although
 * the weighted mean of the values does not. */
static void recompute_overflow(const attention_tile *t, uint32_t panel, const float max[TILE_COLS],
                               const float inverse[TILE_COLS]) {
  for (uint32_t c = 0; c < panel_queries(t, panel); c++) {
    const float *row = tile_output_rows(t, panel) + c * t->args->output_stride.row;
    /* The inverse is 0 if all keys were masked, and NaN if a score was NaN. */
    if (inverse[c] > 0 && !panel_rows_finite(row, 0, 1, t->args->value_width))
      attend_normalised(t, panel * TILE_COLS + c, max[c], inverse[c]);
  }
}

void attend_stream(const attention_tile *t) {
  softmax_state state[TILE_PANELS];
  float factor[TILE_PANELS][TILE_COLS];
  const span all = tile_span(t);
  const uint32_t panels = tile_panel_count(t);
  for (uint32_t p = 0; p < panels; p++) softmax_begin(&state[p], t->sink);
  if (all.from == all.to) t->path->values(t, all, NULL);
  for (uint32_t from = all.from; from < all.to; from += (uint32_t)t->score_rows) {
    const span block = block_at(t, all, from);
    block_scores(t, block);
    for (uint32_t p = 0; p < panels; p++) {
      softmax_block(panel_scores(t, p), panel_queries(t, p), block.to - block.from, t->base, &state[p], factor[p]);
      tile_dropout(t, panel_scores(t, p), p, block);
    }
    t->path->values(t, block, from == all.from ? NULL : factor);
  }
  for (uint32_t p = 0; p < panels; p++) {
    softmax_end(&state[p], factor[p]);
    tile_statistics(t, p, state[p].max, factor[p]);
    /* Recomputing overwrites panel 0, whose output has already been stored. */
    if (!t->path->output(t, p, factor[p])) recompute_overflow(t, p, state[p].max, factor[p]);
  }
}
