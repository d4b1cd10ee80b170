/* Numbers as files hold them. */
#ifndef HL_STORED_H
#define HL_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* Of one number. */
static inline size_t stored_bytes(hl_stored stored) { return stored == HL_STORED_F32 ? 4 : 2; }

/* As has_floats. */
bool has_stored(const void *numbers, hl_stored stored, double count);

/* to(count) as float32; from lies at a multiple of stored_bytes. */
void stored_load(float *to, const void *from, hl_stored stored, size_t count);

#endif
