/* What the arguments of attention must be. */
#ifndef HL_VALIDATE_H
#define HL_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

hl_status attention_validate(const hl_attention_args *args);
hl_status attention_backward_validate(const hl_attention_backward_args *args);

/* Of hl_cache_append. */
bool cache_fits(const float *present, const float *past, const float *fresh, uint32_t batch, uint32_t kv_heads,
                uint32_t past_keys, uint32_t keys, uint32_t width, const hl_stride *fresh_stride);

/* For the layer, which has query, key, value and output of its own: the rest of the arguments. Sizes, numbers and
 * choices, for which no tensor need be given; then what is as large as the weights. */
hl_status attention_validate_sizes(const hl_attention_args *args);

/* Scores or weights are given, which only hl_attention reads. */
bool attention_is_given(const hl_attention_args *args);
bool attention_has_results(const hl_attention_args *args);
bool attention_has_gradients(const hl_attention_backward_args *args);

/* The arguments with an address, and strides of 0, for tensors without elements, which may have any: so that nothing
 * else need ask before it computes a pointer. */
hl_attention_args attention_settle(const hl_attention_args *args);
float *attention_address(const float *tensor);

#endif
