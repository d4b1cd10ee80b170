/* Softmax of score panels, panel[key][8 queries]: the keys of one query stand below each other, so that
 * nothing is ever summed across lanes. */
#ifndef HL_SOFTMAX_H
#define HL_SOFTMAX_H

#include "base/simd.h"

/* The state of online softmax after the keys seen so far, for the eight queries of a panel. */
typedef struct {
  float max[TILE_COLS];
  float sum[TILE_COLS]; /* Σ e^(score − max), or powers of 2 */
} softmax_state;

/* The base of which the scores are exponents. Queries that carry log₂ e on their scale give powers of 2. */
typedef enum { SOFTMAX_OF_2, SOFTMAX_OF_E } softmax_base;

/* A sink is a score that each column has seen before its keys, and whose weight is left out; −∞ is none. */
void softmax_begin(softmax_state *state, float sink);

/* Each of the first columns becomes e^(score − its max), and its max and sum are taken up in the state. Results of
 * earlier blocks are to be multiplied by `rescale`. A column that is −∞ throughout becomes zeros. Where four columns or
 * fewer count, the other four stay as they are, and are to be multiplied by 0; where one counts, all others stay. */
void softmax_block(float *panel, size_t columns, size_t keys, softmax_base base, softmax_state *state,
                   float rescale[TILE_COLS]);

/* 1/sum, or 0 where no key has been seen. */
void softmax_end(const softmax_state *state, float inverse[TILE_COLS]);

/* Each of the first columns becomes its softmax: positive, sum 1 with the weight of the sink. A column that is −∞
 * throughout becomes zeros. The state is what softmax_block would leave, and `inverse` what softmax_end makes of it. */
void softmax_panel(float *panel, size_t columns, size_t keys, softmax_base base, float sink, softmax_state *state,
                   float inverse[TILE_COLS]);

/* The same weights once more, of any block of the keys, from the max and 1/sum of every column. */
void softmax_again(float *panel, size_t keys, softmax_base base, const float max[TILE_COLS],
                   const float inverse[TILE_COLS]);

/* The weight of the sink. */
void softmax_of_sink(float weight[TILE_COLS], float sink, softmax_base base, const float max[TILE_COLS],
                     const float inverse[TILE_COLS]);

/* panel = weights · (panel − delta): from the gradient of the weights to that of the scores, where a column's delta
 * is Σ weights · gradient over all its keys. */
void softmax_backward(float *panel, const float *weights, size_t keys, const float delta[TILE_COLS]);

#endif
