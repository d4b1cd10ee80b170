/* Fork and join: the chunks of a task run in any order, several at once, one at a time on each worker. */
#ifndef HL_POOL_H
#define HL_POOL_H

#include <stdint.h>

typedef void pool_task(void *arg, uint32_t chunk, uint32_t worker);

/* Threads that take part, the caller included; workers are numbered 0..size−1, the caller is 0. */
uint32_t pool_size(void);

/* task(arg, chunk, worker) for every chunk; returns when all are done. `work` is the whole's number of
 * multiplications and additions, about, or of those that would take as long: too little of it is not worth sharing. */
void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work);

/* After a parallel_for that did not return: no chunk is begun any more, and those that workers have begun are done. */
void pool_recover(void);

/* Threads: of the .wasm, whose workers share a memory that belongs to the core alone; or of a native program. Elsewhere
 * a task runs on the thread of the caller. */
#if defined(HL_POOL_NATIVE) || (defined(__wasm_atomics__) && defined(HL_OWN_MEMORY))
#define HL_POOL
#endif

/* What the pool asks of the system: to sleep while a word has a value, to wake all that sleep on it, and host.watch of
 * headlight.h. With HL_POOL_NATIVE the program brings them, and calls hl_pool_work on threads of its own. */
#ifdef HL_POOL_NATIVE
void pool_wait(uint32_t *word, uint32_t value);
void pool_notify(uint32_t *word);
void pool_watch(uint32_t first, uint32_t done, double work);
#elif defined(HL_POOL)
static inline void pool_wait(uint32_t *word, uint32_t value) {
  __builtin_wasm_memory_atomic_wait32((int *)word, (int)value, -1);
}
static inline void pool_notify(uint32_t *word) { __builtin_wasm_memory_atomic_notify((int *)word, UINT32_MAX); }
__attribute__((import_module("host"), import_name("watch"))) void pool_watch(uint32_t first, uint32_t done,
                                                                             double work);
#endif

#endif
