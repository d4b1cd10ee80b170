#include "base/check.h"

double extent(const double *sizes, const uint32_t *strides, size_t axes, double width) {
  double count = width;
  for (size_t i = 0; i < axes; i++) {
    if (sizes[i] == 0) return 0;
    count += (sizes[i] - 1) * strides[i];
  }
  return width == 0 ? 0 : count;
}

bool has_rows(const float *tensor, uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *s) {
  const double sizes[] = {batch, heads, rows};
  const uint32_t strides[] = {s->batch, s->head, s->row};
  return has_floats(tensor, sizes[0] * sizes[1] * sizes[2] * width) && fits_floats(extent(sizes, strides, 3, width));
}

bool all_below(const int32_t *numbers, size_t count, uint32_t end) {
  for (size_t i = 0; i < count; i++) {
    if ((uint32_t)numbers[i] >= end) return false;
  }
  return true;
}
