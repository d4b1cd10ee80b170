/* Dropout of attention weights by a counter: whether weight (b,h,t,s) is kept depends on the seed and on
 * b, h, t, s alone, so that any order of work, and the backward pass, sees the same mask. */
#ifndef HL_DROPOUT_H
#define HL_DROPOUT_H

#include <stddef.h>

#include "headlight.h"

/* Multiplies panel[keys][8], columns queries first.., rows keys key.., by 1/(1−p) where kept and 0 where not. */
void dropout_panel(float *panel, const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t first,
                   uint32_t queries, uint32_t key, uint32_t keys);

#endif
