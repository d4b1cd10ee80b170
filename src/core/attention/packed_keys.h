/* The path for many queries. The keys and values of a key/value head are packed once and used by all queries of its
 * group of query heads. */
#ifndef HL_PACKED_KEYS_H
#define HL_PACKED_KEYS_H

#include "attention/tile.h"

extern const attention_path packed_path;
/* The path for values that are not finite. Values of masked keys must not be multiplied, even by 0. */
extern const attention_path packed_nonfinite_path;

/* Packs one key/value head into buffers of packed_keys_floats and packed_values_floats. Returns the path that can read
 * the values of this head. */
const attention_path *packed_pack(const hl_attention_args *args, uint32_t batch, uint32_t kv_head, float *keys,
                                  float *values);
double packed_keys_floats(const hl_attention_args *args);
double packed_values_floats(const hl_attention_args *args);

/* Adds appended keys or values as rows S..S+E−1 of tensors packed by rows of TILE_ROWS. */
void packed_append(float *packed, const hl_attention_args *args, const float *appended, size_t width, uint32_t kv_head);

/* panels(keys, queries) = left · rightᵀ, both packed by rows. `left` contains all keys, `right` the queries of the
 * tile. */
void packed_product(const attention_tile *t, span keys, float *panels, const float *left, const float *right,
                    size_t width);

/* sum(width, 8) += columnsᵀ · panel(depth, 8); the columns are packed by gemm_pack_columns. */
void packed_gather(float *sum, const float *columns, size_t capacity, size_t width, const float *panel, size_t depth);

#endif
