/* The arguments that attention has by itself and as a part of the layer. */
#ifndef HL_FUZZ_ATTENTION_H
#define HL_FUZZ_ATTENTION_H

#include "input.h"

/* Sizes, choices and numbers; alone, scores or weights may be given. */
void choose_attention(hl_attention_args *args, bool alone);
/* What hides keys; then weights and scores, with so many appended keys. */
void choose_visibility(hl_attention_args *args, uint32_t appended);

/* Elements of the bias, from the first to the last. */
double bias_extent(const hl_attention_args *args);
/* Of weights as weights_mode says. */
double weights_count(const hl_attention_args *args, uint32_t appended);

/* Small, moderate and without a mask that only the seed knows: so a plain loop can be asked. */
bool can_compare(const hl_attention_args *args);

#endif
