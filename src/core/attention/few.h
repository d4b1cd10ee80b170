/* Few queries use keys and values too seldom for packing them to pay: all are read where they lie, and the output is
 * written where it belongs, with the same bits. */
#ifndef HL_FEW_H
#define HL_FEW_H

#include "attention/tile.h"

extern const attention_path few_path;

/* Whether the queries are few, and no value is NaN or infinite where a key can be hidden. Of the first head of a group,
 * whose values begin at `value`. */
bool few_take(const attention_tile *first, const float *value);

#endif
