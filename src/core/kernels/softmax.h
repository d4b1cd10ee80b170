/* Softmax of score panels, panel[key][8 queries]. The scores of one query are in one column, so nothing is summed
 * across the lanes of a vector. */
#ifndef HL_SOFTMAX_H
#define HL_SOFTMAX_H

#include "base/simd.h"

/* State of online softmax after the keys processed so far, for the eight queries of a panel. */
typedef struct {
  float max[TILE_COLS];
  float sum[TILE_COLS]; /* Σ e^(score − max), or Σ 2^(score − max) */
} softmax_state;

/* Base of the exponential. If the scale of the queries includes log₂ e, powers of 2 give the same weights as powers of
 * e without this factor. */
typedef enum { SOFTMAX_OF_2, SOFTMAX_OF_E } softmax_base;

/* Sets the state before the first block. A sink is an additional score in each column, whose weight is not returned;
 * −∞: no sink. */
void softmax_begin(softmax_state *state, float sink);

/* Replaces each of the first `columns` columns by e^(score − max of the column), and updates max and sum in the state.
 * The caller must multiply the results of earlier blocks by `rescale`. A column of −∞ becomes zeros. If columns ≤ 4,
 * the other four columns are not changed and their `rescale` is 0; if columns = 1, all other columns are not
 * changed. */
void softmax_block(float *panel, size_t columns, size_t keys, softmax_base base, softmax_state *state,
                   float rescale[TILE_COLS]);

/* inverse = 1/sum, or 0 where all scores were −∞. */
void softmax_end(const softmax_state *state, float inverse[TILE_COLS]);

/* Replaces each of the first `columns` columns by its softmax. The weights are positive, and their sum, including the
 * weight of the sink, is 1. A column of −∞ becomes zeros. `state` is as softmax_block leaves it, `inverse` as
 * softmax_end sets it. */
void softmax_panel(float *panel, size_t columns, size_t keys, softmax_base base, float sink, softmax_state *state,
                   float inverse[TILE_COLS]);

/* Recomputes the weights of any block of keys from the scores and from the max and 1/sum of every column. */
void softmax_recompute(float *panel, size_t keys, softmax_base base, const float max[TILE_COLS],
                       const float inverse[TILE_COLS]);

/* Computes the weight of the sink in each column. */
void softmax_sink_weight(float weight[TILE_COLS], float sink, softmax_base base, const float max[TILE_COLS],
                         const float inverse[TILE_COLS]);

/* Computes the gradient of the scores from the gradient of the weights, in place: panel = weights · (panel − delta).
 * The delta of a column is Σ weights · gradient over all of its keys. */
void softmax_backward(float *panel, const float *weights, size_t keys, const float delta[TILE_COLS]);

#endif
