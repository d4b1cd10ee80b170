/* The intermediate tensors of the multi-head layer, shared by its forward and backward pass. */
#ifndef HL_MULTIHEAD_H
#define HL_MULTIHEAD_H

#include <stdbool.h>

#include "headlight.h"

/* Sizes of the intermediate tensors, in floats. */
typedef struct {
  double shared, queries, keys, heads, appended, statistics;
} layer_floats;

/* The layer's sizes and its intermediate tensors. If `save`, the tensors that backward needs are in the caller's
 * `saved`; otherwise all intermediate tensors are in the workspace. */
typedef struct {
  uint32_t query_width, kv_width, fresh_keys, appended_keys; /* in this order: H·D, G·D, S−P, E */
  bool save;
  layer_floats floats;
  double saved_floats, total;           /* floats of `saved` and of the workspace */
  float *query, *key, *value;           /* projections: query (B,T,H·D); key, value (B,S−P,G·D) */
  float *heads;                         /* (B,T,H·D) */
  float *appended_key, *appended_value; /* (E,G·D) */
  float *statistics;                    /* (2,B,H,T) */
  float *shared;                        /* workspace of products and of attention */
} layer;

/* Validates sizes, numbers and enums and, if `given`, the tensors. Also sets the arguments of attention, with the sizes
 * that the layer determines. */
hl_status multihead_validate(const hl_multihead_args *m, hl_attention_args *a, bool given);
/* Validates the contents of the position tensors; call it after all sizes have been validated. */
hl_status multihead_validate_positions(const hl_multihead_args *m);

/* multihead_set_sizes computes all sizes. After the allocation, multihead_assign sets all addresses: `shared` in the
 * workspace (unless NULL), the other tensors in `saved` if `save`, otherwise after `shared`. */
void multihead_set_sizes(layer *l, const hl_multihead_args *m, const hl_attention_args *a, bool save);
void multihead_assign(layer *l, float *saved, float *workspace);

/* Splits the projections into heads with strides. */
void multihead_split(hl_attention_args *a, const hl_multihead_args *m, const layer *l);

/* Applies rotary positions to projected queries and fresh keys, in place. With `reverse`, query and key are
 * gradients. */
void multihead_rotate(float *query, float *key, const hl_multihead_args *m, bool reverse);

#endif
