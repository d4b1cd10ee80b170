/* What the layer's forward and backward passes share: where its tensors lie. */
#ifndef HL_MULTIHEAD_H
#define HL_MULTIHEAD_H

#include <stdbool.h>

#include "headlight.h"

/* Floats of the layer's intermediate tensors. */
typedef struct {
  double shared, queries, keys, heads, appended, statistics;
} layer_floats;

/* The layer's sizes, and its intermediate tensors: those that backward needs lie in `saved` where they are kept, else
 * in the workspace like all others. */
typedef struct {
  uint32_t query_width, kv_width, fresh_keys, appended_keys; /* H·D, G·D, S−P, E */
  bool keep;
  layer_floats floats;
  double kept, total; /* floats of `saved` and of the workspace */
  float *query, *key, *value, *heads, *appended_key, *appended_value, *statistics, *shared;
} layer;

/* Sizes, numbers and choices; and, where they must be given, the tensors. Gives the arguments of attention, with the
 * sizes that the layer sets. */
hl_status multihead_validate(const hl_multihead_args *m, hl_attention_args *a, bool given);
/* Then, when all sizes are known to be right, what is in the tensors. */
hl_status multihead_validate_positions(const hl_multihead_args *m);

/* All sizes; then, once there is room, all places: `shared` in the workspace, where there is one, the other tensors in
 * `saved`, or after it where nothing is kept. */
void multihead_count(layer *l, const hl_multihead_args *m, const hl_attention_args *a, bool keep);
void multihead_place(layer *l, float *saved, float *workspace);

/* Splits the projections into heads, by strides. */
void multihead_split(hl_attention_args *a, const hl_multihead_args *m, const layer *l);

/* Rotary positions of projected queries and fresh keys, in place; in reverse, of their gradients. */
void multihead_turn(float *query, float *key, const hl_multihead_args *m, bool reverse);

#endif
