/* Fork and join. The chunks of a task run in any order and in parallel; each worker runs one chunk at a time. */
#ifndef HL_POOL_H
#define HL_POOL_H

#include <stdint.h>

typedef void pool_task(void *arg, uint32_t chunk, uint32_t worker);

/* Number of threads, including the caller's. Workers are numbered 0..size−1; the caller is 0. */
uint32_t pool_size(void);

/* Calls task(arg, chunk, worker) for every chunk and returns when all are done. `work` is the approximate number of
 * multiplications and additions of the whole task, or the number that would take as long as the task. The caller alone
 * runs a task with little work. */
void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work);

/* To be called after a parallel_for that trapped. Prevents further chunks from starting, and returns when the chunks
 * that workers have started are done. */
void pool_recover(void);

/* Threads exist in the .wasm, whose workers share a memory that belongs to the core alone, and in native programs that
 * define HL_POOL_NATIVE. Otherwise every task runs on the caller's thread. */
#if defined(HL_POOL_NATIVE) || (defined(__wasm_atomics__) && defined(HL_OWN_MEMORY))
#define HL_POOL
#endif

/* Functions that the pool needs from the system. pool_wait sleeps while a word has a value, pool_notify wakes all
 * threads that sleep on that word, and pool_watch is host.watch (see headlight.h). With HL_POOL_NATIVE the program
 * defines these functions, and calls hl_pool_work on its own threads. */
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
