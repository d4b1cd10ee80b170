/* Division of the work of attention among threads. */
#ifndef HL_SCHEDULE_H
#define HL_SCHEDULE_H

#include "headlight.h"

/* A chunk covers `batches` batch entries, `heads` key/value heads of each, and one of `parts` parts of the queries. */
typedef struct {
  uint32_t batches, heads, parts, part_queries;
} schedule;

/* A part consists of whole tiles of `tile` queries. The backward schedule depends only on the sizes, so that every
 * number of threads gives the same bits. */
schedule schedule_forward(const hl_attention_args *args, uint32_t tile);
schedule schedule_backward(const hl_attention_backward_args *args, uint32_t tile);

/* Number of threads that need a workspace of their own, numbered from 0. */
uint32_t schedule_threads(const schedule *s, const hl_attention_args *args);

/* Queries first..last−1 of all query heads that use one key/value head. */
typedef struct {
  uint32_t batch, kv_head, part, first, last;
} head_part;

typedef void head_task(const void *arg, uint32_t thread, const head_part *h);

/* Calls task(arg, thread, h) for every key/value head and every part of the queries. `work` is as in parallel_for. */
void schedule_for_each_part(const schedule *s, const hl_attention_args *args, head_task *task, const void *arg,
                            double work);

/* Calls task(arg, thread, h) once for every key/value head, with all its queries. */
void schedule_for_each_head(const hl_attention_args *args, head_task *task, const void *arg, double work);

#endif
