#include <stdbool.h>

#include "elements.h"
#include "headlight.h"

typedef struct {
  float *parameter, *mean, *square; /* mean: SGD's velocity */
  const float *gradient;
  size_t count;
  float shrink, decay, beta1, fresh1, beta2, fresh2, eps, rate, square_factor;
  bool nesterov;
} job;

static void sgd_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const vec zero = vec_splat(0), momentum = vec_splat(j->beta1);
  (void)worker;
  for (size_t i = chunk_start(chunk), end = chunk_end(chunk, j->count); i < end; i += 4) {
    size_t lanes = lanes_left(i, end);
    vec p = vec_load_lanes(j->parameter + i, zero, lanes);
    vec g = vec_fma(p, vec_splat(j->decay), vec_load_lanes(j->gradient + i, zero, lanes));
    if (j->mean) {
      vec velocity = vec_fma(vec_load_lanes(j->mean + i, zero, lanes), momentum, g);
      vec_store_lanes(j->mean + i, velocity, lanes);
      g = j->nesterov ? vec_fma(velocity, momentum, g) : velocity;
    }
    vec_store_lanes(j->parameter + i, vec_sub(p, vec_mul(g, vec_splat(j->rate))), lanes);
  }
}

static void adam_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const vec zero = vec_splat(0);
  (void)worker;
  for (size_t i = chunk_start(chunk), end = chunk_end(chunk, j->count); i < end; i += 4) {
    size_t lanes = lanes_left(i, end);
    vec p = vec_load_lanes(j->parameter + i, zero, lanes);
    vec g = vec_fma(p, vec_splat(j->decay), vec_load_lanes(j->gradient + i, zero, lanes));
    vec mean = vec_mul(vec_load_lanes(j->mean + i, zero, lanes), vec_splat(j->beta1));
    vec square = vec_mul(vec_load_lanes(j->square + i, zero, lanes), vec_splat(j->beta2));
    mean = vec_fma(g, vec_splat(j->fresh1), mean);
    square = vec_fma(vec_mul(g, g), vec_splat(j->fresh2), square);
    vec_store_lanes(j->mean + i, mean, lanes);
    vec_store_lanes(j->square + i, square, lanes);
    vec root = vec_fma(vec_sqrt(square), vec_splat(j->square_factor), vec_splat(j->eps));
    vec step = vec_div(vec_mul(mean, vec_splat(j->rate)), root);
    vec_store_lanes(j->parameter + i, vec_sub(vec_mul(p, vec_splat(j->shrink)), step), lanes);
  }
}

static void scale_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const vec zero = vec_splat(0);
  (void)worker;
  for (size_t i = chunk_start(chunk), end = chunk_end(chunk, j->count); i < end; i += 4) {
    size_t lanes = lanes_left(i, end);
    vec_store_lanes(j->parameter + i, vec_mul(vec_load_lanes(j->parameter + i, zero, lanes), vec_splat(j->rate)), lanes);
  }
}

static bool finite(double x) { return x - x == 0; }

static double power(double base, uint32_t exponent) {
  double result = 1;
  for (; exponent; exponent /= 2, base *= base) {
    if (exponent % 2) result *= base;
  }
  return result;
}

hl_status hl_sgd_step(float *parameter, float *velocity, const float *gradient, uint32_t count, double rate,
                      double momentum, double decay, uint32_t nesterov) {
  if (!finite(rate) || !finite(momentum) || !finite(decay) || (momentum != 0 && !velocity)) return HL_BAD_ARGUMENT;
  job j = {.parameter = parameter, .mean = momentum == 0 ? NULL : velocity, .gradient = gradient, .count = count,
           .rate = (float)rate, .beta1 = (float)momentum, .decay = (float)decay, .nesterov = nesterov};
  elements_share(sgd_chunk, &j, count, 4);
  return HL_OK;
}

hl_status hl_adam_step(float *parameter, float *mean, float *square, const float *gradient, uint32_t count,
                       uint32_t step, double rate, double beta1, double beta2, double eps, double decay,
                       uint32_t decoupled) {
  if (!finite(rate) || !finite(eps) || !finite(decay) || step == 0) return HL_BAD_ARGUMENT;
  if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) return HL_BAD_ARGUMENT;
  job j = {.parameter = parameter, .mean = mean, .square = square, .gradient = gradient, .count = count,
           .shrink = (float)(decoupled ? 1 - rate * decay : 1), .decay = (float)(decoupled ? 0 : decay),
           .beta1 = (float)beta1, .fresh1 = (float)(1 - beta1), .beta2 = (float)beta2, .fresh2 = (float)(1 - beta2),
           .eps = (float)eps, .rate = (float)(rate / (1 - power(beta1, step))),
           .square_factor = (float)(1 / __builtin_sqrt(1 - power(beta2, step)))};
  elements_share(adam_chunk, &j, count, 12);
  return HL_OK;
}

double hl_square_sum(const float *x, uint32_t count) { return elements_sum(x, count, 0, true); }

hl_status hl_scale(float *x, uint32_t count, float factor) {
  job j = {.parameter = x, .count = count, .rate = factor};
  elements_share(scale_chunk, &j, count, 1);
  return HL_OK;
}
