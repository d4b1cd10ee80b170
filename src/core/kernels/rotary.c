#include "kernels/rotary.h"

#include "base/simd.h"

INLINE void rotate_pair(vec *a, vec *b, vec cosine, vec sine) {
  const vec first = vec_sub(vec_mul(*a, cosine), vec_mul(*b, sine));
  *b = vec_add(vec_mul(*b, cosine), vec_mul(*a, sine));
  *a = first;
}

void rotary_row(float *to, const float *x, const float *angles, size_t width, size_t half, bool neighbours,
                bool reverse) {
  const float sign = reverse ? -1 : 1;
  size_t n = 0;
  for (; n + 4 <= half; n += 4) {
    const size_t first = neighbours ? 2 * n : n, second = neighbours ? first + 4 : n + half;
    vec a = vec_load(x + first), b = vec_load(x + second);
    if (neighbours) vec_unzip(&a, &b);
    rotate_pair(&a, &b, vec_load(angles + n), vec_mul(vec_load(angles + half + n), vec_splat(sign)));
    if (neighbours) vec_zip(&a, &b);
    vec_store(to + first, a);
    vec_store(to + second, b);
  }
  for (; n < half; n++) {
    const size_t first = neighbours ? 2 * n : n, second = neighbours ? first + 1 : n + half;
    const float a = x[first], b = x[second], sine = angles[half + n] * sign;
    to[first] = a * angles[n] - b * sine;
    to[second] = b * angles[n] + a * sine;
  }
  if (to != x) __builtin_memcpy(to + 2 * half, x + 2 * half, (width - 2 * half) * sizeof(float));
}
