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

/* Jobs below MIN_PARALLEL_WORK multiplications and additions (about 15 µs) finish before a worker could start. Waking a
 * worker takes longer still, so jobs below MIN_WAKE_WORK do not wake sleeping workers. */
#define MIN_PARALLEL_WORK 5e5
#define MIN_WAKE_WORK 4e6

/* Polls before a worker sleeps. They take about half a millisecond, so that workers stay awake between the calls of a
 * loop. Longer polling gains nothing, and takes processor time from other threads. */
enum { SPIN_ROUNDS = 300000 };

/* Polls between two calls of pool_watch. They take about 0.1 ms, so the time of the call itself is negligible. */
enum { WATCH_ROUNDS = 1 << 16 };

/* One atomic word, the ticket, holds everything that a thread needs to claim a chunk: the serial number of the job, its
 * number of chunks and the next chunk to be claimed. A worker that arrives late finds no chunk left and accesses
 * nothing else. */
enum { FIELD_BITS = 20 };
#define FIELD_MASK ((1u << FIELD_BITS) - 1)

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

static bool has_work(uint64_t ticket) { return (ticket & FIELD_MASK) < (ticket >> FIELD_BITS & FIELD_MASK); }

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
  uint64_t serial = (LOAD(pool.ticket) >> 2 * FIELD_BITS) + 1;
  STORE(pool.ticket, serial << 2 * FIELD_BITS | (uint64_t)chunks << FIELD_BITS);
}

static void wake_workers(void) {
  ADD(pool.wake, 1);
  if (LOAD(pool.sleepers)) pool_notify(&pool.wake);
}

/* Runs chunks until none is left; returns true if it has run any. */
static bool run_chunks(uint32_t worker) {
  uint32_t chunk;
  bool any = false;
  for (; claim(&chunk); any = true) {
    pool.task(pool.arg, chunk, worker);
    ADD(pool.done, 1);
  }
  return any;
}

/* Waits until `chunks` chunks are done. If a worker has died, its chunk is never done, and pool_watch throws. */
static void join(uint32_t chunks, double work) {
  uint32_t done;
  for (uint64_t round = 1; (done = LOAD(pool.done)) < chunks; round++)
    if (round % WATCH_ROUNDS == 0) pool_watch(round == WATCH_ROUNDS, done, work);
}

void parallel_for(pool_task *task, void *arg, uint32_t chunks, double work) {
  if (pool.size == 1 || chunks < 2 || chunks > FIELD_MASK || work < MIN_PARALLEL_WORK) {
    for (uint32_t chunk = 0; chunk < chunks; chunk++) task(arg, chunk, 0);
    return;
  }
  publish(task, arg, chunks);
  if (work >= MIN_WAKE_WORK) wake_workers();
  run_chunks(0);
  join(chunks, work / chunks);
}

/* Sets the job's number of chunks to 0, so that every further claim fails, and leaves its serial number unchanged. It
 * waits for one chunk fewer than were claimed, because the caller's own chunk, which trapped, will never be done. */
void pool_recover(void) {
  uint32_t claimed = __atomic_fetch_and(&pool.ticket, UINT64_MAX << 2 * FIELD_BITS, __ATOMIC_SEQ_CST) & FIELD_MASK;
  if (claimed) join(claimed - 1, 0);
}

/* A worker first adds itself to `sleepers` and then checks for work a last time. Therefore the caller that publishes a
 * job in between either finds the worker in `sleepers` or has already changed `wake`. */
static void sleep_until_woken(void) {
  ADD(pool.sleepers, 1);
  uint32_t wake = LOAD(pool.wake);
  if (!has_work(LOAD(pool.ticket)) && !LOAD(pool.quit)) pool_wait(&pool.wake, wake);
  ADD(pool.sleepers, -1);
}

void hl_pool_work(uint32_t worker) {
  while (!LOAD(pool.quit)) {
    for (uint32_t idle = 0; idle < SPIN_ROUNDS; idle++) {
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
