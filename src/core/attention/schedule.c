#include "attention/schedule.h"

#include "base/pool.h"

/* In the forward pass a part has at least MIN_PART_TILES tiles, because the keys are packed again for each part. The
 * aim is THREAD_CHUNKS chunks for each thread. */
enum { MIN_PART_TILES = 4, THREAD_CHUNKS = 8 };

static uint64_t divide_up(uint64_t n, uint64_t divisor) { return (n + divisor - 1) / divisor; }

/* Divides the queries into `parts` parts of whole tiles, as evenly as possible. */
static schedule divide_queries(uint32_t batches, uint32_t heads, uint64_t queries, uint64_t parts, uint32_t tile) {
  if (parts <= 1) return (schedule){batches, heads, 1, (uint32_t)queries};
  const uint64_t part = divide_up(divide_up(queries, parts), tile) * tile;
  return (schedule){batches, heads, (uint32_t)divide_up(queries, part), (uint32_t)part};
}

/* A single thread has one chunk. If the mean of the weights is requested, a chunk contains all heads, because the
 * weights are added up in the order of the heads. Otherwise a chunk is one head. The queries are divided if the heads
 * alone would leave threads idle. */
schedule schedule_forward(const hl_attention_args *a, uint32_t tile) {
  const uint64_t threads = pool_size();
  if (threads == 1 && a->batch > 0) return (schedule){a->batch, a->kv_heads, 1, a->queries};
  const uint32_t heads = a->weights_mode == HL_WEIGHTS_MEAN ? a->kv_heads : 1;
  const uint64_t groups = (uint64_t)a->batch * (a->kv_heads / heads);
  uint64_t parts = 1;
  if (groups < THREAD_CHUNKS * threads && groups > 0) {
    const uint64_t max_parts = divide_up(a->queries, MIN_PART_TILES * (uint64_t)tile);
    parts = divide_up(THREAD_CHUNKS * threads, groups);
    if (parts > max_parts) parts = max_parts;
  }
  return divide_queries(1, heads, a->queries, parts, tile);
}

/* A chunk contains all heads and batch entries that contribute to the same elements of d_bias. If there are fewer than
 * MIN_CHUNKS such chunks, the queries are divided, and the parts of d_key and d_value are added in order afterwards. */
enum { MIN_CHUNKS = 8, MIN_TILES = 2 };

schedule schedule_backward(const hl_attention_backward_args *g, uint32_t tile) {
  const hl_attention_args *a = &g->attention;
  const hl_broadcast *b = &a->bias_stride;
  const uint64_t heads = (uint64_t)a->batch * a->kv_heads,
                 max_parts = divide_up(a->queries, MIN_TILES * (uint64_t)tile);
  uint64_t parts = heads > 0 && !(g->d_bias && b->query == 0) ? divide_up(MIN_CHUNKS, heads) : 1;
  if (parts > max_parts) parts = max_parts;
  const uint32_t batches = g->d_bias && b->batch == 0 && a->batch > 0 ? a->batch : 1;
  return divide_queries(batches, g->d_bias && b->head == 0 ? a->kv_heads : 1, a->queries, parts, tile);
}

static uint32_t chunks_of(const schedule *s, const hl_attention_args *a) {
  return a->batch / s->batches * (a->kv_heads / s->heads) * s->parts;
}

/* Any thread may run any chunk; a single chunk is run by the caller. */
uint32_t schedule_threads(const schedule *s, const hl_attention_args *a) {
  return chunks_of(s, a) > 1 ? pool_size() : 1;
}

typedef struct {
  const schedule *schedule;
  uint32_t queries, groups; /* groups of heads in a batch entry */
  head_task *task;
  const void *arg;
} job;

static void run_chunk(void *arg, uint32_t chunk, uint32_t thread) {
  const job *j = arg;
  const schedule *s = j->schedule;
  const uint32_t group = chunk / s->parts, part = chunk - group * s->parts, first = part * s->part_queries;
  const uint32_t last = j->queries - first < s->part_queries ? j->queries : first + s->part_queries;
  const uint32_t batch_group = group / j->groups, head_group = group - batch_group * j->groups;
  const uint32_t batch = batch_group * s->batches, head = head_group * s->heads;
  for (uint32_t b = batch; b < batch + s->batches; b++) {
    for (uint32_t h = head; h < head + s->heads; h++) j->task(j->arg, thread, &(head_part){b, h, part, first, last});
  }
}

void schedule_for_each_part(const schedule *s, const hl_attention_args *a, head_task *task, const void *arg,
                            double work) {
  job j = {s, a->queries, a->kv_heads / s->heads, task, arg};
  parallel_for(run_chunk, &j, chunks_of(s, a), work);
}

void schedule_for_each_head(const hl_attention_args *a, head_task *task, const void *arg, double work) {
  const schedule s = {1, 1, 1, a->queries};
  schedule_for_each_part(&s, a, task, arg, work);
}
