/* How the work of attention is shared out among threads. */
#ifndef HL_SCHEDULE_H
#define HL_SCHEDULE_H

#include "headlight.h"

/* A chunk takes `batches` batch entries, of each `heads` key/value heads, and one of `parts` parts of the queries. */
typedef struct {
  uint32_t batches, heads, parts, part_queries;
} schedule;

/* A part is of whole tiles of so many queries. Backward the sizes alone decide, so that every number of threads gives
 * the same bits. */
schedule schedule_forward(const hl_attention_args *args, uint32_t tile);
schedule schedule_backward(const hl_attention_backward_args *args, uint32_t tile);

/* Threads that need workspace of their own, numbered from 0. */
uint32_t schedule_threads(const schedule *s, const hl_attention_args *args);

/* The queries first..last−1 of the heads of one key/value head. */
typedef struct {
  uint32_t batch, kv_head, part, first, last;
} head_part;

typedef void head_task(const void *arg, uint32_t thread, const head_part *h);

/* task(arg, thread, h) for every key/value head and part of the queries. `work` as of parallel_for. */
void schedule_run(const schedule *s, const hl_attention_args *args, head_task *task, const void *arg, double work);

/* task(arg, thread, h) once for every key/value head, with all its queries. */
void schedule_heads(const hl_attention_args *args, head_task *task, const void *arg, double work);

#endif
