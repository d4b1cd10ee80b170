/* Validation of the arguments of attention. */
#ifndef HL_VALIDATE_H
#define HL_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

hl_status attention_validate(const hl_attention_args *args);
hl_status attention_backward_validate(const hl_attention_backward_args *args);

/* Validates the arguments of hl_cache_append. */
bool cache_fits(const float *present, const float *past, const float *fresh, uint32_t batch, uint32_t kv_heads,
                uint32_t past_keys, uint32_t keys, uint32_t width, const hl_stride *fresh_stride);

/* Validates sizes, numbers and enums, for which no tensor is needed. The multi-head layer has its own query, key, value
 * and output; it calls this function and attention_has_results to validate the other arguments. */
hl_status attention_validate_sizes(const hl_attention_args *args);

/* attention_has_given_input is true if scores or weights are inputs, which only hl_attention supports.
 * attention_has_results is true if the tensors of weights and scores are valid, attention_has_gradients if those of
 * optional gradients are. */
bool attention_has_given_input(const hl_attention_args *args);
bool attention_has_results(const hl_attention_args *args);
bool attention_has_gradients(const hl_attention_backward_args *args);

/* Returns a copy of the arguments in which tensors without elements have a valid address and strides of 0, so that
 * pointer arithmetic needs no further checks. attention_nonnull returns a valid address if the tensor is NULL. */
hl_attention_args attention_fill_empty(const hl_attention_args *args);
float *attention_nonnull(const float *tensor);

#endif
