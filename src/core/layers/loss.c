#include "base/check.h"
#include "base/elements.h"
#include "base/exp.h"
#include "headlight.h"

typedef struct {
  float *d_logits, *losses; /* d_logits (rows,classes); losses (rows) */
  int32_t *best;            /* (rows) */
  const float *logits;      /* (rows,classes) */
  const int32_t *labels;    /* (rows) */
  size_t rows, classes;
  uint32_t counted;
  float smoothing;
  int32_t ignore;
} job;

/* ln s for s ≥ 1. With s = m · 2ⁿ and m close to 1: ln m = 2 artanh u, u = (m − 1) / (m + 1), |u| ≤ 0.172. */
static double ln(double s) {
  if (!(s < __builtin_inf())) return s;
  const uint64_t root_half = 0x3FE6A09E667F3BCD;
  union {
    double value;
    uint64_t bits;
  } m = {s};
  int64_t n = (int64_t)(m.bits - root_half) >> 52;
  m.bits -= (uint64_t)n << 52;
  double u = (m.value - 1) / (m.value + 1), sum = 0;
  for (int odd = 15; odd > 0; odd -= 2) sum = sum * u * u + 1.0 / odd;
  return 2 * u * sum + (double)n * 0.69314718055994531;
}

static void find_largest(void *context, float *const to[3], const float *const from[4], size_t count) {
  vec *max = context;
  (void)to;
  for (size_t i = 0; i < count; i += 4) *max = vec_max(*max, vec_load(from[0] + i));
}

static float largest(const float *x, size_t count) {
  vec max = vec_splat(-__builtin_inff());
  elements_apply(&(elements){find_largest, &max, .from = {x}, .fill = -__builtin_inff()}, 0, count);
  float lane[4], result = -__builtin_inff();
  vec_store(lane, max);
  for (int i = 0; i < 4; i++) result = lane[i] > result ? lane[i] : result;
  return result;
}

typedef struct {
  vec origin, sum;
} powers;

/* Computes e^(x − origin), and adds to the sum of these powers. */
static void sum_powers(void *context, float *const to[3], const float *const from[4], size_t count) {
  powers *p = context;
  const exp_vecs constants = exp_load();
  for (size_t i = 0; i < count; i += 4) {
    vec power = vec_exp2(&constants, vec_mul(vec_sub(vec_load(from[0] + i), p->origin), vec_splat(LOG2_E)));
    if (to[0]) vec_store(to[0] + i, power);
    p->sum = doubles_add(p->sum, doubles_add(doubles_low(power), doubles_high(power)));
  }
}

static void row_loss(const void *arg, size_t r) {
  const job *j = arg;
  const size_t classes = j->classes;
  const float *x = classes ? j->logits + r * classes : NULL, max = largest(x, classes);
  float *d = j->d_logits ? j->d_logits + r * classes : NULL;
  int32_t label = j->labels[r], best = 0;
  while ((size_t)best < classes && x[best] != max) best++;
  j->best[r] = (size_t)best < classes ? best : -1;
  j->losses[r] = 0;
  if (label == j->ignore || classes == 0) {
    if (d) __builtin_memset(d, 0, classes * sizeof(float));
    return;
  }
  double smoothing = j->smoothing, class_count = (double)classes, target = (1 - smoothing) * x[label];
  /* Skipped without smoothing, because 0 · ∞ would be NaN. */
  if (smoothing > 0) target += smoothing * (elements_sum(x, classes) / class_count);
  powers p = {vec_splat(max), vec_splat(0)};
  elements_apply(&(elements){sum_powers, &p, {d}, {x}, -__builtin_inff()}, 0, classes);
  double sum = doubles_sum(p.sum), loss = ln(sum) + (max - target);
  j->losses[r] = (float)loss;
  if (!d) return;
  double share = 1.0 / j->counted;
  affine a = {(float)(share / sum), (float)(-share * smoothing / class_count)};
  elements_apply(&(elements){affine_operation, &a, {d}, {d}, 0}, 0, classes);
  d[label] -= (float)(share * (1 - smoothing));
}

/* Computes the gradient of the mean squared error. Inputs: prediction and target. Context: the factor of the
 * gradient. */
static void error_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const vec factor = vec_splat(*(const float *)context);
  for (size_t i = 0; i < count; i += 4)
    vec_store(to[0] + i, vec_mul(vec_sub(vec_load(from[0] + i), vec_load(from[1] + i)), factor));
}

static void square_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  vec *sum = context;
  (void)to;
  for (size_t i = 0; i < count; i += 4) {
    const vec off = vec_sub(vec_load(from[0] + i), vec_load(from[1] + i)), low = doubles_low(off),
              high = doubles_high(off);
    *sum = doubles_add(*sum, doubles_add(doubles_mul(low, low), doubles_mul(high, high)));
  }
}

hl_status hl_mean_squared_error(float *loss, float *d_prediction, const float *prediction, const float *target,
                                uint32_t count) {
  if (!loss || !has_floats(prediction, count) || !has_floats(target, count) || !has_floats_or_null(d_prediction, count))
    return HL_BAD_SHAPE;
  vec sum = vec_splat(0);
  float factor = (float)(2.0 / (count ? count : 1));
  elements_apply(&(elements){square_operation, &sum, .from = {prediction, target}}, 0, count);
  *loss = count ? (float)(doubles_sum(sum) / count) : 0;
  if (d_prediction)
    elements_parallel(&(elements){error_operation, &factor, .to = {d_prediction}, .from = {prediction, target}}, count,
                      2);
  return HL_OK;
}

hl_status hl_cross_entropy(hl_loss *result, float *d_logits, float *losses, int32_t *best, const float *logits,
                           const int32_t *labels, uint32_t rows, uint32_t classes, float smoothing, int32_t ignore) {
  job j = {d_logits, losses, best, logits, labels, rows, classes, 0, smoothing, ignore};
  const double count = (double)rows * classes;
  if (!(smoothing >= 0 && smoothing <= 1)) return HL_BAD_ARGUMENT;
  if (!result || !has_floats(losses, rows) || !has_floats(best, rows) || !has_floats(labels, rows) ||
      !has_floats(logits, count) || !has_floats_or_null(d_logits, count))
    return HL_BAD_SHAPE;
  for (size_t r = 0; r < rows; r++) {
    if (labels[r] == ignore) continue;
    if ((uint32_t)labels[r] >= classes) return HL_BAD_ARGUMENT;
    j.counted++;
  }
  elements_for_each_row(row_loss, &j, rows, classes, 20);
  uint32_t correct = 0;
  for (size_t r = 0; r < rows; r++) correct += labels[r] != ignore && best[r] == labels[r];
  double loss = elements_sum(losses, rows);
  *result = (hl_loss){j.counted ? (float)(loss / j.counted) : 0, j.counted, correct};
  return HL_OK;
}
