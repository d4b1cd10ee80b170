/* Fork and join. The pool knows nothing of mathematics; what runs on it knows nothing of threads but that
 * chunks run in any order and several at once, each worker one at a time. */
#ifndef HL_POOL_H
#define HL_POOL_H

#include <stdint.h>

typedef void pool_task(void *arg, uint32_t chunk, uint32_t worker);

/* Threads that take part, the caller included; workers are numbered 0..size−1, the caller is 0. */
uint32_t pool_size(void);

/* task(arg, chunk, worker) for every chunk; returns when all are done. `work` is the whole's number of
 * multiplications and additions, about: too little of it is not worth sharing. */
void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work);

#endif
