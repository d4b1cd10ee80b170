#include "kernels/rounding.h"

#include "base/simd.h"

float largest_magnitude(const float *numbers, size_t n) {
  vec largest = vec_splat(0), zero_or_nan = vec_splat(0);
  float lanes[8], result = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    vec x = vec_load(numbers + i);
    largest = vec_max(largest, vec_abs(x));
    zero_or_nan = vec_nan_unless_finite(zero_or_nan, x);
  }
  vec_store(lanes, largest);
  vec_store(lanes + 4, zero_or_nan);
  for (int lane = 0; lane < 4; lane++) {
    if (lanes[lane] > result) result = lanes[lane];
  }
  float finite = lanes[4] + lanes[5] + lanes[6] + lanes[7];
  for (; i < n; i++) {
    float x = __builtin_fabsf(numbers[i]);
    if (x > result) result = x;
    finite += x * 0;
  }
  return result + finite;
}

float rounding_step(float max, float levels) {
  float scale = max / levels;
  return scale < 0x1p-126f ? 0x1p-126f : scale;
}
