#include "base/elements.h"

#include "base/check.h"
#include "base/pool.h"

void elements_apply(const elements *e, size_t start, size_t count) {
  float *to[3], padded[7][4];
  const float *from[4];
  size_t whole = count & ~(size_t)3, tail_bytes = (count - whole) * sizeof(float);
  for (int i = 0; i < 3; i++) to[i] = e->to[i] ? e->to[i] + start : NULL;
  for (int i = 0; i < 4; i++) from[i] = e->from[i] ? e->from[i] + start : NULL;
  if (whole) e->operation(e->context, to, from, whole);
  if (!tail_bytes) return;
  for (int i = 0; i < 4; i++) {
    if (!from[i]) continue;
    vec_store(padded[i], vec_splat(e->fill));
    __builtin_memcpy(padded[i], from[i] + whole, tail_bytes);
    from[i] = padded[i];
  }
  float *const padded_to[3] = {to[0] ? padded[4] : NULL, to[1] ? padded[5] : NULL, to[2] ? padded[6] : NULL};
  e->operation(e->context, padded_to, from, 4);
  for (int i = 0; i < 3; i++) {
    if (to[i]) __builtin_memcpy(to[i] + whole, padded_to[i], tail_bytes);
  }
}

/* Floats of a chunk for one thread: a few microseconds of work, and they fit into the first-level cache. */
enum { CHUNK = 8192 };

typedef struct {
  const elements *e;
  size_t count;
} job;

static void run_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t start = (size_t)chunk * CHUNK;
  (void)worker;
  elements_apply(j->e, start, j->count - start < CHUNK ? j->count - start : CHUNK);
}

void elements_parallel(const elements *e, size_t count, double work) {
  job j = {e, count};
  parallel_for(run_chunk, &j, (uint32_t)((count + CHUNK - 1) / CHUNK), work * (double)count);
}

typedef struct {
  row_function *function;
  const void *arg;
  size_t rows, step;
} rows_job;

static void rows_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const rows_job *j = arg;
  size_t row = chunk * j->step;
  (void)worker;
  for (size_t end = row + j->step; row < end && row < j->rows; row++) j->function(j->arg, row);
}

void elements_for_each_row(row_function *function, const void *arg, size_t rows, size_t width, double work) {
  rows_job j = {function, arg, rows, width < CHUNK ? CHUNK / (width + 1) : 1};
  parallel_for(rows_chunk, &j, (uint32_t)((rows + j.step - 1) / j.step), work * (double)rows * (double)width);
}

typedef struct {
  vec origin, sum, squares;
} sums;

static void sum_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  sums *s = context;
  /* The sums are copied into locals so that they stay in registers, because the input could alias s. */
  vec sum = s->sum, squares = s->squares;
  (void)to;
  for (size_t i = 0; i < count; i += 4) {
    vec off = vec_sub(vec_load(from[0] + i), s->origin), low = doubles_low(off), high = doubles_high(off);
    sum = doubles_add(sum, doubles_add(low, high));
    squares = doubles_add(squares, doubles_add(doubles_mul(low, low), doubles_mul(high, high)));
  }
  s->sum = sum;
  s->squares = squares;
}

static sums compute_sums(const float *x, size_t count, float origin) {
  sums s = {.origin = vec_splat(origin), .sum = vec_splat(0), .squares = vec_splat(0)};
  elements_apply(&(elements){sum_operation, &s, .from = {x}, .fill = origin}, 0, count);
  return s;
}

double elements_square_sum(const float *x, size_t count, float origin) {
  return doubles_sum(compute_sums(x, count, origin).squares);
}

double elements_sum(const float *x, size_t count) { return doubles_sum(compute_sums(x, count, 0).sum); }

static void add_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  (void)context;
  for (size_t i = 0; i < count; i += 4) vec_store(to[0] + i, vec_add(vec_load(from[0] + i), vec_load(from[1] + i)));
}

void affine_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const affine *a = context;
  for (size_t i = 0; i < count; i += 4) {
    vec_store(to[0] + i, vec_add(vec_mul(vec_load(from[0] + i), vec_splat(a->factor)), vec_splat(a->plus)));
  }
}

void elements_add(float *to, const float *a, const float *b, size_t count) {
  elements_apply(&(elements){add_operation, .to = {to}, .from = {a, b}}, 0, count);
}

hl_status hl_add(float *sum, const float *a, const float *b, uint32_t count) {
  if (!has_floats(sum, count) || !has_floats(a, count) || !has_floats(b, count)) return HL_BAD_SHAPE;
  elements_parallel(&(elements){add_operation, .to = {sum}, .from = {a, b}}, count, 1);
  return HL_OK;
}
