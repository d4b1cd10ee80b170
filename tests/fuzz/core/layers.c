#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "input.h"
#include "reference.h"

/* ---- linear ---------------------------------------------------------------------------------------------------- */

static uint32_t linear_size(void) { return size_of(one_in(8) ? 300 : 30); }

void fuzz_linear_forward(void) {
  const uint32_t rows = linear_size(), out = linear_size(), in = linear_size();
  float *y = output((double)rows * out);
  const float *x = input((double)rows * in), *weight = input((double)out * in), *bias = optional_input(out);
  while (next_round()) returned(hl_linear_forward(y, x, weight, bias, rows, out, in));
  if (!is_moderate()) return;
  double *expected = linear_reference(x, weight, bias, rows, out, in);
  for (size_t i = 0; i < (size_t)rows * out; i++) near("y", y[i], expected[i]);
  free(expected);
}

/* Tests a weight of 16-bit numbers from 1/8 to 1/2, or smaller, against the same weight in float32. */
void fuzz_linear_stored(void) {
  const uint32_t rows = linear_size(), out = linear_size(), in = linear_size(), stored = choice(HL_STORED_BF16);
  const double count = (double)out * in;
  float *y = output((double)rows * out), *converted = own_numbers(count), *weight = input(stored_floats(count, stored));
  const float *x = input((double)rows * in), *bias = optional_input(out);
  if (weight && is_allocated(count) && (stored == HL_STORED_F16 || stored == HL_STORED_BF16)) {
    for (size_t i = 0; i < (size_t)count; i++) {
      uint32_t bits;
      memcpy(&bits, converted + i, sizeof bits);
      ((uint16_t *)(void *)weight)[i] = (uint16_t)((bits & 0x81ff) | (stored == HL_STORED_F16 ? 0x3200 : 0x3e00));
    }
  }
  if (weight && is_allocated(count)) hl_stored_load(converted, weight, stored, (uint32_t)count);
  while (next_round()) returned(hl_linear_stored(y, x, weight, bias, stored, rows, out, in));
  if (!is_moderate()) return;
  double *expected = linear_reference(x, converted, bias, rows, out, in);
  for (size_t i = 0; i < (size_t)rows * out; i++) near("y", y[i], expected[i]);
  free(expected);
}

void fuzz_linear_backward(void) {
  const uint32_t rows = linear_size(), out = linear_size(), in = linear_size();
  const double inputs = (double)rows * in, weights = (double)out * in;
  float *dx = optional_output(inputs), *dweight = optional_output(weights), *dbias = optional_output(out);
  const float *dy = input((double)rows * out), *x = dweight ? input(inputs) : NULL,
              *weight = dx ? input(weights) : NULL;
  while (next_round()) returned(hl_linear_backward(dx, dweight, dbias, dy, x, weight, rows, out, in));
  if (!is_moderate()) return;
  for (size_t i = 0; dx && i < (size_t)rows * in; i++) {
    double sum = 0;
    for (size_t j = 0; j < out; j++) sum += (double)dy[i / in * out + j] * weight[j * in + i % in];
    near("dx", dx[i], sum);
  }
  for (size_t i = 0; dweight && i < (size_t)out * in; i++) {
    double sum = before(dweight)[i];
    for (size_t r = 0; r < rows; r++) sum += (double)dy[r * out + i / in] * x[r * in + i % in];
    near("dweight", dweight[i], sum);
  }
  for (size_t j = 0; dbias && j < out; j++) {
    double sum = before(dbias)[j];
    for (size_t r = 0; r < rows; r++) sum += dy[r * out + j];
    near("dbias", dbias[j], sum);
  }
}

/* ---- embedding ------------------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t batch, rows, width, count, first;
} embedding_sizes;

static embedding_sizes random_embedding(void) {
  const embedding_sizes s = {positive_size(3), size_of(30), size_of(70), positive_size(20), size_of(10)};
  must_refuse(s.count == 0 && s.batch > 0 && s.rows > 0);
  return s;
}

void fuzz_embedding_forward(void) {
  const embedding_sizes s = random_embedding();
  float *to = output((double)s.batch * s.rows * s.width);
  const float *table = input((double)s.count * s.width),
              *position = optional_input(((double)s.first + s.rows) * s.width);
  const int32_t *label = labels((double)s.batch * s.rows, s.count);
  while (next_round())
    returned(hl_embedding_forward(to, table, position, label, s.batch, s.rows, s.width, s.count, s.first));
  if (!is_moderate()) return;
  for (size_t i = 0; i < (size_t)s.batch * s.rows * s.width; i++) {
    const size_t row = i / s.width, c = i % s.width;
    near("embedding", to[i],
         table[label[row] * s.width + c] + (position ? position[(s.first + row % s.rows) * s.width + c] : 0.0));
  }
}

void fuzz_embedding_backward(void) {
  const embedding_sizes s = random_embedding();
  float *d_table = output((double)s.count * s.width),
        *d_position = optional_output(((double)s.first + s.rows) * s.width);
  const float *d_output = input((double)s.batch * s.rows * s.width);
  const int32_t *label = labels((double)s.batch * s.rows, s.count);
  while (next_round())
    returned(hl_embedding_backward(d_table, d_position, d_output, label, s.batch, s.rows, s.width, s.count, s.first));
  if (!is_moderate()) return;
  for (size_t i = 0; i < (size_t)s.count * s.width; i++) {
    double sum = before(d_table)[i];
    for (size_t r = 0; r < (size_t)s.batch * s.rows; r++) {
      if ((size_t)label[r] == i / s.width) sum += d_output[r * s.width + i % s.width];
    }
    near("d_table", d_table[i], sum);
  }
}

/* ---- norm ------------------------------------------------------------------------------------------------------ */

void fuzz_norm_forward(void) {
  const uint32_t rows = size_of(40), width = size_of(130);
  const double cells = (double)rows * width;
  const bool centred = one_in(2);
  const float eps = make_invalid() ? -1 : (float)below(100) / 100;
  float *y = output(cells), *mean = if_(centred, required_output, rows), *rstd = output(rows);
  const float *x = input(cells), *weight = input(width), *bias = optional_input(width);
  while (next_round()) returned(hl_norm_forward(y, mean, rstd, x, weight, bias, rows, width, eps));
  for (size_t r = 0; is_moderate() && width > 1 && r < rows; r++) {
    double sum = 0, squares = 0;
    for (size_t c = 0; c < width; c++) sum += x[r * width + c];
    const double origin = mean ? sum / width : 0;
    for (size_t c = 0; c < width; c++) squares += pow(x[r * width + c] - origin, 2);
    const double scale = 1 / sqrt(squares / width + eps);
    for (size_t c = 0; c < width; c++) {
      const size_t i = r * width + c;
      near("norm", y[i], (x[i] - origin) * scale * weight[c] + (bias ? bias[c] : 0));
    }
  }
}

void fuzz_norm_backward(void) {
  const uint32_t rows = size_of(40), width = size_of(130);
  const double cells = (double)rows * width;
  const bool centred = one_in(2);
  float *dx = output(cells), *d_weight = output(width), *d_bias = optional_output(width);
  const float *d_output = input(cells), *x = input(cells), *mean = if_(centred, required_input, rows),
              *rstd = input(rows), *weight = input(width);
  while (next_round()) returned(hl_norm_backward(dx, d_weight, d_bias, d_output, x, mean, rstd, weight, rows, width));
  for (size_t c = 0; is_moderate() && c < width; c++) {
    double weights = before(d_weight)[c], biases = d_bias ? before(d_bias)[c] : 0;
    for (size_t r = 0; r < rows; r++) {
      const double d = d_output[r * width + c];
      weights += d * (x[r * width + c] - (mean ? mean[r] : 0.0)) * rstd[r];
      biases += d;
    }
    near("d_weight", d_weight[c], weights);
    if (d_bias) near("d_bias", d_bias[c], biases);
  }
}

/* ---- elementwise operations ------------------------------------------------------------------------------------ */

static const double PI = 3.14159265358979;

static double logistic(double x, double *slope) {
  const double y = 1 / (1 + exp(-x));
  *slope = y * (1 - y);
  return y;
}

/* Returns the factor Φ of the activation x · Φ(x), and sets `slope` to the derivative of Φ. */
static double share_of(double x, uint32_t kind, double *slope) {
  const double root = sqrt(2 / PI), t = tanh(root * (x + 0.044715 * x * x * x));
  double share;
  switch (kind) {
  case HL_ACTIVATION_GELU:
    *slope = exp(-x * x / 2) / sqrt(2 * PI);
    return 0.5 * (1 + erf(x / sqrt(2)));
  case HL_ACTIVATION_GELU_TANH:
    *slope = 0.5 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + t);
  case HL_ACTIVATION_QUICK_GELU:
    share = logistic(1.702 * x, slope);
    *slope *= 1.702;
    return share;
  case HL_ACTIVATION_SILU:
    return logistic(x, slope);
  default: /* ReLU */
    *slope = 0;
    return x > 0;
  }
}

static double activation(double x, uint32_t kind, double *slope) {
  double rise, share = share_of(x, kind, &rise);
  *slope = share + x * rise;
  if (kind != HL_ACTIVATION_TANH) return x * share;
  *slope = 1 - tanh(x) * tanh(x);
  return tanh(x);
}

void fuzz_activation(void) {
  const uint32_t count = size_of(300), kind = choice(HL_ACTIVATION_TANH);
  const bool backward = one_in(2);
  float *to = output(count);
  const float *x = input(count), *d_output = backward ? input(count) : NULL;
  while (next_round())
    returned(backward ? hl_activation_backward(to, d_output, x, count, kind)
                      : hl_activation_forward(to, x, count, kind));
  for (size_t i = 0; is_moderate() && i < count; i++) {
    double slope, y = activation(x[i], kind, &slope);
    near("activation", to[i], backward ? d_output[i] * slope : y);
  }
}

/* Tests gated activations, some of which write their results into their inputs. */
void fuzz_gated(void) {
  const uint32_t count = size_of(300), kind = choice(HL_ACTIVATION_TANH);
  const bool backward = one_in(2), in_place = one_in(2);
  float *first = output(count), *second = backward ? output(count) : NULL;
  const float *gate = in_place ? first : input(count), *up = in_place && backward ? second : input(count),
              *d_output = backward ? input(count) : NULL;
  while (next_round())
    returned(backward ? hl_gated_backward(first, second, d_output, gate, up, count, kind)
                      : hl_gated_forward(first, gate, up, count, kind));
  for (size_t i = 0; is_moderate() && i < count; i++) {
    const double x = in_place ? before(first)[i] : gate[i], u = up == second ? before(second)[i] : up[i];
    double slope, y = activation(x, kind, &slope);
    near("gated", first[i], backward ? d_output[i] * u * slope : y * u);
    if (backward) near("d_up", second[i], d_output[i] * y);
  }
}

static float random_cap(void) {
  const float cap = finite(number());
  must_refuse(!(cap > 0));
  return cap;
}

void fuzz_softcap(void) {
  const uint32_t count = size_of(300);
  const float cap = one_in(8) ? random_cap() : 0.75f;
  const bool backward = one_in(2), in_place = one_in(2);
  float *to = output(count);
  const float *x = in_place ? to : input(count), *d_output = backward ? input(count) : NULL;
  while (next_round())
    returned(backward ? hl_softcap_backward(to, d_output, x, count, cap) : hl_softcap_forward(to, x, count, cap));
  for (size_t i = 0; is_moderate() && cap == 0.75f && i < count; i++) {
    const double from = in_place ? before(to)[i] : x[i];
    near("softcap", to[i], backward ? d_output[i] * (1 - pow(from / cap, 2)) : cap * tanh(from / cap));
  }
}

/* ---- positions ------------------------------------------------------------------------------------------------- */

void fuzz_rotary(void) {
  const uint32_t B = positive_size(3), H = positive_size(4), T = size_of(20), D = size_of(70),
                 count = positive_size(20), neighbours = choice(1), reverse = choice(1), gap = below(3);
  uint32_t rotated = below(D < 70 ? D + 1 : 71) / 2 * 2;
  if (make_invalid()) rotated = D < UINT32_MAX ? D + 1 : 1;
  must_refuse(count == 0 && B > 0 && T > 0);
  const hl_stride s = one_in(2) ? (hl_stride){H * T * (D + gap), T * (D + gap), D + gap}
                                : (hl_stride){T * H * (D + gap), D + gap, H * (D + gap)};
  float *to = output_rows(B, H, T, D, &s);
  const bool in_place = one_in(2);
  const float *x = in_place ? to : input_rows(B, H, T, D, &s), *table = input((double)count * rotated);
  const int32_t *positions = labels((double)B * T, count);
  while (next_round())
    returned(
        hl_rotary(to, x, table, positions, B, H, T, D, rotated, count, neighbours, reverse, s.batch, s.head, s.row));
  if (!is_moderate() || D == 0) return;
  const float *from = in_place ? before(to) : x;
  for (size_t i = 0; i < (size_t)B * H * T; i++) {
    const size_t b = i / T / H, h = i / T % H, t = i % T, at = b * s.batch + h * s.head + t * s.row, half = rotated / 2;
    for (size_t n = 0; n < half; n++) {
      const float *angles = table + (size_t)positions[b * T + t] * rotated;
      const size_t first = at + (neighbours ? 2 * n : n), second = neighbours ? first + 1 : first + half;
      const double sine = reverse ? -angles[half + n] : angles[half + n];
      near("rotary", to[first], (double)from[first] * angles[n] - from[second] * sine);
      near("rotary", to[second], (double)from[second] * angles[n] + from[first] * sine);
    }
    for (size_t n = rotated; n < D; n++) near("rotary", to[at + n], from[at + n]);
  }
}

void fuzz_relative(void) {
  const uint32_t buckets = positive_size(20), H = size_of(5), T = size_of(40), S = size_of(40);
  const double cells = (double)H * T * S, diagonals = cells > 0 ? (double)T + S - 1 : 0;
  const bool backward = one_in(2);
  float *to = output(backward ? (double)buckets * H : cells);
  const float *from = input(backward ? cells : (double)buckets * H);
  const int32_t *bucket = labels(diagonals, buckets);
  must_refuse(buckets == 0 && cells > 0);
  while (next_round())
    returned(backward ? hl_relative_backward(to, from, bucket, buckets, H, T, S)
                      : hl_relative_forward(to, from, bucket, buckets, H, T, S));
  if (!is_moderate()) return;
  double *sums = zeros((size_t)buckets * H);
  for (size_t i = 0; i < (size_t)H * T * S; i++) {
    const size_t at = (size_t)bucket[i % S + T - 1 - i / S % T] * H + i / S / T;
    if (backward) sums[at] += from[i];
    else near("relative bias", to[i], from[at]);
  }
  for (size_t i = 0; backward && i < (size_t)buckets * H; i++) near("d_table", to[i], before(to)[i] + sums[i]);
  free(sums);
}

/* Tests hl_add, which sometimes writes its result into one of its inputs. */
void fuzz_add(void) {
  const uint32_t count = size_of(300);
  float *to = output(count);
  const float *a = input(count), *b = one_in(2) ? to : input(count);
  while (next_round()) returned(hl_add(to, a, b, count));
  for (size_t i = 0; is_moderate() && i < count; i++)
    near("sum", to[i], (double)a[i] + (b == to ? before(to)[i] : b[i]));
}

void fuzz_scale(void) {
  const uint32_t count = size_of(300);
  const float factor = number();
  float *x = output(count);
  while (next_round()) returned(hl_scale(x, count, factor));
  double squares = 0;
  for (size_t i = 0; is_moderate() && i < count; i++) {
    near("scaled", x[i], (double)before(x)[i] * factor);
    squares += (double)x[i] * x[i];
  }
  if (is_moderate()) near("sum of squares", hl_square_sum(x, count), squares);
  if (!isnan(hl_square_sum(NULL, 1))) fail("the sum of squares of a missing tensor");
}

/* ---- loss ------------------------------------------------------------------------------------------------------ */

static double row_loss(const float *x, uint32_t classes, int32_t label, double smoothing) {
  double max = -INFINITY, sum = 0, mean = 0;
  for (uint32_t c = 0; c < classes; c++) {
    if (x[c] > max) max = x[c];
    mean += (double)x[c] / classes;
  }
  for (uint32_t c = 0; c < classes; c++) sum += exp(x[c] - max);
  return log(sum) + max - (1 - smoothing) * x[label] - smoothing * mean;
}

void fuzz_loss(void) {
  const uint32_t rows = size_of(40), classes = positive_size(130);
  const int32_t ignore = one_in(2) ? -100 : (int32_t)below(3);
  const float smoothing = make_invalid() ? 2 : one_in(2) ? (float)below(5) / 4 : 0;
  const double cells = (double)rows * classes;
  float *d_logits = optional_output(cells), *losses = output(rows);
  int32_t *best = output_labels(rows);
  const float *logits = input(cells);
  const int32_t *label = labels(rows, classes);
  const bool nowhere = make_invalid();
  must_refuse(classes == 0 && rows > 0 && ignore != 0);
  hl_loss result = {0};
  while (next_round())
    returned(hl_cross_entropy(nowhere ? NULL : &result, d_logits, losses, best, logits, label, rows, classes, smoothing,
                              ignore));
  double sum = 0;
  for (size_t r = 0; is_moderate() && classes > 0 && r < rows; r++) {
    if (best[r] < 0 || best[r] >= (int64_t)classes) fail("index of the largest logit");
    near("loss", losses[r], label[r] == ignore ? 0 : row_loss(logits + r * classes, classes, label[r], smoothing));
    sum += losses[r];
  }
  if (is_moderate()) near("mean loss", result.loss, result.counted ? sum / result.counted : 0);
  if (result.counted > rows || result.correct > result.counted) fail("counts of the loss");
}

void fuzz_squared_error(void) {
  const uint32_t count = size_of(300);
  const bool nowhere = make_invalid();
  float loss = 0, *d = optional_output(count);
  const float *x = d && one_in(2) ? d : input(count), *target = input(count);
  while (next_round()) returned(hl_mean_squared_error(nowhere ? NULL : &loss, d, x, target, count));
  double sum = 0;
  for (size_t i = 0; is_moderate() && i < count; i++) {
    const double off = (x == d ? before(d)[i] : x[i]) - target[i];
    sum += off * off;
    if (d) near("the gradient of the mean squared error", d[i], 2 * off / count);
  }
  if (is_moderate()) near("mean squared error", loss, count ? sum / count : 0);
}

/* ---- optimizers ------------------------------------------------------------------------------------------------ */

void fuzz_sgd(void) {
  const uint32_t count = size_of(300), nesterov = choice(1);
  const float rate = finite(number()), momentum = finite(number()), decay = finite(number());
  float *parameter = output(count), *velocity = output(count);
  const float *gradient = input(count);
  while (next_round()) returned(hl_sgd_step(parameter, velocity, gradient, count, rate, momentum, decay, nesterov));
  for (size_t i = 0; is_moderate() && i < count; i++) {
    const double g = gradient[i] + (double)decay * before(parameter)[i], v = momentum * before(velocity)[i] + g;
    near("velocity", velocity[i], v);
    near("parameter", parameter[i], before(parameter)[i] - rate * (nesterov ? g + momentum * v : v));
  }
}

void fuzz_adam(void) {
  const uint32_t count = size_of(300), step = make_invalid() ? 0 : 1 + below(60000), decoupled = choice(1);
  const double rate = finite(number()), eps = 1e-3, decay = finite(number()),
               beta1 = make_invalid() ? 1 : below(100) / 100.0, beta2 = make_invalid() ? NAN : below(100) / 100.0;
  float *parameter = output(count), *mean = output(count), *square = output(count);
  const float *gradient = input(count);
  for (size_t i = 0; square && is_allocated(count) && i < count; i++) square[i] = fabsf(square[i]);
  while (next_round())
    returned(hl_adam_step(parameter, mean, square, gradient, count, step, rate, beta1, beta2, eps, decay, decoupled));
  for (size_t i = 0; is_moderate() && i < count; i++) {
    const double was = before(parameter)[i], g = gradient[i] + (decoupled ? 0 : decay * was),
                 m = beta1 * before(mean)[i] + (1 - beta1) * g, s = beta2 * before(square)[i] + (1 - beta2) * g * g,
                 from = decoupled ? was * (1 - rate * decay) : was;
    near("mean", mean[i], m);
    near("parameter", parameter[i],
         from - rate / (1 - pow(beta1, step)) * m / (sqrt(s / (1 - pow(beta2, step))) + eps));
  }
}
