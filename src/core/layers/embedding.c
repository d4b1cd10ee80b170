#include "base/check.h"
#include "base/elements.h"
#include "base/pool.h"
#include "headlight.h"

typedef struct {
  float *output;                        /* (B,T,C) */
  const float *table, *position;        /* table (count,C); position (first+T,C) */
  float *d_table, *d_position;          /* d_table (count,C); d_position (first+T,C) */
  const float *d_output;                /* (B,T,C) */
  const int32_t *labels;                /* (B,T) */
  size_t rows, row_count, width, first; /* rows: T; row_count: B·T; width: C */
} job;

/* Checks the sizes of the tensors, and that every label is a row of the table. */
static hl_status validate(const float *output, const float *table, const float *position, const int32_t *labels,
                          uint32_t batch, uint32_t rows, uint32_t width, uint32_t count, uint32_t first) {
  const double row_count = (double)batch * rows;
  if (!has_floats(output, row_count * width) || !has_floats(table, (double)count * width) ||
      !has_floats_or_null(position, ((double)first + rows) * width) || !has_floats(labels, row_count))
    return HL_BAD_SHAPE;
  return all_below(labels, (size_t)row_count, count) ? HL_OK : HL_BAD_ARGUMENT;
}

static size_t position_offset(const job *j, size_t r) { return (j->first + r % j->rows) * j->width; }

static void forward_row(const void *arg, size_t r) {
  const job *j = arg;
  float *output = j->output + r * j->width;
  const float *row = j->table + (size_t)j->labels[r] * j->width;
  if (j->position) elements_add(output, row, j->position + position_offset(j, r), j->width);
  else __builtin_memcpy(output, row, j->width * sizeof(float));
}

/* Rows with the same label add to the same gradient. Therefore a chunk adds some columns of all rows, in order. */
enum { CHUNK_COLUMNS = 64 };

static void backward_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t c = (size_t)chunk * CHUNK_COLUMNS, count = j->width - c < CHUNK_COLUMNS ? j->width - c : CHUNK_COLUMNS;
  (void)worker;
  for (size_t r = 0; r < j->row_count; r++) {
    const float *d_output = j->d_output + r * j->width + c;
    float *d_row = j->d_table + (size_t)j->labels[r] * j->width + c;
    elements_add(d_row, d_row, d_output, count);
    if (!j->d_position) continue;
    float *d_position = j->d_position + position_offset(j, r) + c;
    elements_add(d_position, d_position, d_output, count);
  }
}

hl_status hl_embedding_forward(float *output, const float *table, const float *position, const int32_t *labels,
                               uint32_t batch, uint32_t rows, uint32_t width, uint32_t count, uint32_t first) {
  hl_status status = validate(output, table, position, labels, batch, rows, width, count, first);
  if (status != HL_OK || width == 0) return status;
  job j = {.output = output,
           .table = table,
           .position = position,
           .labels = labels,
           .rows = rows,
           .row_count = (size_t)batch * rows,
           .width = width,
           .first = first};
  elements_for_each_row(forward_row, &j, j.row_count, width, 1);
  return HL_OK;
}

hl_status hl_embedding_backward(float *d_table, float *d_position, const float *d_output, const int32_t *labels,
                                uint32_t batch, uint32_t rows, uint32_t width, uint32_t count, uint32_t first) {
  hl_status status = validate(d_output, d_table, d_position, labels, batch, rows, width, count, first);
  if (status != HL_OK || width == 0) return status;
  job j = {.d_table = d_table,
           .d_position = d_position,
           .d_output = d_output,
           .labels = labels,
           .rows = rows,
           .row_count = (size_t)batch * rows,
           .width = width,
           .first = first};
  parallel_for(backward_chunk, &j, (width + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS, 2.0 * (double)j.row_count * width);
  return HL_OK;
}
