/* Additive scores: scale · Σ additive · tanh(q + k) over D, in the place of scale · q · k. The block of the sums is not
 * held: one key meets eight queries at a time. */
#ifndef HL_ADDITIVE_H
#define HL_ADDITIVE_H

#include "attention/tile.h"

/* The path of packed keys and values, but for the scores. */
attention_path additive_path(const attention_path *packed);

/* From the gradients of the scores of some keys before a panel of queries: += of the queries [D][8], the keys, in
 * panels as gradient.h says, and the weight (D), but for the scale. Scores of queries that there are not become 0. */
void additive_backward(float *d_query, float *d_key, float *d_additive, float *d_scores, const attention_tile *t,
                       uint32_t panel, span keys);

#endif
