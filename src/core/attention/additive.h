/* Additive scores: scale · Σ additive · tanh(q + k) over D, instead of scale · q · k. The terms of the sums are never
 * stored, because each key is combined with eight queries at a time. */
#ifndef HL_ADDITIVE_H
#define HL_ADDITIVE_H

#include "attention/tile.h"

/* Returns a copy of `packed`, a path for packed keys and values. The copy computes additive scores. */
attention_path additive_path(const attention_path *packed);

/* Computes gradients for one panel of queries from the gradients of their scores. Adds the gradients of the queries to
 * d_query [D][8], those of the keys to d_key (panels as in kv_gradient.h) and that of the weight to d_additive (D), all
 * without the scale. Sets d_scores of missing queries to 0. */
void additive_backward(float *d_query, float *d_key, float *d_additive, float *d_scores, const attention_tile *t,
                       uint32_t panel, span keys);

#endif
