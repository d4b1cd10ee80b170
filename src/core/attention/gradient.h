/* The gradients of keys and values. The tiles of queries add them up in panels, one set for a key/value head and part
 * of the queries: [⌈keys/8⌉][D][8] of the keys, then [⌈keys/8⌉][Dv][8] of the values, appended keys among them. The
 * sets of the parts are added in their order and stored; the gradients of appended keys are then summed over the
 * batch. */
#ifndef HL_GRADIENT_H
#define HL_GRADIENT_H

#include "attention/schedule.h"

typedef struct {
  const hl_attention_backward_args *args;
  uint32_t part_count;
  float *parts;    /* sets of panels, [B·G][part_count], where there are several parts */
  float *appended; /* [B][E][G·(D+Dv)] */
} gradients;

/* Floats of one set of panels, of `parts`, of `appended`. */
double gradient_floats(const hl_attention_args *args);
double gradient_parts_floats(const hl_attention_args *args, uint32_t part_count);
double gradient_appended_floats(const hl_attention_args *args);

/* The panels of the values in a set. */
float *gradient_value(const hl_attention_args *args, float *panels);

/* The set of a head and part, zeros: `own`, a place of the thread's, where there is one part only. */
float *gradient_begin(const gradients *g, float *own, const head_part *h);
/* Stores it, where there is one part only. */
void gradient_end(const gradients *g, float *panels, const head_part *h);
/* Else this does, a head_task of `gradients`. */
void gradient_join(const void *gradients, uint32_t thread, const head_part *h);

void gradient_sum_appended(const gradients *g);

#endif
