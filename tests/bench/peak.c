/* What one core can do at most: multiply-adds in registers, 12 chains so that none waits for another. */
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
