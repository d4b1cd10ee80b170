#include "base/pool.h"

#include <stdbool.h>

#include "headlight.h"

#ifndef HL_POOL

uint32_t pool_size(void) { return 1; }

void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work) {
  (void)work;
  for (uint32_t chunk = 0; chunk < chunks; chunk++) task(arg, chunk, 0);
}

void pool_recover(void) {}

#else

/* A job of fewer multiplications and additions than SHARE_LEAST (some 15 µs) is done before a worker could start on it.
 * Waking a worker takes longer still: for a job below WAKE_LEAST those that sleep are not woken. */
#define SHARE_LEAST 5e5
#define WAKE_LEAST 4e6

/* Rounds of looking for work before a worker sleeps: about half a millisecond, so that workers stay awake between the
 * calls of a loop. Longer spins gain nothing, and take processor time from others. */
enum { SPIN = 300000 };

/* Rounds of waiting for workers between two calls of pool_watch: some 0.1 ms, beside which the call takes no time. */
enum { WATCH = 1 << 16 };

/* One word says all that a claim must know at once: the serial number of the job, the chunks it has, and the
 * next to be claimed. A worker that comes late finds none left and touches nothing else. */
enum { FIELD = 20 };
#define FIELD_MASK ((1u << FIELD) - 1)

static struct {
  pool_task *task;
  void *arg;
  uint64_t ticket; /* serial << 40 | chunks << 20 | next */
  uint32_t size, done, sleepers, wake, quit;
} pool = {.size = 1};

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define ADD(x, n) __atomic_fetch_add(&(x), n, __ATOMIC_SEQ_CST)
#define STORE(x, value) __atomic_store_n(&(x), value, __ATOMIC_SEQ_CST)

uint32_t pool_size(void) { return pool.size; }

static bool has_work(uint64_t ticket) { return (ticket & FIELD_MASK) < (ticket >> FIELD & FIELD_MASK); }

static bool claim(uint32_t *chunk) {
  uint64_t ticket = LOAD(pool.ticket);
  while (has_work(ticket)) {
    *chunk = (uint32_t)ticket & FIELD_MASK;
    if (__atomic_compare_exchange_n(&pool.ticket, &ticket, ticket + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return true;
  }
  return false;
}

static void publish(pool_task *task, void *arg, uint32_t chunks) {
  pool.task = task;
  pool.arg = arg;
  STORE(pool.done, 0);
  uint64_t serial = (LOAD(pool.ticket) >> 2 * FIELD) + 1;
  STORE(pool.ticket, serial << 2 * FIELD | (uint64_t)chunks << FIELD);
}

static void wake_workers(void) {
  ADD(pool.wake, 1);
  if (LOAD(pool.sleepers)) pool_notify(&pool.wake);
}

/* Runs chunks until none is left to claim; whether there was one. */
static bool run_chunks(uint32_t worker) {
  uint32_t chunk;
  bool any = false;
  for (; claim(&chunk); any = true) {
    pool.task(pool.arg, chunk, worker);
    ADD(pool.done, 1);
  }
  return any;
}

/* Waits until so many chunks are done. Where a worker has died they never are: pool_watch throws then. */
static void join(uint32_t chunks, double work) {
  uint32_t done;
  for (uint64_t round = 1; (done = LOAD(pool.done)) < chunks; round++)
    if (round % WATCH == 0) pool_watch(round == WATCH, done, work);
}

void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work) {
  if (pool.size == 1 || chunks < 2 || chunks > FIELD_MASK || work < SHARE_LEAST) {
    for (uint32_t chunk = 0; chunk < chunks; chunk++) task(arg, chunk, 0);
    return;
  }
  publish(task, arg, chunks);
  if (work >= WAKE_LEAST) wake_workers();
  run_chunks(0);
  join(chunks, work / chunks);
}

/* The job keeps its number and has no chunks any more: a claim fails. Of those claimed before, the one of the caller
 * that did not return is never done. */
void pool_recover(void) {
  uint32_t claimed = __atomic_fetch_and(&pool.ticket, UINT64_MAX << 2 * FIELD, __ATOMIC_SEQ_CST) & FIELD_MASK;
  if (claimed) join(claimed - 1, 0);
}

/* A worker that is about to sleep is counted first and looks for work last: whoever publishes in between
 * either sees it counted or has changed `wake`. */
static void sleep_until_woken(void) {
  ADD(pool.sleepers, 1);
  uint32_t wake = LOAD(pool.wake);
  if (!has_work(LOAD(pool.ticket)) && !LOAD(pool.quit)) pool_wait(&pool.wake, wake);
  ADD(pool.sleepers, -1);
}

void hl_pool_work(uint32_t worker) {
  while (!LOAD(pool.quit)) {
    for (uint32_t idle = 0; idle < SPIN; idle++) {
      if (run_chunks(worker)) idle = 0;
    }
    sleep_until_woken();
  }
}

void hl_pool_resize(uint32_t size) { pool.size = size; }

void hl_pool_quit(void) {
  pool.size = 1;
  STORE(pool.quit, 1);
  wake_workers();
}

#endif
