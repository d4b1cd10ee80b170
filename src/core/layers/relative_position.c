/* Relative positions in buckets. The bias is constant along each diagonal: a row equals the previous row shifted by one
 * key. */
#include "base/check.h"
#include "base/elements.h"
#include "base/pool.h"
#include "base/tensor.h"
#include "headlight.h"

typedef struct {
  float *bias;                 /* (H,T,S) */
  const float *table, *d_bias; /* table (buckets,H); d_bias (H,T,S) */
  const int32_t *bucket;       /* (T+S−1) */
  float *diagonals;            /* (H,T+S−1): sums of d_bias along the diagonals */
  size_t heads, queries, keys;
} job;

static size_t diagonals_of(size_t queries, size_t keys) { return queries && keys ? queries + keys - 1 : 0; }

static hl_status validate(const float *bias, const float *table, const int32_t *bucket, uint32_t buckets,
                          uint32_t heads, uint32_t queries, uint32_t keys) {
  const double count = (double)heads * queries * keys, diagonals = (double)queries + keys;
  if (!has_floats(bias, count) || !has_floats(table, (double)buckets * heads) || !fits_floats(diagonals) ||
      !has_floats(bucket, count > 0 ? diagonals : 0))
    return HL_BAD_SHAPE;
  return count == 0 || all_below(bucket, diagonals_of(queries, keys), buckets) ? HL_OK : HL_BAD_ARGUMENT;
}

static void head_forward(void *arg, uint32_t h, uint32_t worker) {
  const job *j = arg;
  const size_t T = j->queries, S = j->keys;
  float *row = j->bias + h * T * S;
  (void)worker;
  for (size_t s = 0; s < S; s++) row[s] = j->table[(size_t)j->bucket[s + T - 1] * j->heads + h];
  for (size_t t = 1; t < T; t++, row += S) {
    row[S] = j->table[(size_t)j->bucket[T - 1 - t] * j->heads + h];
    __builtin_memcpy(row + S + 1, row, (S - 1) * sizeof(float));
  }
}

static void head_backward(void *arg, uint32_t h, uint32_t worker) {
  const job *j = arg;
  const size_t T = j->queries, S = j->keys;
  float *sums = j->diagonals + h * diagonals_of(T, S);
  (void)worker;
  __builtin_memset(sums, 0, diagonals_of(T, S) * sizeof(float));
  for (size_t t = 0; t < T; t++) {
    float *from = sums + T - 1 - t;
    elements_add(from, from, j->d_bias + (h * T + t) * S, S);
  }
}

hl_status hl_relative_forward(float *bias, const float *table, const int32_t *bucket, uint32_t buckets, uint32_t heads,
                              uint32_t queries, uint32_t keys) {
  const hl_status status = validate(bias, table, bucket, buckets, heads, queries, keys);
  if (status != HL_OK || queries == 0 || keys == 0) return status;
  job j = {.bias = bias, .table = table, .bucket = bucket, .heads = heads, .queries = queries, .keys = keys};
  parallel_for(head_forward, &j, heads, (double)heads * queries * keys);
  return HL_OK;
}

hl_status hl_relative_backward(float *d_table, const float *d_bias, const int32_t *bucket, uint32_t buckets,
                               uint32_t heads, uint32_t queries, uint32_t keys) {
  const hl_status status = validate(d_bias, d_table, bucket, buckets, heads, queries, keys);
  const size_t diagonals = diagonals_of(queries, keys);
  if (status != HL_OK || heads == 0 || diagonals == 0) return status;
  job j = {.d_bias = d_bias, .bucket = bucket, .heads = heads, .queries = queries, .keys = keys};
  j.diagonals = workspace_alloc((double)heads * (double)diagonals);
  if (!j.diagonals) return HL_OUT_OF_MEMORY;
  parallel_for(head_backward, &j, heads, (double)heads * queries * keys);
  for (size_t h = 0; h < heads; h++) {
    for (size_t i = 0; i < diagonals; i++) d_table[(size_t)bucket[i] * heads + h] += j.diagonals[h * diagonals + i];
  }
  workspace_free();
  return HL_OK;
}
