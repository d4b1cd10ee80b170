#include <stdbool.h>

#include "elements.h"
#include "headlight.h"

typedef struct {
  float *output; /* forward */
  const float *table, *position;
  float *d_table, *d_position; /* backward */
  const float *d_output;
  const int32_t *labels;
  size_t rows, row_count, width, first; /* T, B·T, C */
} job;

static bool labels_lie_below(uint32_t count, const int32_t *labels, size_t rows) {
  bool all = true;
  for (size_t r = 0; r < rows; r++) all &= (uint32_t)labels[r] < count;
  return all;
}

static void forward_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t step = chunk_rows(j->width), r = chunk * step, end = r + step < j->row_count ? r + step : j->row_count;
  const vec zero = vec_splat(0);
  (void)worker;
  for (; r < end; r++) {
    const float *row = j->table + (size_t)j->labels[r] * j->width;
    const float *position = j->position ? j->position + (j->first + r % j->rows) * j->width : NULL;
    for (size_t c = 0; c < j->width; c += 4) {
      size_t lanes = lanes_left(c, j->width);
      vec sum = vec_load_lanes(row + c, zero, lanes);
      if (position) sum = vec_add(sum, vec_load_lanes(position + c, zero, lanes));
      vec_store_lanes(j->output + r * j->width + c, sum, lanes);
    }
  }
}

VERB void add_row(float *to, const float *row, size_t count) {
  const vec zero = vec_splat(0);
  for (size_t c = 0; c < count; c += 4) {
    size_t lanes = lanes_left(c, count);
    vec_store_lanes(to + c, vec_add(vec_load_lanes(to + c, zero, lanes), vec_load_lanes(row + c, zero, lanes)), lanes);
  }
}

/* Rows that share a label share its gradient: so a chunk is some columns, of all rows in their order. */
enum { CHUNK_COLUMNS = 64 };

static void backward_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t c = (size_t)chunk * CHUNK_COLUMNS, count = j->width - c < CHUNK_COLUMNS ? j->width - c : CHUNK_COLUMNS;
  (void)worker;
  for (size_t r = 0; r < j->row_count; r++) {
    const float *row = j->d_output + r * j->width + c;
    add_row(j->d_table + (size_t)j->labels[r] * j->width + c, row, count);
    if (j->d_position) add_row(j->d_position + (j->first + r % j->rows) * j->width + c, row, count);
  }
}

hl_status hl_embedding_forward(float *output, const float *table, const float *position, const int32_t *labels,
                               uint32_t batch, uint32_t rows, uint32_t width, uint32_t count, uint32_t first) {
  job j = {.output = output, .table = table, .position = position, .labels = labels,
           .rows = rows, .row_count = (size_t)batch * rows, .width = width, .first = first};
  if (!labels_lie_below(count, labels, j.row_count)) return HL_BAD_ARGUMENT;
  size_t step = chunk_rows(width);
  parallel_for(forward_chunk, &j, (uint32_t)((j.row_count + step - 1) / step), (double)j.row_count * width);
  return HL_OK;
}

hl_status hl_embedding_backward(float *d_table, float *d_position, const float *d_output, const int32_t *labels,
                                uint32_t batch, uint32_t rows, uint32_t width, uint32_t count, uint32_t first) {
  job j = {.d_table = d_table, .d_position = d_position, .d_output = d_output, .labels = labels,
           .rows = rows, .row_count = (size_t)batch * rows, .width = width, .first = first};
  if (!labels_lie_below(count, labels, j.row_count)) return HL_BAD_ARGUMENT;
  parallel_for(backward_chunk, &j, (width + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS, 2.0 * (double)j.row_count * width);
  return HL_OK;
}
