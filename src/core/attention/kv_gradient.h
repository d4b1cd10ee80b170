/* Gradients of keys and values. The tiles of queries add up the gradients in a set of panels for each key/value head
 * and part of the queries. A set is [⌈(S+E)/8⌉][D][8] for the keys, then [⌈(S+E)/8⌉][Dv][8] for the values, both
 * including the appended keys. The sets of all parts are added in order and stored. The gradients of appended keys are
 * then summed over the batch. */
#ifndef HL_KV_GRADIENT_H
#define HL_KV_GRADIENT_H

#include "attention/schedule.h"

typedef struct {
  const hl_attention_backward_args *args;
  uint32_t part_count;
  float *parts;    /* sets of panels, [B·G][part_count]; used only if part_count > 1 */
  float *appended; /* [B][E][G·(D+Dv)] */
} kv_gradients;

/* Number of floats of one set of panels, of the buffer `parts`, and of the buffer `appended`. */
double kv_gradient_floats(const hl_attention_args *args);
double kv_gradient_parts_floats(const hl_attention_args *args, uint32_t part_count);
double kv_gradient_appended_floats(const hl_attention_args *args);

/* Returns the address of the panels of the values in a set. */
float *kv_gradient_value(const hl_attention_args *args, float *panels);

/* Returns the set of a head and part of the queries, filled with zeros. If there is only one part, the set is
 * `scratch`, a buffer of the thread. */
float *kv_gradient_begin(const kv_gradients *g, float *scratch, const head_part *h);
/* Stores the set if there is only one part. */
void kv_gradient_end(const kv_gradients *g, float *panels, const head_part *h);
/* Adds the sets of all parts and stores the sum. To be called if there are several parts, as a head_task whose argument
 * is `kv_gradients`. */
void kv_gradient_join(const void *kv_gradients, uint32_t thread, const head_part *h);

void kv_gradient_sum_appended(const kv_gradients *g);

#endif
