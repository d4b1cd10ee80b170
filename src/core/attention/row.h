/* A single query: nothing is used twice, so keys and values are read where they lie. */
#ifndef HL_ROW_H
#define HL_ROW_H

#include "attention/tile.h"

extern const attention_path row_path;

bool row_takes(const hl_attention_args *args);

#endif
