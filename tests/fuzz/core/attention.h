/* Arguments of attention that hl_attention and the layer share. */
#ifndef HL_FUZZ_ATTENTION_H
#define HL_FUZZ_ATTENTION_H

#include "input.h"

/* Chooses sizes, enums and numbers. Only hl_attention, not the layer, accepts scores or weights as inputs (`alone`). */
void choose_attention(hl_attention_args *args, bool alone);
/* Chooses the arguments that mask keys, then the tensors of weights and scores, for this many appended keys. */
void choose_visibility(hl_attention_args *args, uint32_t appended);

/* Returns the number of floats from the first element of the bias to the last. */
double bias_extent(const hl_attention_args *args);
/* Returns the number of floats of the weights in this weights_mode. */
double weights_count(const hl_attention_args *args, uint32_t appended);

/* Returns true if a plain loop can check the results, because the sizes are small, the numbers are moderate and the
 * dropout mask does not depend on a seed. */
bool can_compare(const hl_attention_args *args);

#endif
