/* The path for a single query. Each key and value is used once, so packing does not pay, and both are read in place. */
#ifndef HL_SINGLE_QUERY_H
#define HL_SINGLE_QUERY_H

#include "attention/tile.h"

extern const attention_path single_query_path;

/* The path for one query at a time with keys and values in float16 or int8 (narrow_keys.c). */
extern const attention_path narrow_keys_path;

/* True if tiles have one query, because there is only one query or because keys are not in float32. */
bool is_single_query(const hl_attention_args *args);

/* Columns of the values that are summed at a time. */
enum { VALUE_COLUMNS = 128 };

/* Returns the first span of adjacent keys at or after `from` that contains no key to be skipped. */
span next_visible_span(const attention_tile *t, span keys, uint32_t from);

#endif
