/* The path for a single query: each key and value is used once, so packing does not pay and both are read in place. */
#ifndef HL_SINGLE_QUERY_H
#define HL_SINGLE_QUERY_H

#include "attention/tile.h"

extern const attention_path single_query_path;

bool is_single_query(const hl_attention_args *args);

#endif
