/* A row of a key/value cache: the key or the value of one head of a token. Rows of float16 and int8 are padded with
 * zeros to a multiple of CACHE_GROUP numbers. A row of int8 begins with its scale, a float, which is NaN if a number of
 * the row is not finite. */
#ifndef HL_CACHE_ROW_H
#define HL_CACHE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "headlight.h"

/* Numbers of a row that are read at a time. */
enum { CACHE_GROUP = 8 };

static inline size_t cache_padded(size_t width) { return (width + CACHE_GROUP - 1) / CACHE_GROUP * CACHE_GROUP; }

void cache_row_store(float *row, const float *numbers, size_t width, hl_keys type);
void cache_row_load(float *numbers, const float *row, size_t width, hl_keys type);

#endif
