/* Headlight: the public interface of the attention core.
 *
 * Every exported function is declared here. Sizes are numbers of floats unless the name says bytes. Letters of shapes:
 * B batch, T queries, S keys, H query heads, G key/value heads, D head width of queries and keys, Dv head width of
 * values, E appended keys, C model width, P past keys.
 *
 * Ownership   the caller owns every pointer it passes; no call stores one. The workspace of a call is allocated from
 *             the core's own memory and freed before the call returns.
 * Aliasing    outputs must not overlap inputs or each other, except where a function allows it.
 * Status      all arguments are validated before anything is computed from them. If the status is not HL_OK, no output
 *             has been written and no memory is leaked.
 * Flavour     a build of the .wasm: with plain or relaxed SIMD, with or without threads.
 * Checked     every size, stride, count, number and enum value; that no tensor, by its sizes and strides, is larger
 *             than 4 GiB; that required tensors are not NULL. NULL is accepted for a tensor without elements, and for
 *             optional tensors.
 * Not checked that a pointer other than NULL is aligned and points to memory of the caller, as large as the sizes say:
 *             as in C, this is the caller's responsibility. Otherwise the .wasm may trap, or read and write other
 *             tensors. If strides make elements of an output overlap, the results are undefined.
 * Linked      into your own program, in C or C++, native or WebAssembly: see src/core/README.md. Tensors and workspace
 *             then come from malloc, and several threads may call at once. With HL_OWN_MEMORY, which the .wasm files of
 *             the package are built with, all memory beyond __heap_base belongs to the core.
 * Layout      the argument structs contain 4-byte fields only, so on wasm32 field i is at byte 4·i.
 */
#ifndef HEADLIGHT_H
#define HEADLIGHT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks an export of the .wasm. The JavaScript bindings (structs, enums, functions) are generated from this file. */
#define HL_EXPORT __attribute__((used, visibility("default")))

typedef enum hl_status {
  HL_OK = 0,
  HL_OUT_OF_MEMORY = 1, /* the workspace does not fit below the memory limit */
  HL_BAD_SHAPE = 2,     /* sizes contradict each other: H not a multiple of G, a missing input, ... */
  HL_BAD_ARGUMENT = 3,  /* a number outside its range: NaN scale, dropout above 1, ... */
  HL_BAD_POINTER = 4,   /* hl_tensor_free: the pointer is not a live block */
} hl_status;

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Returns a block of `count` floats, aligned to 64 bytes, with undefined contents; NULL if the block would exceed the
 * memory limit. `count` is a double so that a product of sizes beyond 2³² does not wrap but is refused. A count of 0
 * gives a valid block. */
HL_EXPORT float *hl_tensor_alloc(double count);

/* Frees a block. NULL is allowed; a pointer that is not a live block gives HL_BAD_POINTER. If memory comes from malloc,
 * only addresses that are not aligned are detected, so the caller must pass a valid block, as with free. */
HL_EXPORT hl_status hl_tensor_free(float *block);

HL_EXPORT double hl_memory_used(void); /* bytes in live blocks, including their headers */
/* Bytes of linear memory that the host has provided; never decreases. If memory comes from malloc, the bytes in use. */
HL_EXPORT double hl_memory_reserved(void);
HL_EXPORT double hl_memory_limit(void); /* maximum of hl_memory_reserved, in bytes; initially 4 GiB */
HL_EXPORT void hl_memory_set_limit(double bytes);

/* To be called after a call has trapped, when __stack_pointer has been restored: waits for the threads that still work
 * on that call, and frees its workspace. The outputs of the call are undefined. */
HL_EXPORT void hl_recover(void);

/* ---- scaled dot-product attention ------------------------------------------------------------------- */

/* Steps in floats from one batch entry, head or row to the next; the last axis is contiguous. */
typedef struct hl_stride {
  uint32_t batch, head, row;
} hl_stride;

/* Steps in elements along (B,H,T,S) for a tensor that is broadcast; 0 along an axis on which it is repeated. */
typedef struct hl_broadcast {
  uint32_t batch, head, query, key;
} hl_broadcast;

/* The step whose result is stored in `scores`. Each step changes the result of the step before it. */
typedef enum hl_scores {
  HL_SCORES_NONE = 0,
  HL_SCORES_RAW = 1,    /* q·k */
  HL_SCORES_SCALED = 2, /* × scale */
  HL_SCORES_CAPPED = 3, /* softcap · tanh(score / softcap) */
  HL_SCORES_MASKED = 4, /* + bias, masked keys replaced by fill: the input of softmax */
  HL_SCORES_GIVEN = 5,  /* hl_attention only: the input of softmax is read from scores */
} hl_scores;

typedef enum hl_weights {
  HL_WEIGHTS_NONE = 0,
  HL_WEIGHTS_HEADS = 1, /* (B,H,T,S+E) */
  HL_WEIGHTS_MEAN = 2,  /* (B,T,S+E), the mean over heads */
  HL_WEIGHTS_GIVEN = 3, /* hl_attention only: weights (B,H,T,S+E) are an input, without scores and statistics */
} hl_weights;

/* Number types of keys and values. A row of D numbers has hl_cache_row_size(D, type) floats; strides count floats. */
typedef enum hl_keys {
  HL_KEYS_FLOAT32 = 0,
  HL_KEYS_FLOAT16 = 1, /* every number must be finite */
  HL_KEYS_INT8 = 2,    /* the scale, largest magnitude / 127, as a float; then the numbers as multiples of it */
} hl_keys;

/* Start with hl_attention_defaults or HL_ATTENTION_DEFAULTS. A struct of zeros would mean a window of one key. */
typedef struct hl_attention_args {
  float *output;     /* (B,H,T,Dv), strided by output_stride */
  float *weights;    /* contiguous, shape by weights_mode; the values after dropout */
  float *scores;     /* (B,H,T,S+E), contiguous; the values after the step scores_step */
  float *statistics; /* (2,B,H,T), contiguous: max and 1/sum of every row, for hl_attention_backward; or NULL */
  const float *query, *key, *value; /* (B,H,T,D), (B,G,S,D) and (B,G,S,Dv), strided */

  /* E keys and values, appended after the S keys of every batch entry and visible to every query: (E,G·D), (E,G·Dv). */
  const float *appended_key, *appended_value;

  /* Masking. A key is masked if any of the following conditions masks it. valid_lens masks the keys at or beyond the
   * length. offset is the position of query 0 among the keys, for causal and the windows: query t has position t +
   * offset. */
  const uint8_t *mask;        /* (B,H,T,S) broadcast by mask_stride: 0 masks the key */
  const float *bias;          /* (B,H,T,S) broadcast by bias_stride: added to the score */
  const uint8_t *key_padding; /* (B,S), key_padding_stride (batch, key): 0 masks the key */
  const int32_t *valid_lens;  /* (B,T), valid_lens_stride (batch, query) */
  const int32_t *offset;      /* (B), or NULL for 0 */
  const uint8_t *keep;        /* (B,H,T,S+E), contiguous: 0 drops the weight; replaces the seed. Or NULL */
  /* (H,D), or NULL. If not NULL, scores are scale · Σ additive · tanh(q + k) instead of scale · q·k. */
  const float *additive;
  /* (H), or NULL. e^sink is added to the sum of every row's softmax; the sink has no key and no value. */
  const float *sinks;
  /* (H), or NULL: −slope · |t + offset − s| is added to the score of key s, except for appended keys (ALiBi). */
  const float *slopes;

  hl_stride output_stride, query_stride, key_stride, value_stride;
  hl_broadcast mask_stride, bias_stride;
  uint32_t key_padding_stride[2], valid_lens_stride[2];

  /* B, H, G, T, S, D, Dv and E. */
  uint32_t batch, heads, kv_heads, queries, keys, width, value_width, appended;
  uint32_t weights_mode; /* hl_weights */
  uint32_t scores_step;  /* hl_scores */
  uint32_t causal;       /* 1: the query at position i attends to keys 0..i only */
  int32_t window_left;   /* −1: no bound; otherwise keys from position i − left on */
  int32_t window_right;  /* −1: no bound; otherwise keys up to position i + right */
  uint32_t seed[2];      /* seed of the dropout mask, low word first */
  uint32_t key_type;     /* hl_keys; other types than float32 require E = 0 and additive = NULL, and suit few queries */

  float scale;   /* finite */
  float softcap; /* 0: none */
  float fill;    /* −INFINITY: a masked key has weight 0; finite: the score of a masked key */
  float dropout; /* probability in [0, 1] that a weight is dropped; the others are multiplied by 1/(1−p) */
} hl_attention_args;

/* First fields of an initialiser in C, which mask no key: {HL_ATTENTION_DEFAULTS, .scale = 0.125f, .batch = 1, …}.
 * Strides and scale have no default that fits all sizes, so they must be set. */
#define HL_ATTENTION_DEFAULTS .window_left = -1, .window_right = -1, .fill = -__builtin_inff()

/* Returns arguments for attention of these sizes over contiguous tensors, (B,H,T,D) (B,G,S,D) (B,G,S,D) → (B,H,T,D). No
 * key is masked, and the scale is 1/√D. The caller then sets the tensors and any options. */
static inline hl_attention_args hl_attention_defaults(uint32_t batch, uint32_t heads, uint32_t kv_heads,
                                                      uint32_t queries, uint32_t keys, uint32_t width) {
  hl_attention_args a;
  __builtin_memset(&a, 0, sizeof a);
  a.batch = batch;
  a.heads = heads;
  a.kv_heads = kv_heads;
  a.queries = queries;
  a.keys = keys;
  a.width = a.value_width = width;
  a.query_stride.row = a.key_stride.row = width;
  a.query_stride.head = queries * width;
  a.query_stride.batch = heads * queries * width;
  a.key_stride.head = keys * width;
  a.key_stride.batch = kv_heads * keys * width;
  a.output_stride = a.query_stride;
  a.value_stride = a.key_stride;
  a.window_left = a.window_right = -1;
  a.scale = width ? 1 / __builtin_sqrtf((float)width) : 1;
  a.fill = -__builtin_inff();
  return a;
}

/* output = softmax(mask(softcap(scale · q·kᵀ) + bias)) · v, where the bias includes the bias of slopes
 *
 * Windows of 0 on both sides with a fill of 0 are HL_BAD_ARGUMENT, because this combination only occurs in a struct of
 * zeros. Query head h uses key/value head ⌊h / (H/G)⌋. If neither weights nor scores are requested, the output is
 * computed by online softmax, with a workspace linear in S; otherwise the workspace contains 24·(S+E) more floats, a
 * tile of score rows. A query whose keys are all masked has weights 0 and output 0, or equal weights if fill is finite.
 * NaN and infinity in a masked key or value do not reach any output. B, T, S, D, Dv and E may be 0.
 *
 * The bits of the output do not depend on which weights and scores are requested, except for HL_SCORES_RAW. The bits
 * also stay the same if returned scores or weights are passed back as an input. */
HL_EXPORT hl_status hl_attention(const hl_attention_args *args);

/* Arguments of the backward pass, which computes the gradients of the inputs from the gradient of the output and, if
 * weights were returned, the gradient of the weights. */
typedef struct hl_attention_backward_args {
  /* The arguments of hl_attention, with output and statistics as that call has set them. Weights and scores are not
   * read, because they are recomputed tile by tile. */
  hl_attention_args attention;
  float *d_query, *d_key, *d_value; /* shapes and strides of query, key, value */
  float *d_bias;                    /* as bias, summed over broadcast axes, ADDED to the existing values; or NULL */
  float *d_appended_key, *d_appended_value; /* (E,G·D), (E,G·Dv), sums over B; or NULL */
  float *d_additive;                        /* (H,D), sums over B, T and S, ADDED to the existing values; or NULL */
  float *d_sinks;                           /* (H), sums over B and T, ADDED to the existing values; or NULL */
  const float *d_output;                    /* (B,H,T,Dv), strided by output_stride */
  const float *d_weights; /* gradient of the weights, shape by weights_mode, after dropout, contiguous; or NULL */
} hl_attention_backward_args;

/* The gradient of a score that was replaced by fill is 0. If fill is −INFINITY, all gradients of a query whose keys are
 * all masked are 0. NaN and infinity in a masked key or value do not reach any gradient. The workspace is linear in T
 * and S; only d_bias has size T·S. The result has the same bits for any number of threads. To ensure this, one thread
 * adds up all contributions to d_bias if it is broadcast over batch or heads. */
HL_EXPORT hl_status hl_attention_backward(const hl_attention_backward_args *args);

/* present (B,G,P+S,D) = past (B,G,P,D) followed by fresh (B,G,S,D, strided). */
HL_EXPORT hl_status hl_cache_append(float *present, const float *past, const float *fresh, uint32_t batch,
                                    uint32_t kv_heads, uint32_t past_keys, uint32_t keys, uint32_t width,
                                    uint32_t fresh_batch_stride, uint32_t fresh_head_stride, uint32_t fresh_row_stride);

/* Returns the number of floats in a cache row of `width` numbers; type is an hl_keys. */
HL_EXPORT uint32_t hl_cache_row_size(uint32_t width, uint32_t type);
/* Stores fresh (B,G,rows,width, strided) as rows first..first + rows − 1 of a cache of constant size
 * (B,G,capacity,row). Numbers are rounded to nearest, ties to even. In float16, a magnitude that rounds beyond 65504
 * becomes infinity; in int8, a row with a number that is not finite becomes NaN. type is an hl_keys. */
HL_EXPORT hl_status hl_cache_store(void *cache, const float *fresh, uint32_t batch, uint32_t kv_heads, uint32_t first,
                                   uint32_t rows, uint32_t capacity, uint32_t width, uint32_t fresh_batch_stride,
                                   uint32_t fresh_head_stride, uint32_t fresh_row_stride, uint32_t type);
/* rows_out (B,G,rows,width) = rows 0..rows − 1 of a cache (B,G,capacity,row) of float16 or int8. */
HL_EXPORT hl_status hl_cache_load(float *rows_out, const void *cache, uint32_t batch, uint32_t kv_heads, uint32_t rows,
                                  uint32_t capacity, uint32_t width, uint32_t type);

/* ---- linear layer ------------------------------------------------------------------------------------ */

/* Number types of the weights in files. */
typedef enum hl_stored {
  HL_STORED_F32 = 0,
  HL_STORED_F16 = 1,
  HL_STORED_BF16 = 2,
} hl_stored;

/* to(count) = from(count), converted from a stored type to float32. */
HL_EXPORT hl_status hl_stored_load(float *to, const void *from, uint32_t stored, uint32_t count);

/* y(rows, out) = x(rows, in) · weight(out, in)ᵀ + bias(out); bias may be NULL. */
HL_EXPORT hl_status hl_linear_forward(float *y, const float *x, const float *weight, const float *bias, uint32_t rows,
                                      uint32_t out, uint32_t in);
/* hl_linear_forward for a weight (out, in) of a stored type, which is converted while the product is computed. Numbers
 * of float16 must be finite. */
HL_EXPORT hl_status hl_linear_stored(float *y, const float *x, const void *weight, const float *bias, uint32_t stored,
                                     uint32_t rows, uint32_t out, uint32_t in);

/* dx(rows, in) = dy(rows, out) · weight(out, in). The gradients of the parameters are ADDED to the existing values, so
 * that several calls sum up: dweight(out, in) += dyᵀ · x, dbias(out) += Σ dy over the rows. Each of the three gradients
 * may be NULL. */
HL_EXPORT hl_status hl_linear_backward(float *dx, float *dweight, float *dbias, const float *dy, const float *x,
                                       const float *weight, uint32_t rows, uint32_t out, uint32_t in);

/* ---- multi-head attention --------------------------------------------------------------------------- */

/* The multi-head layer uses packed weights. Their numbers are in the order in which the kernel reads them, the same for
 * every flavour. Packing takes about as long as multiplying one row of input, so do it once. hl_weight_packed_size
 * returns the size of a packed weight in floats; hl_weight_pack packs weight (out, in). */
HL_EXPORT double hl_weight_packed_size(uint32_t out, uint32_t in);
HL_EXPORT hl_status hl_weight_pack(float *packed, const float *weight, uint32_t out, uint32_t in);

/* hl_weight_quantize packs a weight rounded to nine bits, in groups of 128 inputs of an output channel with a scale for
 * each group. It takes 29% of the memory of floats, and products are faster. Product inputs are rounded with a scale
 * per row: to 16 bits, or to 12 if the processor multiplies four bytes at a time. The packed form has the same size
 * everywhere, but is valid only on the machine that packed it. A row or channel that is not finite gives NaN. */
HL_EXPORT double hl_weight_quantized_size(uint32_t out, uint32_t in);
HL_EXPORT hl_status hl_weight_quantize(float *packed, const float *weight, uint32_t out, uint32_t in);

/* Packs rows first..first + count − 1 of a weight like hl_weight_quantize, so that the weight need not be in memory as
 * a whole: rows (count, in) of a stored type. `first` must be a multiple of 8, and so must `count`, unless these are
 * the last rows. The packed weight is valid after all of its rows have been packed, in any order; a weight without rows
 * is valid after a call with first = 0. */
HL_EXPORT hl_status hl_weight_quantize_rows(float *packed, const void *rows, uint32_t stored, uint32_t first,
                                            uint32_t count, uint32_t out, uint32_t in);

/* y(rows, out) = x(rows, in) · weightᵀ + bias(out), the weight packed by hl_weight_quantize; bias may be NULL. */
HL_EXPORT hl_status hl_linear_quantized(float *y, const float *x, const float *quantized, const float *bias,
                                        uint32_t rows, uint32_t out, uint32_t in);
/* Row i of output (count, in) = row labels[i] of a weight packed by hl_weight_quantize, as floats. A label outside of
 * the weight is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_weight_rows(float *output, const float *quantized, const int32_t *labels, uint32_t count,
                                   uint32_t out, uint32_t in);

/* The form of a weight in blocks, as in GGUF files. A block is `length` inputs of a row (32; with 8 bits also 16), with
 * a scale and, if has_minimums, a minimum: weight = scale · code + minimum. Codes of 4 bits are unsigned; without
 * minimums, 8 is subtracted from them. Codes of 8 bits are signed. `in` must be a multiple of 32.
 *
 * The inputs of a product are rounded in groups of 32, to 16 bits, or to 8 if has_byte_inputs, which is faster and only
 * for codes of 4 bits. The results have the same bits for every flavour, processor and number of threads.
 * hl_blocks_size returns the size of the packed form in floats, or NaN if the form does not exist. */
typedef struct hl_block_form {
  uint32_t bits, length, has_minimums, has_byte_inputs;
} hl_block_form;
HL_EXPORT double hl_blocks_size(const hl_block_form *form, uint32_t out, uint32_t in);
/* Packs rows first..first + count − 1, as hl_weight_quantize_rows does. A row consists of the scales of its blocks as
 * floats, their minimums if the form has them, then its codes, one byte each. The first call must have first = 0. */
HL_EXPORT hl_status hl_blocks_pack(float *packed, const hl_block_form *form, const void *rows, uint32_t first,
                                   uint32_t count, uint32_t out, uint32_t in);
/* Packs rows (count, in) of a stored type, which are rounded to blocks of 4 bits without minimums. The inputs of
 * products are rounded to 8 bits. */
HL_EXPORT hl_status hl_blocks_quantize_rows(float *packed, const void *rows, uint32_t stored, uint32_t first,
                                            uint32_t count, uint32_t out, uint32_t in);
/* Changes a packed weight of 4 bits so that later products round their inputs to 8 bits. */
HL_EXPORT hl_status hl_blocks_use_byte_inputs(float *packed, uint32_t out, uint32_t in);
/* hl_linear_quantized and hl_weight_rows for a weight in blocks. */
HL_EXPORT hl_status hl_blocks_linear(float *y, const float *x, const float *packed, const float *bias, uint32_t rows,
                                     uint32_t out, uint32_t in);
HL_EXPORT hl_status hl_blocks_rows(float *output, const float *packed, const int32_t *labels, uint32_t count,
                                   uint32_t out, uint32_t in);

typedef struct hl_multihead_args {
  /* Start with hl_attention_defaults here too. output (B,T,C); weights, scores, visibility, sizes and numbers as in
   * hl_attention; value_width is width; keys includes past_keys. The call itself sets query, key, value, appended,
   * additive and all strides except those of the masks. */
  hl_attention_args attention;

  const float *query, *key, *value;   /* (B,T,query_dim), (B,S−P,key_dim) and (B,S−P,value_dim), contiguous */
  const float *past_key, *past_value; /* (B,G,P,D) or NULL */
  float *present_key, *present_value; /* (B,G,S,D) or NULL: the cache after this call; with past keys it is required */
  /* Packed weights: wq (H·D,query_dim), wk (G·D,key_dim), wv (G·D,value_dim), wo (C,H·D). If packed_wo is NULL, the
   * output is the heads, (B,T,H·D). Each of the other three may be NULL only if it has no rows. */
  const float *packed_wq, *packed_wk, *packed_wv, *packed_wo;
  const float *bq, *bk, *bv, *bo;     /* bq (H·D), bk and bv (G·D), bo (C); or NULL */
  const float *bias_key, *bias_value; /* (G·D) or NULL: one learned key and value, appended */
  /* Rotary positions of projected queries and fresh keys, with a table (rotary_count, 2, rotated/2) as in hl_rotary; or
   * NULL. Past keys must be rotated already; present keys are rotated. */
  const float *rotary_table;
  const int32_t *query_positions, *key_positions; /* (B,T), (B,S−P): rows of the table */
  /* Buffer of hl_multihead_saved_size floats for the tensors that backward needs. NULL without backward or with a
   * cache */
  float *saved;
  uint32_t rotated, rotary_count, rotary_neighbours; /* as in hl_rotary */
  uint32_t query_dim, key_dim, value_dim, output_dim, past_keys;
  uint32_t zero_attention; /* 1: one key and value of zeros appended */
  uint32_t int8;           /* 1: the weights were packed by hl_weight_quantize */
} hl_multihead_args;

/* project → split → attend → concat → project. The number of appended keys is set by the call, from bias_key and
 * zero_attention. */
HL_EXPORT hl_status hl_multihead_forward(const hl_multihead_args *args);

/* Returns the size of `saved` in floats: the projections, the heads and two floats for each row of a head, but nothing
 * of size T·S. NaN if the arguments are not valid. This call does not need the tensors. */
HL_EXPORT double hl_multihead_saved_size(const hl_multihead_args *args);

typedef struct hl_multihead_backward_args {
  /* The arguments of hl_multihead_forward, with unchanged inputs and with `saved` as that call has set it. int8 must be
   * 0. The packed weights and the output are not read. */
  hl_multihead_args forward;
  float *d_query, *d_key, *d_value; /* like query, key, value; two equal addresses receive the sum of both gradients */
  float *d_bias, *d_sinks;          /* ADDED to the existing values, as in hl_attention_backward; or NULL */
  /* Gradients of the parameters, ADDED to the existing values; NULL for a missing parameter. */
  float *d_wq, *d_wk, *d_wv, *d_wo, *d_bq, *d_bk, *d_bv, *d_bo, *d_bias_key, *d_bias_value;
  const float *d_output, *d_weights; /* like output and weights; d_weights may be NULL */
  const float *wq, *wk, *wv, *wo;    /* the weights, not packed; wo is NULL if and only if packed_wo is */
} hl_multihead_backward_args;

HL_EXPORT hl_status hl_multihead_backward(const hl_multihead_backward_args *args);

/* ---- threads: only in the flavours with shared memory ------------------------------------------------ */

/* These flavours import env.memory, which is shared, and host.watch(first, done, work). A call that waits for its
 * workers calls host.watch about every 0.1 ms: `first` is 1 when the wait begins, `done` is the number of finished
 * parts of the job, `work` the multiplications and additions of one part. If host.watch throws, for instance because a
 * worker has died, the call has trapped. */

/* Runs the loop of a worker, on an instance and a stack of its own; workers are numbered from 1. Returns after
 * hl_pool_quit. */
HL_EXPORT void hl_pool_work(uint32_t worker);
/* Sets the number of threads, including the caller's; call it when the workers 1..size−1 run. */
HL_EXPORT void hl_pool_resize(uint32_t size);
/* Ends hl_pool_work in all workers; later calls use one thread. */
HL_EXPORT void hl_pool_quit(void);

/* ---- other layers ---------------------------------------------------------------------------------- */

/* Tensors are contiguous rows of C floats. Gradients of inputs are written, gradients of parameters are added to the
 * existing values. Sums have a fixed order, so the bits are the same for any number of threads. Any size may be 0.
 * Outputs of size 0 are not written, and sums over nothing are 0. */

/* output (B,T,C): row t of each batch entry = table[label] + position[first + t]. table (count,C), labels (B,T),
 * position (at least first + T, C) or NULL. A label outside of the table is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_embedding_forward(float *output, const float *table, const float *position,
                                         const int32_t *labels, uint32_t batch, uint32_t rows, uint32_t width,
                                         uint32_t count, uint32_t first);
/* d_table[label] += d_output, d_position[first + t] += d_output; d_position may be NULL. */
HL_EXPORT hl_status hl_embedding_backward(float *d_table, float *d_position, const float *d_output,
                                          const int32_t *labels, uint32_t batch, uint32_t rows, uint32_t width,
                                          uint32_t count, uint32_t first);

/* Layer norm of the rows of x (rows,width): output = (x − mean) · rstd · weight + bias, rstd = 1 / √(variance + eps),
 * with the biased variance. If mean is NULL, it is RMS norm: 0 replaces the mean. mean (rows) and rstd (rows) are saved
 * for backward. weight (width), bias (width) or NULL. If eps is 0, a row without variance gives NaN. */
HL_EXPORT hl_status hl_norm_forward(float *output, float *mean, float *rstd, const float *x, const float *weight,
                                    const float *bias, uint32_t rows, uint32_t width, float eps);
/* dx (rows,width) is written; d_weight (width) += Σ d_output · (x − mean) · rstd, d_bias (width) += Σ d_output; d_bias
 * may be NULL. */
HL_EXPORT hl_status hl_norm_backward(float *dx, float *d_weight, float *d_bias, const float *d_output, const float *x,
                                     const float *mean, const float *rstd, const float *weight, uint32_t rows,
                                     uint32_t width);

typedef enum hl_activation {
  HL_ACTIVATION_GELU = 0,       /* x · Φ(x), Φ the normal distribution */
  HL_ACTIVATION_GELU_TANH = 1,  /* x · ½ (1 + tanh(√(2/π) (x + 0.044715 x³))) */
  HL_ACTIVATION_QUICK_GELU = 2, /* x · σ(1.702 x), σ(x) = 1 / (1 + e⁻ˣ) */
  HL_ACTIVATION_RELU = 3,       /* max(x, 0); its slope at 0 is 0 */
  HL_ACTIVATION_SILU = 4,       /* x · σ(x) */
  HL_ACTIVATION_TANH = 5,
} hl_activation;

/* The error is within 2e−7 · max(1, |x|), that of the gradient within 3e−7, that of tanh within 4e−7. output may be x;
 * dx may be d_output or x. */
HL_EXPORT hl_status hl_activation_forward(float *output, const float *x, uint32_t count, uint32_t kind);
HL_EXPORT hl_status hl_activation_backward(float *dx, const float *d_output, const float *x, uint32_t count,
                                           uint32_t kind);

/* output = activation(gate) · up. output may be gate or up; d_gate may be gate, d_up may be up. */
HL_EXPORT hl_status hl_gated_forward(float *output, const float *gate, const float *up, uint32_t count, uint32_t kind);
HL_EXPORT hl_status hl_gated_backward(float *d_gate, float *d_up, const float *d_output, const float *gate,
                                      const float *up, uint32_t count, uint32_t kind);

/* output = cap · tanh(x / cap), cap > 0; output may be x. Backward uses the output: dx = d_output ·
 * (1 − (output / cap)²); dx may be d_output or output. */
HL_EXPORT hl_status hl_softcap_forward(float *output, const float *x, uint32_t count, float cap);
HL_EXPORT hl_status hl_softcap_backward(float *dx, const float *d_output, const float *output, uint32_t count,
                                        float cap);

/* Rotary positions. x and output are (B,heads,rows,width) with the same strides; output may be x. Row positions[b][row]
 * of table (count, 2, rotated/2) contains cosines, then sines; positions (B,rows). A position outside of the table is
 * HL_BAD_ARGUMENT. Each pair (a, b) of elements becomes (a·cos − b·sin, b·cos + a·sin). The pair is elements n and n +
 * rotated/2, or elements 2n and 2n + 1 if neighbours is 1. `rotated` is even; elements from `rotated` on are copied. If
 * reverse is 1, the sine has the opposite sign, which gives the gradient. */
HL_EXPORT hl_status hl_rotary(float *output, const float *x, const float *table, const int32_t *positions,
                              uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, uint32_t rotated,
                              uint32_t count, uint32_t neighbours, uint32_t reverse, uint32_t batch_stride,
                              uint32_t head_stride, uint32_t row_stride);

/* Relative positions in buckets: bias (H,T,S) [h][t][s] = table[bucket[s − t + T − 1]][h], table (buckets,H), bucket
 * (T + S − 1). A bucket outside of the table is HL_BAD_ARGUMENT. Backward adds the sums of d_bias to d_table. */
HL_EXPORT hl_status hl_relative_forward(float *bias, const float *table, const int32_t *bucket, uint32_t buckets,
                                        uint32_t heads, uint32_t queries, uint32_t keys);
HL_EXPORT hl_status hl_relative_backward(float *d_table, const float *d_bias, const int32_t *bucket, uint32_t buckets,
                                         uint32_t heads, uint32_t queries, uint32_t keys);

/* sum = a + b; sum may be a or b. */
HL_EXPORT hl_status hl_add(float *sum, const float *a, const float *b, uint32_t count);

typedef struct hl_loss {
  float loss;       /* the mean over counted rows; 0 if there are none */
  uint32_t counted; /* rows whose label is not `ignore` */
  uint32_t correct; /* counted rows whose largest logit (the first if several are equal) is that of the label */
} hl_loss;

/* Cross entropy of logits (rows,classes). With p = softmax(logits) and a target of (1 − smoothing) at the label plus
 * smoothing / classes everywhere: loss = −Σ target · ln p, d_logits = (p − target) / counted. losses (rows) and best
 * (rows), the index of the largest logit, are written for every row; best is −1 in a row of NaN. A row whose label is
 * `ignore` has loss 0 and gradient 0. d_logits may be NULL, or logits. A label that is neither `ignore` nor a class, or
 * a smoothing outside [0, 1], is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_cross_entropy(hl_loss *result, float *d_logits, float *losses, int32_t *best,
                                     const float *logits, const int32_t *labels, uint32_t rows, uint32_t classes,
                                     float smoothing, int32_t ignore);

/* loss = Σ (prediction − target)² / count, d_prediction = 2 (prediction − target) / count; d_prediction may be NULL, or
 * prediction. If count is 0 the loss is 0. */
HL_EXPORT hl_status hl_mean_squared_error(float *loss, float *d_prediction, const float *prediction,
                                          const float *target, uint32_t count);

/* ---- optimisers -------------------------------------------------------------------------------------- */

/* One step for `count` parameters, in place; all buffers start as zeros. Numbers that are not finite are
 * HL_BAD_ARGUMENT.
 *
 * g = gradient + decay · parameter;  velocity = momentum · velocity + g;
 * parameter −= rate · (nesterov ? g + momentum · velocity : velocity). */
HL_EXPORT hl_status hl_sgd_step(float *parameter, float *velocity, const float *gradient, uint32_t count, double rate,
                                double momentum, double decay, uint32_t nesterov);

/* mean = β₁ · mean + (1 − β₁) · g;  square = β₂ · square + (1 − β₂) · g²;
 * parameter −= rate / (1 − β₁ˢ) · mean / (√(square / (1 − β₂ˢ)) + eps), s the step, counted from 1.
 * Adam: g = gradient + decay · parameter. Decoupled (AdamW): g = gradient, and first parameter *= 1 − rate · decay. */
HL_EXPORT hl_status hl_adam_step(float *parameter, float *mean, float *square, const float *gradient, uint32_t count,
                                 uint32_t step, double rate, double beta1, double beta2, double eps, double decay,
                                 uint32_t decoupled);

/* Σ x² in double precision and in a fixed order: the square of the L2 norm. NaN if x is missing. */
HL_EXPORT double hl_square_sum(const float *x, uint32_t count);
/* x = x · factor */
HL_EXPORT hl_status hl_scale(float *x, uint32_t count, float factor);

/* ---- about ------------------------------------------------------------------------------------------ */

HL_EXPORT uint32_t hl_simd(void); /* 0: plain simd128, 1: relaxed SIMD */
HL_EXPORT uint32_t
hl_abi(void); /* a hash of this header's structs, enums and prototypes; 0 if the build did not define it */
HL_EXPORT uint32_t hl_version(void); /* version of the package: major · 2¹⁶ + minor · 2⁸ + patch */

#ifdef __cplusplus
}
#endif

#endif
