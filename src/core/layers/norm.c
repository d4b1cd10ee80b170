/* Layer norm and RMS norm. RMS norm, which has no tensor `mean`, has the same steps with a mean of 0. */
#include "base/check.h"
#include "base/elements.h"
#include "base/pool.h"
#include "headlight.h"

typedef struct {
  float *output, *mean, *rstd;    /* output (rows,width); mean, rstd (rows) */
  const float *x, *weight, *bias; /* x (rows,width); weight, bias (width) */
  float *dx, *d_weight, *d_bias;  /* dx (rows,width); d_weight, d_bias (width) */
  const float *d_output;          /* (rows,width) */
  size_t rows, width;
  double eps;
} job;

/* Mean and rstd of a row. For the backward pass also the two sums of sum_row, which are later replaced by means over
 * the row. */
typedef struct {
  vec mean, rstd, sum, sum_normal;
} row;

INLINE vec normalised(const row *n, const float *x) { return vec_mul(vec_sub(vec_load(x), n->mean), n->rstd); }

static void normalise(void *context, float *const to[3], const float *const from[4], size_t count) {
  for (size_t c = 0; c < count; c += 4) {
    vec bias = from[2] ? vec_load(from[2] + c) : vec_splat(0);
    vec_store(to[0] + c, vec_fma(normalised(context, from[0] + c), vec_load(from[1] + c), bias));
  }
}

static void forward_row(const void *arg, size_t r) {
  const job *j = arg;
  const float *x = j->x + r * j->width;
  double width = (double)j->width;
  float mean = j->mean ? j->mean[r] = (float)(elements_sum(x, j->width) / width) : 0;
  /* The variance is computed around the mean, because the mean of squares minus the square of the mean would cancel. */
  j->rstd[r] = (float)(1 / __builtin_sqrt(elements_square_sum(x, j->width, mean) / width + j->eps));
  row n = {.mean = vec_splat(mean), .rstd = vec_splat(j->rstd[r])};
  elements_apply(&(elements){normalise, &n, {j->output + r * j->width}, {x, j->weight, j->bias}, 0}, 0, j->width);
}

/* With n = (x − mean) · rstd and g = d_output · weight: dx = rstd · (g − Σg/C − n · Σ(g·n)/C). The second term comes
 * from the mean, the third from the variance. */
static void sum_row(void *context, float *const to[3], const float *const from[4], size_t count) {
  row *n = context;
  (void)to;
  for (size_t c = 0; c < count; c += 4) {
    vec g = vec_mul(vec_load(from[1] + c), vec_load(from[2] + c)), product = vec_mul(g, normalised(n, from[0] + c));
    n->sum = doubles_add(n->sum, doubles_add(doubles_low(g), doubles_high(g)));
    n->sum_normal = doubles_add(n->sum_normal, doubles_add(doubles_low(product), doubles_high(product)));
  }
}

static void differentiate(void *context, float *const to[3], const float *const from[4], size_t count) {
  const row *n = context;
  for (size_t c = 0; c < count; c += 4) {
    vec mean_terms = vec_fma(normalised(n, from[0] + c), n->sum_normal, n->sum);
    vec_store(to[0] + c, vec_mul(n->rstd, vec_sub(vec_mul(vec_load(from[1] + c), vec_load(from[2] + c)), mean_terms)));
  }
}

static row row_at(const job *j, size_t r) {
  return (row){vec_splat(j->mean ? j->mean[r] : 0), vec_splat(j->rstd[r]), vec_splat(0), vec_splat(0)};
}

static void input_row(const void *arg, size_t r) {
  const job *j = arg;
  size_t at = r * j->width;
  double width = (double)j->width;
  row n = row_at(j, r);
  elements e = {sum_row, &n, {j->dx + at}, {j->x + at, j->d_output + at, j->weight}, 0};
  elements_apply(&e, 0, j->width);
  n.sum = vec_splat(j->mean ? (float)(doubles_sum(n.sum) / width) : 0);
  n.sum_normal = vec_splat((float)(doubles_sum(n.sum_normal) / width));
  e.operation = differentiate;
  elements_apply(&e, 0, j->width);
}

static void add_gradients(void *context, float *const to[3], const float *const from[4], size_t count) {
  for (size_t c = 0; c < count; c += 4) {
    vec d_output = vec_load(from[3] + c);
    vec_store(to[0] + c, vec_fma(d_output, normalised(context, from[2] + c), vec_load(from[0] + c)));
    vec_store(to[1] + c, vec_add(d_output, vec_load(from[1] + c)));
  }
}

/* A chunk consists of some columns of all rows. Partial sums of SUM_ROWS rows are added to the total, because single
 * small terms would be rounded away when they are added to a large sum. */
enum { CHUNK_COLUMNS = 64, SUM_ROWS = 32 };

static void parameter_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t c = (size_t)chunk * CHUNK_COLUMNS, count = j->width - c < CHUNK_COLUMNS ? j->width - c : CHUNK_COLUMNS;
  (void)worker;
  for (size_t r = 0; r < j->rows;) {
    float d_weight[CHUNK_COLUMNS] = {0}, d_bias[CHUNK_COLUMNS] = {0};
    for (size_t end = r + SUM_ROWS; r < end && r < j->rows; r++) {
      row n = row_at(j, r);
      size_t at = r * j->width + c;
      elements_apply(
          &(elements){add_gradients, &n, {d_weight, d_bias}, {d_weight, d_bias, j->x + at, j->d_output + at}, 0}, 0,
          count);
    }
    elements_add(j->d_weight + c, j->d_weight + c, d_weight, count);
    if (j->d_bias) elements_add(j->d_bias + c, j->d_bias + c, d_bias, count);
  }
}

hl_status hl_norm_forward(float *output, float *mean, float *rstd, const float *x, const float *weight,
                          const float *bias, uint32_t rows, uint32_t width, float eps) {
  const double count = (double)rows * width;
  if (!(eps >= 0)) return HL_BAD_ARGUMENT;
  if (!has_floats(output, count) || !has_floats(x, count) || !has_floats(weight, width) ||
      !has_floats_or_null(bias, width) || !has_floats_or_null(mean, rows) || !has_floats(rstd, rows))
    return HL_BAD_SHAPE;
  job j = {
      .output = output, .mean = mean, .rstd = rstd, .x = x, .weight = weight, .bias = bias, .width = width, .eps = eps};
  if (width) elements_for_each_row(forward_row, &j, rows, width, 8);
  return HL_OK;
}

hl_status hl_norm_backward(float *dx, float *d_weight, float *d_bias, const float *d_output, const float *x,
                           const float *mean, const float *rstd, const float *weight, uint32_t rows, uint32_t width) {
  const double count = (double)rows * width;
  if (!has_floats(dx, count) || !has_floats(d_output, count) || !has_floats(x, count) || !has_floats(weight, width) ||
      !has_floats(d_weight, width) || !has_floats_or_null(d_bias, width) || !has_floats_or_null(mean, rows) ||
      !has_floats(rstd, rows))
    return HL_BAD_SHAPE;
  job j = {.dx = dx,
           .d_weight = d_weight,
           .d_bias = d_bias,
           .d_output = d_output,
           .x = x,
           .mean = (float *)mean,
           .rstd = (float *)rstd,
           .weight = weight,
           .rows = rows,
           .width = width};
  if (width) elements_for_each_row(input_row, &j, rows, width, 8);
  parallel_for(parameter_chunk, &j, (width + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS, 3.0 * rows * width);
  return HL_OK;
}
