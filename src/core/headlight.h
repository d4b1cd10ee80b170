/* Headlight: the public face of the attention core.
 *
 * Every exported function is declared here. Sizes are counts of floats unless a name says bytes.
 * One alphabet: B batch, T queries, S keys, H query heads, G key/value heads, D head width of queries
 * and keys, Dv head width of values, E appended keys, C model width, P past keys.
 *
 * Ownership   the caller owns every pointer it passes; a call keeps none of them. Workspace is taken from
 *             the core's own memory and given back before the call returns.
 * Aliasing    outputs must not overlap inputs or each other.
 * Status      everything is validated before anything is computed from it. On a status other than HL_OK no output
 *             has been touched and no memory is lost.
 * Checked     every size, stride, count, number and choice; that no tensor, by its sizes and strides, is larger than
 *             4 GiB; that each one is given. NULL is accepted for a tensor without elements, and where it says so.
 * Not checked that a pointer other than NULL points to memory of the caller's, aligned, as large as the sizes say:
 *             that is the caller's promise, as it is in C. Else the .wasm may trap, or read and write other tensors.
 *             Strides by which the elements of an output overlap give undefined numbers.
 * Linked      into a program of your own, C or C++, native or WebAssembly: src/core/README.md says how. Tensors and
 *             workspace then come from malloc, and several threads may call at once. With HL_OWN_MEMORY, as the .wasm
 *             of the package are built, all memory beyond __heap_base belongs to the core.
 * Layout      the argument structs hold 4-byte fields only, so on wasm32 field i lies at byte 4·i.
 */
#ifndef HEADLIGHT_H
#define HEADLIGHT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exported from the .wasm. What JavaScript must know of structs, enums and functions is read from here as well. */
#define HL_EXPORT __attribute__((used, visibility("default")))

typedef enum hl_status {
  HL_OK = 0,
  HL_OUT_OF_MEMORY = 1, /* the workspace does not fit below the memory limit */
  HL_BAD_SHAPE = 2,     /* sizes contradict each other: H not a multiple of G, a missing input, ... */
  HL_BAD_ARGUMENT = 3,  /* a number outside its range: NaN scale, dropout above 1, ... */
  HL_BAD_POINTER = 4,   /* hl_tensor_free: not a live block */
} hl_status;

/* ---- memory ----------------------------------------------------------------------------------------- */

/* A block of `count` floats, aligned to 64 bytes, contents undefined. NULL when it does not fit below the
 * limit; `count` is a double so that a product of sizes beyond 2³² arrives as what it is and is refused.
 * A count of 0 gives a valid block. */
HL_EXPORT float *hl_tensor_alloc(double count);

/* Gives a block back. NULL is allowed; anything that is not a live block is HL_BAD_POINTER. Where memory comes from
 * malloc, that is told of an address that is not aligned alone: as with free, the rest is the caller's promise. */
HL_EXPORT hl_status hl_tensor_free(float *block);

HL_EXPORT double hl_memory_used(void); /* bytes in live blocks, their headers included */
/* Bytes of linear memory taken from the host; it never shrinks. Where memory comes from malloc, the bytes in use. */
HL_EXPORT double hl_memory_reserved(void);
HL_EXPORT double hl_memory_limit(void); /* bytes that reserved may grow to; 4 GiB at the start */
HL_EXPORT void hl_memory_set_limit(double bytes);

/* After a call that trapped, once __stack_pointer is what it was before: waits for the threads that still work on
 * it, and frees its workspace. The outputs of that call are undefined. */
HL_EXPORT void hl_recover(void);

/* ---- scaled dot-product attention ------------------------------------------------------------------- */

/* Step in floats from one batch entry, head or row to the next; the last axis is contiguous. */
typedef struct hl_stride {
  uint32_t batch, head, row;
} hl_stride;

/* Step in elements along (B,H,T,S) of an operand that broadcasts: 0 where it is repeated. */
typedef struct hl_broadcast {
  uint32_t batch, head, query, key;
} hl_broadcast;

typedef enum hl_scores {
  HL_SCORES_NONE = 0,
  HL_SCORES_RAW = 1,    /* q·k */
  HL_SCORES_SCALED = 2, /* × scale */
  HL_SCORES_CAPPED = 3, /* softcap · tanh(score / softcap) */
  HL_SCORES_MASKED = 4, /* + bias, hidden keys replaced by fill: what softmax sees */
  HL_SCORES_GIVEN = 5,  /* hl_attention alone: what softmax sees is read from scores */
} hl_scores;

typedef enum hl_weights {
  HL_WEIGHTS_NONE = 0,
  HL_WEIGHTS_HEADS = 1, /* (B,H,T,S+E) */
  HL_WEIGHTS_MEAN = 2,  /* (B,T,S+E), the mean over heads */
  HL_WEIGHTS_GIVEN = 3, /* hl_attention alone, without scores and statistics: (B,H,T,S+E) is read from weights */
} hl_weights;

/* Start with hl_attention_defaults or HL_ATTENTION_DEFAULTS: zeros would be a window of one key. */
typedef struct hl_attention_args {
  float *output;     /* (B,H,T,Dv) by output_stride */
  float *weights;    /* as weights_mode says, contiguous; after dropout */
  float *scores;     /* (B,H,T,S+E), contiguous, at scores_step */
  float *statistics; /* (2,B,H,T), contiguous: max and 1/sum of every row, for hl_attention_backward; or NULL */
  const float *query, *key, *value; /* (B,H,T,D) (B,G,S,D) (B,G,S,Dv), each by its stride */

  /* Keys 0..E−1 appended after the S keys of every batch entry and seen by every query: (E, G·D), (E, G·Dv). */
  const float *appended_key, *appended_value;

  /* What a query may see. All of them together: a key is hidden if any of them hides it.
   * valid_lens: keys at or beyond the length are hidden. offset: position of query 0 among the keys,
   * for causal and window; query t stands at t + offset. */
  const uint8_t *mask;        /* by mask_stride: 0 hides */
  const float *bias;          /* by bias_stride: added to the score */
  const uint8_t *key_padding; /* by key_padding_stride (batch, key): 0 hides */
  const int32_t *valid_lens;  /* by valid_lens_stride (batch, query) */
  const int32_t *offset;      /* (B), or NULL for 0 */
  const uint8_t *keep;        /* (B,H,T,S+E), contiguous: 0 drops the weight; used instead of a seed */
  /* (H,D), or NULL: then scores are not scale · q·k, but scale · Σ additive · tanh(q + k) */
  const float *additive;
  const float *sinks;  /* (H), or NULL: e^sink joins the sum of every row's softmax, but has no key and no value */
  const float *slopes; /* (H), or NULL: −slope · |t + offset − s| is added to the score of key s, if it is not
                                 appended: ALiBi */

  hl_stride output_stride, query_stride, key_stride, value_stride;
  hl_broadcast mask_stride, bias_stride;
  uint32_t key_padding_stride[2], valid_lens_stride[2];

  uint32_t batch, heads, kv_heads, queries, keys, width, value_width, appended; /* B H G T S D Dv E */
  uint32_t weights_mode;                                                        /* hl_weights */
  uint32_t scores_step;                                                         /* hl_scores */
  uint32_t causal;      /* 1: query at position i sees keys 0..i */
  int32_t window_left;  /* −1: no bound; else keys from position i − left on */
  int32_t window_right; /* −1: no bound; else keys up to position i + right */
  uint32_t seed[2];     /* of the dropout mask, low word first */

  float scale;   /* finite */
  float softcap; /* 0: none */
  float fill;    /* −INFINITY: a hidden key has weight 0; finite: the score it is given */
  float dropout; /* probability in [0, 1] that a weight is dropped; the others are × 1/(1−p) */
} hl_attention_args;

/* The first fields of an initialiser in C, which hide no key: {HL_ATTENTION_DEFAULTS, .scale = 0.125f, .batch = 1, …}
 * Strides and scale have no default that fits all sizes and must be given: */
#define HL_ATTENTION_DEFAULTS .window_left = -1, .window_right = -1, .fill = -__builtin_inff()

/* Attention of these sizes over contiguous tensors, (B,H,T,D) (B,G,S,D) (B,G,S,D) → (B,H,T,D): every query sees every
 * key, the scale is 1/√D. The tensors, and whatever else is wanted, are set afterwards. */
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

/* output = softmax(mask(softcap(scale · q·kᵀ) + bias)) · v, where the bias is that of distances as well
 *
 * Windows of 0 to both sides with a fill of 0 are HL_BAD_ARGUMENT: only a struct of zeros asks for that.
 * Query head h reads key/value head h / (H/G). Without weights and scores the result is made by online
 * softmax, with workspace linear in S; with them, a tile of score rows is held, 24·(S+E) floats more.
 * A row that sees no key has weights 0 and output 0; with a finite fill it is uniform. NaN and infinity in
 * a hidden key or value reach no output. B, T, S, D, Dv or E of 0 is allowed.
 * Whichever of weights and scores are asked for, the bits are the same, but for scores before they are scaled; and so
 * are they where scores or weights are given as they were returned. */
HL_EXPORT hl_status hl_attention(const hl_attention_args *args);

/* In reverse: from the gradient of the output, and of the weights where they were returned, to those of the inputs. */
typedef struct hl_attention_backward_args {
  /* As hl_attention was given them; output and statistics as it left them. The weights and scores themselves are not
   * looked at, they are made again tile by tile. */
  hl_attention_args attention;
  float *d_query, *d_key, *d_value;         /* by query_stride, key_stride, value_stride */
  float *d_bias;                            /* by bias_stride, sums where it repeats, ADDED to what is there; or NULL */
  float *d_appended_key, *d_appended_value; /* (E, G·D), (E, G·Dv), sums over B; or NULL */
  float *d_additive;                        /* (H,D), sums over B, T and S, ADDED to what is there; or NULL */
  float *d_sinks;                           /* (H), sums over B and T, ADDED to what is there; or NULL */
  const float *d_output;                    /* (B,H,T,Dv) by output_stride */
  const float *d_weights; /* of the weights as weights_mode says, after dropout, contiguous; or NULL */
} hl_attention_backward_args;

/* A score that was replaced by fill has gradient 0, and so has all of a row that sees no key; NaN and infinity in a
 * hidden key or value reach no gradient. Workspace is linear in T and S, but for d_bias nothing is of size T·S.
 * The result has the same bits for any number of threads: a d_bias that repeats over batch or heads is added up by
 * one thread for all that share it. */
HL_EXPORT hl_status hl_attention_backward(const hl_attention_backward_args *args);

/* present (B,G,P+S,D) = past (B,G,P,D) followed by fresh (B,G,S,D, by its stride). */
HL_EXPORT hl_status hl_cache_append(float *present, const float *past, const float *fresh, uint32_t batch,
                                    uint32_t kv_heads, uint32_t past_keys, uint32_t keys, uint32_t width,
                                    uint32_t fresh_batch_stride, uint32_t fresh_head_stride, uint32_t fresh_row_stride);

/* A cache of constant size, (B,G,capacity,width): its rows first..first + rows − 1 become fresh (B,G,rows,width, by its
 * stride), as float32; or with half 1 as float16, rounded to the nearest, to the even one of two, beyond 65504 to
 * infinity. */
HL_EXPORT hl_status hl_cache_store(void *cache, const float *fresh, uint32_t batch, uint32_t kv_heads, uint32_t first,
                                   uint32_t rows, uint32_t capacity, uint32_t width, uint32_t fresh_batch_stride,
                                   uint32_t fresh_head_stride, uint32_t fresh_row_stride, uint32_t half);
/* rows_out (B,G,rows,width) = rows 0..rows − 1 of a cache in float16. */
HL_EXPORT hl_status hl_cache_load(float *rows_out, const void *cache, uint32_t batch, uint32_t kv_heads, uint32_t rows,
                                  uint32_t capacity, uint32_t width);

/* ---- linear layer ------------------------------------------------------------------------------------ */

/* The types in which files hold numbers. */
typedef enum hl_stored {
  HL_STORED_F32 = 0,
  HL_STORED_F16 = 1,
  HL_STORED_BF16 = 2,
} hl_stored;

/* to(count) = numbers as a file holds them. */
HL_EXPORT hl_status hl_stored_load(float *to, const void *from, uint32_t stored, uint32_t count);

/* y(rows, out) = x(rows, in) · weight(out, in)ᵀ + bias(out); the bias may be NULL. */
HL_EXPORT hl_status hl_linear_forward(float *y, const float *x, const float *weight, const float *bias, uint32_t rows,
                                      uint32_t out, uint32_t in);
/* The same with a weight that lies in memory as a file holds it, and is opened on its way to the product. Numbers of
 * float16 must be finite. */
HL_EXPORT hl_status hl_linear_stored(float *y, const float *x, const void *weight, const float *bias, uint32_t stored,
                                     uint32_t rows, uint32_t out, uint32_t in);

/* dx(rows, in) = dy(rows, out) · weight. The gradients of the parameters are ADDED to what is there, so that several
 * calls sum up: dweight(out, in) += dyᵀ · x, dbias(out) += Σ dy over the rows. Any of the three may be NULL. */
HL_EXPORT hl_status hl_linear_backward(float *dx, float *dweight, float *dbias, const float *dy, const float *x,
                                       const float *weight, uint32_t rows, uint32_t out, uint32_t in);

/* ---- multi-head attention --------------------------------------------------------------------------- */

/* The layer takes its weights packed: in the order in which the kernel reads them, the same for every
 * flavour. Packing costs about as much as one row of input; do it once. Floats that a packed weight takes,
 * and packed = weight (out, in): */
HL_EXPORT double hl_weight_packed_size(uint32_t out, uint32_t in);
HL_EXPORT hl_status hl_weight_pack(float *packed, const float *weight, uint32_t out, uint32_t in);

/* The same rounded to nine bits, each output channel in groups of 128 inputs with a scale of their own: 29% of the
 * memory, and faster. The inputs of a product are rounded too, each row by its own scale: to 16 bits, or to 12 where
 * the processor multiplies four bytes at a time. So the packed form, of the same size everywhere, is good for the
 * machine it was made on. A row or channel that is not finite gives NaN. */
HL_EXPORT double hl_weight_quantized_size(uint32_t out, uint32_t in);
HL_EXPORT hl_status hl_weight_quantize(float *packed, const float *weight, uint32_t out, uint32_t in);

/* Rows first..first + count − 1 of a weight, so that it need not be in memory as a whole: packed as hl_weight_quantize
 * does. first is a multiple of 8, and count as well unless these are the last rows. The packed weight is good once all
 * its rows have been given; without any, once those from 0 have. */
HL_EXPORT hl_status hl_weight_quantize_rows(float *packed, const void *rows, uint32_t stored, uint32_t first,
                                            uint32_t count, uint32_t out, uint32_t in);

/* y(rows, out) = x(rows, in) · weightᵀ + bias(out) with a weight as hl_weight_quantize makes it; bias may be NULL. */
HL_EXPORT hl_status hl_linear_quantized(float *y, const float *x, const float *quantized, const float *bias,
                                        uint32_t rows, uint32_t out, uint32_t in);
/* output (count, in): row labels[i] of such a weight as floats. A label that is no row of it is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_weight_rows(float *output, const float *quantized, const int32_t *labels, uint32_t count,
                                   uint32_t out, uint32_t in);

typedef struct hl_multihead_args {
  /* Start with hl_attention_defaults here as well. output (B,T,C), weights, scores, visibility, sizes and numbers as
   * above; value_width is width; keys counts past_keys as well. The call itself sets query, key, value, appended,
   * additive and all strides but those of the masks. */
  hl_attention_args attention;

  const float *query, *key, *value;   /* (B,T,query_dim) (B,S−P,key_dim) (B,S−P,value_dim), contiguous */
  const float *past_key, *past_value; /* (B,G,P,D) or NULL */
  float *present_key, *present_value; /* (B,G,S,D), given exactly when the past is */
  const float *packed_wq, *packed_wk, *packed_wv, *packed_wo; /* (H·D,query_dim) (G·D,key_dim) (G·D,value_dim)
                                           (C,H·D); no wo: the heads are the output, (B,T,H·D). NULL only without
                                           rows */
  const float *bq, *bk, *bv, *bo;                             /* or NULL */
  const float *bias_key, *bias_value;                         /* (G·D) or NULL: one learned key, appended */
  /* Rotary positions, of projected queries and fresh keys, with a table as hl_rotary takes it; or NULL. The past is
   * taken as turned already, and the present is turned. */
  const float *rotary_table;
  const int32_t *query_positions, *key_positions; /* (B,T), (B,S−P): rows of the table */
  float *saved; /* hl_multihead_saved_size floats that take what backward needs; or NULL, as it must be with a cache */
  uint32_t rotated, rotary_count, rotary_neighbours; /* as of hl_rotary */
  uint32_t query_dim, key_dim, value_dim, output_dim, past_keys;
  uint32_t zero_attention; /* 1: one key and value of zeros appended */
  uint32_t int8;           /* 1: the weights are as hl_weight_quantize makes them */
} hl_multihead_args;

/* project → split → attend → concat → project. appended is set here, from bias_key and zero_attention. */
HL_EXPORT hl_status hl_multihead_forward(const hl_multihead_args *args);

/* Floats of `saved`: projections, heads, and two for each of their rows. Nothing of size T·S. NaN where the arguments,
 * of which no tensor need be given yet, are not valid. */
HL_EXPORT double hl_multihead_saved_size(const hl_multihead_args *args);

typedef struct hl_multihead_backward_args {
  /* As hl_multihead_forward was given them and left them, inputs unchanged; float weights, not int8. The packed
   * weights and the output are not looked at. */
  hl_multihead_args forward;
  float *d_query, *d_key, *d_value; /* as query, key, value; the same block twice takes the sum */
  float *d_bias, *d_sinks;          /* ADDED to, as hl_attention_backward does; or NULL */
  /* Of the parameters, ADDED to what is there; NULL where there is none. */
  float *d_wq, *d_wk, *d_wv, *d_wo, *d_bq, *d_bk, *d_bv, *d_bo, *d_bias_key, *d_bias_value;
  const float *d_output, *d_weights; /* as output and weights; d_weights may be NULL */
  const float *wq, *wk, *wv, *wo;    /* the weights as they are, not packed; only wo may be NULL, where it was */
} hl_multihead_backward_args;

HL_EXPORT hl_status hl_multihead_backward(const hl_multihead_backward_args *args);

/* ---- threads: only in the flavours with shared memory ------------------------------------------------ */

/* They import env.memory, which is shared, and host.watch(first, done, work), which a call that waits for its workers
 * calls every 0.1 ms or so: `first` is 1 when it begins to wait, `done` how many parts of the job are finished, `work`
 * the multiplications and additions of one. Where it throws, as when a worker has died, the call has trapped. */

/* What a worker runs, on an instance and a stack of its own, numbered from 1; returns after hl_pool_quit. */
HL_EXPORT void hl_pool_work(uint32_t worker);
/* Threads that take part from now on, the caller's included: when the workers 1..size−1 run. */
HL_EXPORT void hl_pool_resize(uint32_t size);
/* Ends the workers' hl_pool_work; calls go on with one thread. */
HL_EXPORT void hl_pool_quit(void);

/* ---- layers beside attention ------------------------------------------------------------------------ */

/* Rows of C floats, one after the other. Gradients of inputs are written, gradients of parameters are added to
 * what is there. Sums run in a fixed order: the same bits for any number of threads. Any size may be 0: then
 * outputs of size 0 are not touched, and sums over nothing are 0. */

/* output (B,T,C): row t of each batch entry = table[label] + position[first + t]. table (count,C), labels (B,T),
 * position (at least first + T, C) or NULL. A label that is no row of the table is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_embedding_forward(float *output, const float *table, const float *position,
                                         const int32_t *labels, uint32_t batch, uint32_t rows, uint32_t width,
                                         uint32_t count, uint32_t first);
/* d_table[label] += d_output, d_position[first + t] += d_output; d_position may be NULL. */
HL_EXPORT hl_status hl_embedding_backward(float *d_table, float *d_position, const float *d_output,
                                          const int32_t *labels, uint32_t batch, uint32_t rows, uint32_t width,
                                          uint32_t count, uint32_t first);

/* Layer norm by rows (rows,width): output = (x − mean) · rstd · weight + bias, rstd = 1 / √(variance + eps), the
 * variance that of the whole row. With mean NULL it is RMS norm: the same without a mean, about zero.
 * mean and rstd (rows) are kept for backward. bias may be NULL. Where eps is 0, a row without variance gives NaN. */
HL_EXPORT hl_status hl_norm_forward(float *output, float *mean, float *rstd, const float *x, const float *weight,
                                    const float *bias, uint32_t rows, uint32_t width, float eps);
/* dx is written; d_weight += Σ d_output · (x − mean) · rstd, d_bias += Σ d_output; d_bias may be NULL. */
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

/* Within 2e−7 · max(1, |x|), the gradient within 3e−7; tanh within 4e−7. output may be x; dx may be d_output or x. */
HL_EXPORT hl_status hl_activation_forward(float *output, const float *x, uint32_t count, uint32_t kind);
HL_EXPORT hl_status hl_activation_backward(float *dx, const float *d_output, const float *x, uint32_t count,
                                           uint32_t kind);

/* output = activation(gate) · up. output may be gate or up; d_gate may be gate, d_up may be up. */
HL_EXPORT hl_status hl_gated_forward(float *output, const float *gate, const float *up, uint32_t count, uint32_t kind);
HL_EXPORT hl_status hl_gated_backward(float *d_gate, float *d_up, const float *d_output, const float *gate,
                                      const float *up, uint32_t count, uint32_t kind);

/* output = cap · tanh(x / cap), cap > 0; it may be x. Backward goes by the output, dx may be d_output or output:
 * dx = d_output · (1 − (output / cap)²). */
HL_EXPORT hl_status hl_softcap_forward(float *output, const float *x, uint32_t count, float cap);
HL_EXPORT hl_status hl_softcap_backward(float *dx, const float *d_output, const float *output, uint32_t count,
                                        float cap);

/* Rotary positions. x and output are (B,heads,rows,width), both by the same strides; output may be x. The row at
 * positions (B,rows) of table (count, 2, rotated/2) has its cosines, then its sines; a position that is no row of the
 * table is HL_BAD_ARGUMENT. Each pair (a, b) of elements becomes (a·cos − b·sin, b·cos + a·sin): element n and
 * n + rotated/2, or with neighbours 1 elements 2n and 2n + 1. Elements from `rotated`, which is even, on are copied.
 * With reverse 1 the sine has the other sign: the gradient. */
HL_EXPORT hl_status hl_rotary(float *output, const float *x, const float *table, const int32_t *positions,
                              uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, uint32_t rotated,
                              uint32_t count, uint32_t neighbours, uint32_t reverse, uint32_t batch_stride,
                              uint32_t head_stride, uint32_t row_stride);

/* Relative positions in buckets: bias (H,T,S) [h][t][s] = table[bucket[s − t + T − 1]][h], table (buckets,H), bucket
 * (T + S − 1). A bucket that is no row of the table is HL_BAD_ARGUMENT. Backward: d_table += the sums of d_bias. */
HL_EXPORT hl_status hl_relative_forward(float *bias, const float *table, const int32_t *bucket, uint32_t buckets,
                                        uint32_t heads, uint32_t queries, uint32_t keys);
HL_EXPORT hl_status hl_relative_backward(float *d_table, const float *d_bias, const int32_t *bucket, uint32_t buckets,
                                         uint32_t heads, uint32_t queries, uint32_t keys);

/* sum = a + b; it may be either of them. */
HL_EXPORT hl_status hl_add(float *sum, const float *a, const float *b, uint32_t count);

typedef struct hl_loss {
  float loss;       /* the mean over counted rows; 0 where there are none */
  uint32_t counted; /* rows whose label is not the ignored one */
  uint32_t correct; /* those of them whose largest logit, the first of equals, is that of the label */
} hl_loss;

/* With p = softmax(logits), by rows (rows,classes), and the target (1 − smoothing) at the label plus
 * smoothing / classes everywhere: loss = −Σ target · ln p, d_logits = (p − target) / counted.
 * losses (rows) and best (rows), the place of the largest logit, are written for every row; best is −1
 * in a row of NaN. A row whose label is `ignore` has loss 0 and gradient 0. d_logits may be NULL, or logits.
 * A label that is neither `ignore` nor a class, or a smoothing outside [0, 1], is HL_BAD_ARGUMENT. */
HL_EXPORT hl_status hl_cross_entropy(hl_loss *result, float *d_logits, float *losses, int32_t *best,
                                     const float *logits, const int32_t *labels, uint32_t rows, uint32_t classes,
                                     float smoothing, int32_t ignore);

/* loss = Σ (prediction − target)² / count, d_prediction = 2 (prediction − target) / count, which may be NULL, or
 * prediction. Of no numbers the loss is 0. */
HL_EXPORT hl_status hl_mean_squared_error(float *loss, float *d_prediction, const float *prediction,
                                          const float *target, uint32_t count);

/* ---- optimisers -------------------------------------------------------------------------------------- */

/* One step over `count` floats, in place; buffers start as zeros. Numbers that are not finite are
 * HL_BAD_ARGUMENT.
 *
 * g = gradient + decay · parameter;  velocity = momentum · velocity + g;
 * parameter −= rate · (nesterov ? g + momentum · velocity : velocity). */
HL_EXPORT hl_status hl_sgd_step(float *parameter, float *velocity, const float *gradient, uint32_t count, double rate,
                                double momentum, double decay, uint32_t nesterov);

/* mean = β₁ · mean + (1 − β₁) · g;  square = β₂ · square + (1 − β₂) · g²;
 * parameter −= rate / (1 − β₁ˢ) · mean / (√(square / (1 − β₂ˢ)) + eps), s the step, counted from 1.
 * Adam: g = gradient + decay · parameter. Decoupled (AdamW): g = gradient, and first parameter · (1 − rate · decay). */
HL_EXPORT hl_status hl_adam_step(float *parameter, float *mean, float *square, const float *gradient, uint32_t count,
                                 uint32_t step, double rate, double beta1, double beta2, double eps, double decay,
                                 uint32_t decoupled);

/* Σ x², in double precision and always in the same order: the square of a norm. NaN where x is missing. */
HL_EXPORT double hl_square_sum(const float *x, uint32_t count);
/* x = x · factor */
HL_EXPORT hl_status hl_scale(float *x, uint32_t count, float factor);

/* ---- about ------------------------------------------------------------------------------------------ */

HL_EXPORT uint32_t hl_simd(void);    /* 0: plain simd128, 1: relaxed */
HL_EXPORT uint32_t hl_abi(void);     /* a hash of this header's structs, enums and prototypes; 0 where none was given */
HL_EXPORT uint32_t hl_version(void); /* of the package: major · 2¹⁶ + minor · 2⁸ + patch */

#ifdef __cplusplus
}
#endif

#endif
