/* Additive scores: scale · Σ additive · tanh(q + k) over D, instead of scale · q · k. The terms of the sums are never
 * stored: each key is combined with eight queries at a time. */
#ifndef HL_ADDITIVE_H
#define HL_ADDITIVE_H

#include "attention/tile.h"

/* The path of packed keys and values with the scores replaced. */
attention_path additive_path(const attention_path *packed);

/* Backward for one panel of queries: from the gradients of its scores, adds the gradients of the queries to d_query
 * [D][8], of the keys to d_key (panels as in kv_gradient.h) and of the weight to d_additive (D), all without the scale.
 * Sets the scores of missing queries to 0. */
void additive_backward(float *d_query, float *d_key, float *d_additive, float *d_scores, const attention_tile *t,
                       uint32_t panel, span keys);

#endif
