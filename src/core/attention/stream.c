/* The same result by online softmax: the keys pass by in blocks, and of the scores only one block exists.
 *
 * After each block, heads = Σ e^(score − max) · v and sum = Σ e^(score − max) over the keys so far. A later
 * block that raises the max multiplies what has been gathered by e^(old max − new max). */
#include "attention/attention.h"
#include "kernels/dropout.h"

void attend_stream(const attention_tile *t) {
  softmax_state state[TILE_PANELS];
  float factor[TILE_PANELS][TILE_COLS];
  span all = tile_span(t);
  for (uint32_t p = 0; p < tile_panels(t); p++) softmax_begin(&state[p]);
  if (all.from == all.to) tile_values(t, all, NULL);
  for (uint32_t from = all.from; from < all.to; from += (uint32_t)t->score_rows) {
    span block = {from, all.to - from < t->score_rows ? all.to : from + (uint32_t)t->score_rows};
    uint32_t keys = block.to - block.from;
    tile_scores(t, block);
    for (uint32_t p = 0; p < tile_panels(t); p++) {
      float *scores = panel_scores(t, p);
      uint32_t first = t->first + p * TILE_COLS, queries = panel_queries(t, p);
      tile_softcap(t, p, keys);
      mask_panel(scores, t->args, t->batch, t->head, first, queries, from, keys);
      softmax_block(scores, queries, keys, t->base, &state[p], factor[p]);
      dropout_panel(scores, t->args, t->batch, t->head, first, queries, from, keys);
    }
    tile_values(t, block, from == all.from ? NULL : factor);
  }
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    softmax_end(&state[p], factor[p]);
    tile_statistics(t, p, state[p].max, factor[p]);
    tile_output(t, p, factor[p]);
  }
}
