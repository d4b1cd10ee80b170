/* Tests the thread pool on native threads under ThreadSanitizer: jobs of many sizes, workers that sleep and wake,
 * jobs that the caller abandons, and shutdown. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "headlight.h"

enum { THREADS = 4, MAX_CHUNKS = 300, JOBS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void pool_wait(uint32_t *word, uint32_t value) {
  pthread_mutex_lock(&lock);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void pool_notify(uint32_t *word) {
  (void)word;
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* Replaces the check for dead workers, because no worker dies in this test. */
void pool_watch(uint32_t first, uint32_t done, double work) {
  (void)first, (void)done, (void)work;
  sched_yield();
}

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "pool: failed: %s\n", what);
  exit(1);
}

/* The counts are not atomic, so that ThreadSanitizer reports a race if two threads run a chunk, or if a count is
 * read before the job is done. */
typedef struct {
  uint32_t runs[MAX_CHUNKS], by[THREADS];
} job;

static void run_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  job *j = arg;
  j->runs[chunk]++;
  j->by[worker]++; /* each worker has an element, like the workspaces of attention */
  for (volatile uint32_t i = 0; i < 200; i++) continue;
}

static void run_job(uint32_t chunks, double work) {
  job j = {.runs = {0}};
  uint32_t runs = 0;
  parallel_for(run_chunk, &j, chunks, work);
  for (uint32_t c = 0; c < chunks; c++) check(j.runs[c] == 1, "every chunk is run once");
  for (uint32_t w = 0; w < THREADS; w++) runs += j.by[w];
  check(runs == chunks, "every run is counted");
}

static jmp_buf trap;

static void run_chunk_or_trap(void *arg, uint32_t chunk, uint32_t worker) {
  run_chunk(arg, chunk, worker);
  if (worker == 0 && chunk > 3) longjmp(trap, 1);
}

/* Simulates a caller that traps during a job. No worker may access the job after pool_recover. */
static void run_trapping_job(void) {
  job *j = calloc(1, sizeof *j);
  if (!j) abort();
  if (!setjmp(trap)) parallel_for(run_chunk_or_trap, j, MAX_CHUNKS, 1e7);
  pool_recover();
  memset(j, 0xFF, sizeof *j);
  free(j);
  pool_recover();
}

static void *work(void *number) {
  hl_pool_work((uint32_t)(uintptr_t)number);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (uintptr_t w = 1; w < THREADS; w++) check(pthread_create(&threads[w], NULL, work, (void *)w) == 0, "it starts");
  hl_pool_resize(THREADS);
  for (uint32_t i = 0; i < JOBS; i++) {
    run_job(i * 37 % MAX_CHUNKS, i % 3 ? 1e7 : 1e6); /* the smaller jobs wake no worker */
    if (i % 100 == 99) run_trapping_job();
    if (i % 200 == 0) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* lets workers go to sleep */
  }
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* hl_pool_quit must wake the sleeping workers */
  hl_pool_quit();
  for (uint32_t w = 1; w < THREADS; w++) pthread_join(threads[w], NULL);
  run_job(10, 1e7);
  puts("ok");
  return 0;
}
