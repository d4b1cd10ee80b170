/* The path for few queries, for which packing keys and values does not pay. All tensors are read in place, and the
 * output is written in place, with the same bits as in the packed path. */
#ifndef HL_FEW_QUERIES_H
#define HL_FEW_QUERIES_H

#include "attention/tile.h"

extern const attention_path few_queries_path;

/* True if the queries are few enough and, in case any key may be masked, all values are finite. `first` is a tile of
 * the first head of a group of query heads, `value` the values of the group. */
bool is_few_queries(const attention_tile *first, const float *value);

#endif
