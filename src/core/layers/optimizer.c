#include "base/check.h"
#include "base/elements.h"
#include "headlight.h"

typedef struct {
  float rate, decay, momentum;
  bool nesterov;
} sgd;

static void sgd_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const sgd *n = context;
  for (size_t i = 0; i < count; i += 4) {
    vec parameter = vec_load(from[0] + i), g = vec_fma(parameter, vec_splat(n->decay), vec_load(from[2] + i));
    vec velocity = vec_fma(vec_load(from[1] + i), vec_splat(n->momentum), g);
    vec_store(to[1] + i, velocity);
    g = n->nesterov ? vec_fma(velocity, vec_splat(n->momentum), g) : velocity;
    vec_store(to[0] + i, vec_sub(parameter, vec_mul(g, vec_splat(n->rate))));
  }
}

typedef struct {
  float shrink, decay, beta1, fresh1, beta2, fresh2, square_factor, eps, rate;
} adam;

static void adam_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const adam *n = context;
  for (size_t i = 0; i < count; i += 4) {
    vec parameter = vec_load(from[0] + i), g = vec_fma(parameter, vec_splat(n->decay), vec_load(from[3] + i));
    vec mean = vec_fma(g, vec_splat(n->fresh1), vec_mul(vec_load(from[1] + i), vec_splat(n->beta1)));
    vec square = vec_fma(vec_mul(g, g), vec_splat(n->fresh2), vec_mul(vec_load(from[2] + i), vec_splat(n->beta2)));
    vec root = vec_fma(vec_sqrt(square), vec_splat(n->square_factor), vec_splat(n->eps));
    vec_store(to[1] + i, mean);
    vec_store(to[2] + i, square);
    vec_store(to[0] + i,
              vec_sub(vec_mul(parameter, vec_splat(n->shrink)), vec_div(vec_mul(mean, vec_splat(n->rate)), root)));
  }
}

static double power(double base, uint32_t exponent) {
  double result = 1;
  for (; exponent; exponent /= 2, base *= base) {
    if (exponent % 2) result *= base;
  }
  return result;
}

hl_status hl_sgd_step(float *parameter, float *velocity, const float *gradient, uint32_t count, double rate,
                      double momentum, double decay, uint32_t nesterov) {
  if (!is_finite(rate + momentum + decay) || nesterov > 1) return HL_BAD_ARGUMENT;
  if (!has_floats(parameter, count) || !has_floats(velocity, count) || !has_floats(gradient, count))
    return HL_BAD_SHAPE;
  sgd n = {(float)rate, (float)decay, (float)momentum, nesterov};
  elements_parallel(&(elements){sgd_operation, &n, {parameter, velocity}, {parameter, velocity, gradient}, 0}, count,
                    4);
  return HL_OK;
}

hl_status hl_adam_step(float *parameter, float *mean, float *square, const float *gradient, uint32_t count,
                       uint32_t step, double rate, double beta1, double beta2, double eps, double decay,
                       uint32_t decoupled) {
  if (!is_finite(rate + eps + decay) || step == 0 || decoupled > 1) return HL_BAD_ARGUMENT;
  if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) return HL_BAD_ARGUMENT;
  if (!has_floats(parameter, count) || !has_floats(mean, count) || !has_floats(square, count) ||
      !has_floats(gradient, count))
    return HL_BAD_SHAPE;
  adam n = {.shrink = decoupled ? (float)(1 - rate * decay) : 1,
            .decay = decoupled ? 0 : (float)decay,
            .beta1 = (float)beta1,
            .fresh1 = (float)(1 - beta1),
            .beta2 = (float)beta2,
            .fresh2 = (float)(1 - beta2),
            .square_factor = (float)(1 / __builtin_sqrt(1 - power(beta2, step))),
            .eps = (float)eps,
            .rate = (float)(rate / (1 - power(beta1, step)))};
  elements_parallel(&(elements){adam_operation, &n, {parameter, mean, square}, {parameter, mean, square, gradient}, 0},
                    count, 12);
  return HL_OK;
}

double hl_square_sum(const float *x, uint32_t count) {
  return has_floats(x, count) ? elements_square_sum(x, count, 0) : __builtin_nan("");
}

hl_status hl_scale(float *x, uint32_t count, float factor) {
  if (!has_floats(x, count)) return HL_BAD_SHAPE;
  affine a = {factor, 0};
  elements_parallel(&(elements){affine_operation, &a, {x}, {x}, 0}, count, 1);
  return HL_OK;
}
