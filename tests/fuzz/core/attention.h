/* Arguments of attention that hl_attention and the layer share. */
#ifndef HL_FUZZ_ATTENTION_H
#define HL_FUZZ_ATTENTION_H

#include "input.h"

/* Sizes, enums and numbers; only hl_attention alone accepts given scores or weights. */
void choose_attention(hl_attention_args *args, bool alone);
/* Arguments that hide keys; then weights and scores, with this many appended keys. */
void choose_visibility(hl_attention_args *args, uint32_t appended);

/* Elements of the bias, from the first to the last. */
double bias_extent(const hl_attention_args *args);
/* Floats of the weights for weights_mode. */
double weights_count(const hl_attention_args *args, uint32_t appended);

/* True if the sizes are small, the numbers are moderate and the mask does not depend on a seed: then a plain loop can
 * check the results. */
bool can_compare(const hl_attention_args *args);

#endif
