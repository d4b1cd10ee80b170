#include "elements.h"

#include "headlight.h"

void elements_share(pool_task *task, void *arg, size_t count, double work) {
  parallel_for(task, arg, (uint32_t)((count + CHUNK_FLOATS - 1) / CHUNK_FLOATS), work * (double)count);
}

double elements_sum(const float *x, size_t count, float origin, bool squares) {
  vec from = vec_splat(origin), low = vec_splat(0), high = vec_splat(0);
  for (size_t i = 0; i < count; i += 4) {
    vec off = vec_sub(vec_load_lanes(x + i, from, lanes_left(i, count)), from);
    vec first = doubles_low(off), second = doubles_high(off);
    low = doubles_add(low, squares ? doubles_mul(first, first) : first);
    high = doubles_add(high, squares ? doubles_mul(second, second) : second);
  }
  return doubles_sum(doubles_add(low, high));
}

typedef struct {
  float *sum;
  const float *a, *b;
  size_t count;
} add_job;

static void add_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const add_job *j = arg;
  const vec zero = vec_splat(0);
  (void)worker;
  for (size_t i = chunk_start(chunk), end = chunk_end(chunk, j->count); i < end; i += 4) {
    size_t lanes = lanes_left(i, end);
    vec_store_lanes(j->sum + i, vec_add(vec_load_lanes(j->a + i, zero, lanes), vec_load_lanes(j->b + i, zero, lanes)), lanes);
  }
}

hl_status hl_add(float *sum, const float *a, const float *b, uint32_t count) {
  add_job j = {sum, a, b, count};
  elements_share(add_chunk, &j, count, 1);
  return HL_OK;
}
