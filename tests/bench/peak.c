/* Measures the peak speed of one core, with multiply-adds in registers in 12 independent chains, which hide the
 * latency, and the bandwidth of the memory. */
#include "../../src/core/base/simd.h"

enum { CHAINS = 12 };

__attribute__((export_name("peak"))) float peak(uint32_t steps, float factor, float step) {
  vec chain[CHAINS];
  const vec a = vec_splat(factor), b = vec_splat(step);
  for (int i = 0; i < CHAINS; i++) chain[i] = vec_splat((float)i);
  for (; steps > 0; steps--) {
    for (int i = 0; i < CHAINS; i++) chain[i] = vec_fma(chain[i], a, b);
  }
  float sum[4];
  for (int i = 1; i < CHAINS; i++) chain[0] = vec_add(chain[0], chain[i]);
  vec_store(sum, chain[0]);
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Returns the sum of `count` floats, a multiple of 64, read at full speed either in order or from both halves at the
 * same time. Which way is faster depends on the processor. */
INLINE float read_all(const float *from, uint32_t count, uint32_t streams) {
  const uint32_t apart = count / streams;
  vec sums[8];
  for (int i = 0; i < 8; i++) sums[i] = vec_splat(0);
  for (const float *end = from + apart; from != end; from += 32) {
    for (uint32_t s = 0; s < streams; s++) {
      for (int i = 0; i < 8; i++) sums[i] = vec_add(sums[i], vec_load(from + s * apart + 4 * i));
    }
  }
  for (int i = 1; i < 8; i++) sums[0] = vec_add(sums[0], sums[i]);
  float sum[4];
  vec_store(sum, sums[0]);
  return sum[0] + sum[1] + sum[2] + sum[3];
}

#define EXPORT(name) __attribute__((export_name(#name)))
EXPORT(sum) float sum(const float *from, uint32_t count) { return read_all(from, count, 1); }
EXPORT(sum_of_halves) float sum_of_halves(const float *from, uint32_t count) { return read_all(from, count, 2); }
