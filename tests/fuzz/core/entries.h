/* Each function calls one or two entries of headlight.h, with arguments from input.h. */
#ifndef HL_FUZZ_ENTRIES_H
#define HL_FUZZ_ENTRIES_H

void fuzz_blocks(void);
void fuzz_limit(void);

void fuzz_attention(void);
void fuzz_cache(void);
void fuzz_cache_rows(void);
void fuzz_packing(void);
void fuzz_packing_rows(void);
void fuzz_stored_load(void);
void fuzz_quantized(void);
void fuzz_multihead(void);

void fuzz_linear_forward(void);
void fuzz_linear_stored(void);
void fuzz_linear_backward(void);
void fuzz_embedding_forward(void);
void fuzz_embedding_backward(void);
void fuzz_norm_forward(void);
void fuzz_norm_backward(void);
void fuzz_activation(void);
void fuzz_gated(void);
void fuzz_softcap(void);
void fuzz_rotary(void);
void fuzz_relative(void);
void fuzz_add(void);
void fuzz_scale(void);
void fuzz_loss(void);
void fuzz_squared_error(void);
void fuzz_sgd(void);
void fuzz_adam(void);

#endif
