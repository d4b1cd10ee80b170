#include "attention/schedule.h"

#include "base/pool.h"

/* Forward, a part holds at least so many tiles, for each part packs the keys once more; and there are to be so many
 * chunks for every thread. */
enum { PART_TILES = 4, THREAD_CHUNKS = 8 };

static uint64_t divide_up(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

/* The queries in so many parts, as even as they go in whole tiles. */
static schedule in_parts(uint32_t batches, uint32_t heads, uint64_t queries, uint64_t parts, uint32_t tile) {
  if (parts <= 1) return (schedule){batches, heads, 1, (uint32_t)queries};
  const uint64_t part = divide_up(divide_up(queries, parts), tile) * tile;
  return (schedule){batches, heads, (uint32_t)divide_up(queries, part), (uint32_t)part};
}

/* One thread takes everything as one chunk. The mean of the weights is added up over the heads in their order, so there
 * a chunk holds them all. Otherwise it is one head; the queries are parted where the heads alone would leave threads
 * idle. */
schedule schedule_forward(const hl_attention_args *a, uint32_t tile) {
  const uint64_t threads = pool_size();
  if (threads == 1 && a->batch > 0) return (schedule){a->batch, a->kv_heads, 1, a->queries};
  const uint32_t heads = a->weights_mode == HL_WEIGHTS_MEAN ? a->kv_heads : 1;
  const uint64_t groups = (uint64_t)a->batch * (a->kv_heads / heads);
  uint64_t parts = 1;
  if (groups < THREAD_CHUNKS * threads && groups > 0) {
    const uint64_t most = divide_up(a->queries, PART_TILES * (uint64_t)tile);
    parts = divide_up(THREAD_CHUNKS * threads, groups);
    if (parts > most) parts = most;
  }
  return in_parts(1, heads, a->queries, parts, tile);
}

/* A chunk takes all heads and batch entries that add to the same d_bias. Where these chunks are few, the queries are
 * parted, and the parts of a head's d_key and d_value added up in their order afterwards. */
enum { LEAST_CHUNKS = 8, LEAST_TILES = 2 };

schedule schedule_backward(const hl_attention_backward_args *g, uint32_t tile) {
  const hl_attention_args *a = &g->attention;
  const hl_broadcast *b = &a->bias_stride;
  const uint64_t heads = (uint64_t)a->batch * a->kv_heads, most = divide_up(a->queries, LEAST_TILES * (uint64_t)tile);
  uint64_t parts = heads > 0 && !(g->d_bias && b->query == 0) ? divide_up(LEAST_CHUNKS, heads) : 1;
  if (parts > most) parts = most;
  const uint32_t batches = g->d_bias && b->batch == 0 && a->batch > 0 ? a->batch : 1;
  return in_parts(batches, g->d_bias && b->head == 0 ? a->kv_heads : 1, a->queries, parts, tile);
}

static uint32_t chunks_of(const schedule *s, const hl_attention_args *a) {
  return a->batch / s->batches * (a->kv_heads / s->heads) * s->parts;
}

/* Any thread may take any chunk; a single one is the caller's. */
uint32_t schedule_threads(const schedule *s, const hl_attention_args *a) {
  return chunks_of(s, a) > 1 ? pool_size() : 1;
}

typedef struct {
  const schedule *schedule;
  uint32_t queries, groups; /* groups of heads in a batch entry */
  head_task *task;
  const void *arg;
} run;

static void run_chunk(void *arg, uint32_t chunk, uint32_t thread) {
  const run *r = arg;
  const schedule *s = r->schedule;
  const uint32_t group = chunk / s->parts, part = chunk - group * s->parts, first = part * s->part_queries;
  const uint32_t last = r->queries - first < s->part_queries ? r->queries : first + s->part_queries;
  const uint32_t of_batches = group / r->groups, of_heads = group - of_batches * r->groups;
  const uint32_t batch = of_batches * s->batches, head = of_heads * s->heads;
  for (uint32_t b = batch; b < batch + s->batches; b++) {
    for (uint32_t h = head; h < head + s->heads; h++) r->task(r->arg, thread, &(head_part){b, h, part, first, last});
  }
}

void schedule_run(const schedule *s, const hl_attention_args *a, head_task *task, const void *arg, double work) {
  run r = {s, a->queries, a->kv_heads / s->heads, task, arg};
  parallel_for(run_chunk, &r, chunks_of(s, a), work);
}

void schedule_heads(const hl_attention_args *a, head_task *task, const void *arg, double work) {
  const schedule s = {1, 1, 1, a->queries};
  schedule_run(&s, a, task, arg, work);
}
