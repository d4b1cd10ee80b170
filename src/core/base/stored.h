/* Numbers as files hold them. */
#ifndef HL_STORED_H
#define HL_STORED_H

#include <stddef.h>

#include "headlight.h"

/* Of one number. */
static inline size_t stored_bytes(hl_stored stored) { return stored == HL_STORED_F32 ? 4 : 2; }

/* to(count) as float32; from lies at a multiple of stored_bytes. */
void stored_load(float *to, const void *from, hl_stored stored, size_t count);

#endif
