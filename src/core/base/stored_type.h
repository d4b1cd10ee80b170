/* Number types of the weights in files: float32, float16 and bfloat16. */
#ifndef HL_STORED_TYPE_H
#define HL_STORED_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* Bytes of one number. */
static inline size_t stored_bytes(hl_stored stored) { return stored == HL_STORED_F32 ? 4 : 2; }

/* True if `count` numbers of a stored type fit into 4 GiB, and are not NULL unless count is 0. */
bool has_stored(const void *numbers, hl_stored stored, double count);

/* to(count) = from(count) as float32; from must be aligned to stored_bytes. */
void stored_load(float *to, const void *from, hl_stored stored, size_t count);

#endif
