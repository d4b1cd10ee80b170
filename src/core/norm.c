/* Layer norm; without a mean, RMS norm: the same steps with an origin of 0. */
#include "elements.h"
#include "headlight.h"

typedef struct {
  float *output, *mean, *rstd; /* forward */
  const float *x, *weight, *bias;
  float *dx, *d_weight, *d_bias; /* backward */
  const float *d_output;
  size_t rows, width;
  double eps;
} job;

VERB size_t last_row(uint32_t chunk, const job *j) {
  size_t end = (chunk + (size_t)1) * chunk_rows(j->width);
  return end < j->rows ? end : j->rows;
}

static void forward_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t width = j->width;
  const vec zero = vec_splat(0);
  (void)worker;
  for (size_t r = chunk * chunk_rows(width), end = last_row(chunk, j); r < end; r++) {
    const float *x = j->x + r * width;
    float mean = 0;
    if (j->mean) j->mean[r] = mean = (float)(elements_sum(x, width, 0, false) / (double)width);
    /* About the mean, not as the mean of squares less the square of the mean, which cancels. */
    double variance = elements_sum(x, width, mean, true) / (double)width;
    j->rstd[r] = (float)(1 / __builtin_sqrt(variance + j->eps));
    vec origin = vec_splat(mean), rstd = vec_splat(j->rstd[r]);
    for (size_t c = 0; c < width; c += 4) {
      size_t lanes = lanes_left(c, width);
      vec normal = vec_mul(vec_sub(vec_load_lanes(x + c, zero, lanes), origin), rstd);
      vec bias = j->bias ? vec_load_lanes(j->bias + c, zero, lanes) : zero;
      vec_store_lanes(j->output + r * width + c, vec_fma(normal, vec_load_lanes(j->weight + c, zero, lanes), bias), lanes);
    }
  }
}

VERB vec normal_at(const job *j, size_t r, size_t c, size_t lanes) {
  vec origin = vec_splat(j->mean ? j->mean[r] : 0);
  return vec_mul(vec_sub(vec_load_lanes(j->x + r * j->width + c, origin, lanes), origin), vec_splat(j->rstd[r]));
}

/* With n = (x − mean) · rstd and g = d_output · weight: dx = rstd · (g − Σg/C − n · Σ(g·n)/C). The second term is
 * that of the mean, the third that of the variance. */
static void input_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t width = j->width;
  const vec zero = vec_splat(0);
  (void)worker;
  for (size_t r = chunk * chunk_rows(width), end = last_row(chunk, j); r < end; r++) {
    const float *d_output = j->d_output + r * width;
    vec sum = zero, sum_normal = zero;
    for (size_t c = 0; c < width; c += 4) {
      size_t lanes = lanes_left(c, width);
      vec g = vec_mul(vec_load_lanes(d_output + c, zero, lanes), vec_load_lanes(j->weight + c, zero, lanes));
      vec product = vec_mul(g, normal_at(j, r, c, lanes));
      sum = doubles_add(sum, doubles_add(doubles_low(g), doubles_high(g)));
      sum_normal = doubles_add(sum_normal, doubles_add(doubles_low(product), doubles_high(product)));
    }
    vec of_mean = vec_splat(j->mean ? (float)(doubles_sum(sum) / (double)width) : 0);
    vec of_variance = vec_splat((float)(doubles_sum(sum_normal) / (double)width)), rstd = vec_splat(j->rstd[r]);
    for (size_t c = 0; c < width; c += 4) {
      size_t lanes = lanes_left(c, width);
      vec g = vec_mul(vec_load_lanes(d_output + c, zero, lanes), vec_load_lanes(j->weight + c, zero, lanes));
      vec rest = vec_add(of_mean, vec_mul(normal_at(j, r, c, lanes), of_variance));
      vec_store_lanes(j->dx + r * width + c, vec_mul(rstd, vec_sub(g, rest)), lanes);
    }
  }
}

/* Sums over rows: a chunk is a line of columns of all rows, added up in short runs, so that small terms beside a
 * large sum are not rounded away one by one. */
enum { CHUNK_COLUMNS = 16, SUM_RUN = 32 };

VERB void add_lanes(float *to, vec more, size_t lanes) {
  vec_store_lanes(to, vec_add(vec_load_lanes(to, more, lanes), more), lanes);
}

static void parameter_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t c = (size_t)chunk * CHUNK_COLUMNS, end = c + CHUNK_COLUMNS < j->width ? c + CHUNK_COLUMNS : j->width;
  const vec zero = vec_splat(0);
  (void)worker;
  for (; c < end; c += 4) {
    size_t lanes = lanes_left(c, end);
    vec d_weight = zero, d_bias = zero;
    for (size_t r = 0; r < j->rows;) {
      vec weight_run = zero, bias_run = zero;
      for (size_t stop = j->rows - r < SUM_RUN ? j->rows : r + SUM_RUN; r < stop; r++) {
        vec d_output = vec_load_lanes(j->d_output + r * j->width + c, zero, lanes);
        weight_run = vec_fma(d_output, normal_at(j, r, c, lanes), weight_run);
        bias_run = vec_add(bias_run, d_output);
      }
      d_weight = vec_add(d_weight, weight_run);
      d_bias = vec_add(d_bias, bias_run);
    }
    add_lanes(j->d_weight + c, d_weight, lanes);
    if (j->d_bias) add_lanes(j->d_bias + c, d_bias, lanes);
  }
}

static void by_rows(pool_task *task, job *j) {
  size_t step = chunk_rows(j->width);
  parallel_for(task, j, (uint32_t)((j->rows + step - 1) / step), 8.0 * (double)j->rows * (double)j->width);
}

hl_status hl_norm_forward(float *output, float *mean, float *rstd, const float *x, const float *weight,
                          const float *bias, uint32_t rows, uint32_t width, float eps) {
  if (!(eps >= 0)) return HL_BAD_ARGUMENT;
  job j = {.output = output, .mean = mean, .rstd = rstd, .x = x, .weight = weight, .bias = bias,
           .rows = width ? rows : 0, .width = width, .eps = eps};
  by_rows(forward_chunk, &j);
  return HL_OK;
}

hl_status hl_norm_backward(float *dx, float *d_weight, float *d_bias, const float *d_output, const float *x,
                           const float *mean, const float *rstd, const float *weight, uint32_t rows, uint32_t width) {
  job j = {.dx = dx, .d_weight = d_weight, .d_bias = d_bias, .d_output = d_output, .x = x, .mean = (float *)mean,
           .rstd = (float *)rstd, .weight = weight, .rows = rows, .width = width};
  by_rows(input_chunk, &j);
  parallel_for(parameter_chunk, &j, (width + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS, 3.0 * rows * width);
  return HL_OK;
}
