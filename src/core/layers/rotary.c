#include "kernels/rotary.h"

#include "base/check.h"
#include "base/elements.h"

typedef struct {
  float *output;            /* (B,heads,rows,width), strided */
  const float *x, *table;   /* x as output; table (count,2,half) */
  const int32_t *positions; /* (B,rows) */
  size_t heads, rows, width, half;
  hl_stride stride;
  bool neighbours, reverse;
} job;

static void rotate_row(const void *arg, size_t row) {
  const job *j = arg;
  const size_t heads = row / j->rows, t = row % j->rows, b = heads / j->heads, h = heads % j->heads;
  const size_t at = b * j->stride.batch + h * j->stride.head + t * j->stride.row;
  const float *angles = j->half ? j->table + (size_t)j->positions[b * j->rows + t] * 2 * j->half : NULL;
  rotary_row(j->output + at, j->x + at, angles, j->width, j->half, j->neighbours, j->reverse);
}

hl_status hl_rotary(float *output, const float *x, const float *table, const int32_t *positions, uint32_t batch,
                    uint32_t heads, uint32_t rows, uint32_t width, uint32_t rotated, uint32_t count,
                    uint32_t neighbours, uint32_t reverse, uint32_t batch_stride, uint32_t head_stride,
                    uint32_t row_stride) {
  const hl_stride stride = {batch_stride, head_stride, row_stride};
  if (neighbours > 1 || reverse > 1) return HL_BAD_ARGUMENT;
  if (rotated % 2 != 0 || rotated > width || !has_rows(output, batch, heads, rows, width, &stride) ||
      !has_rows(x, batch, heads, rows, width, &stride) || !has_floats(table, (double)count * rotated) ||
      !has_floats(positions, (double)batch * rows))
    return HL_BAD_SHAPE;
  if (!all_below(positions, (size_t)batch * rows, count)) return HL_BAD_ARGUMENT;
  if (width == 0) return HL_OK;
  const job j = {output, x, table, positions, heads, rows, width, rotated / 2, stride, neighbours, reverse};
  elements_for_each_row(rotate_row, &j, (size_t)batch * heads * rows, width, 4);
  return HL_OK;
}
