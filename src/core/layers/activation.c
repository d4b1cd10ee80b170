/* Activations. Most are x · Φ(x), where Φ rises from 0 to 1 and Φ(−x) = 1 − Φ(x). Φ is computed only for −|x|, where it
 * is a small number computed from one power, without cancellation. */
#include "base/check.h"
#include "base/elements.h"
#include "base/exp.h"
#include "headlight.h"
#include "kernels/softcap.h"

/* For the normal distribution, Φ(−z) = e^(−z²/2) · t · Q(t) with t = 1 / (1 + 0.3 z); Q is the minimax polynomial for 0
 * ≤ z ≤ 10.6, with a relative error of 5e−8. */
static const float tail_q[8] = {0.119605035f,   0.121111257f, 0.09775581f,   0.135497092f,
                                -0.0665254555f, 0.220086125f, -0.165077968f, 0.0375481283f};

#define INVERSE_ROOT_2PI 0.398942280f
#define ROOT_2_OVER_PI 0.797884561f
#define CUBE 0.044715f
#define QUICK 1.702f

/* Upper limit of |x|. Beyond this limit 1 − Φ is 0 in every form, and clamping prevents overflow. */
#define FAR 60

/* Computes Φ(x) and its derivative. Except for the normal distribution Φ(−z) = e^(−u) / (1 + e^(−u)), where u is z,
 * 1.702 z or 2 √(2/π) (z + 0.044715 z³); this equals ½ (1 − tanh u/2). */
INLINE void distribution(vec x, uint32_t kind, vec *phi, vec *derivative) {
  const vec one = vec_splat(1), z = vec_min(vec_abs(x), vec_splat(FAR)), square = vec_mul(z, z);
  vec inner = one, rate = one, tail;
  if (kind == HL_ACTIVATION_QUICK_GELU) inner = rate = vec_splat(QUICK);
  if (kind == HL_ACTIVATION_GELU_TANH) {
    inner = vec_fma(square, vec_splat(2 * ROOT_2_OVER_PI * CUBE), vec_splat(2 * ROOT_2_OVER_PI));
    rate = vec_fma(square, vec_splat(6 * ROOT_2_OVER_PI * CUBE), vec_splat(2 * ROOT_2_OVER_PI));
  }
  const bool is_normal = kind == HL_ACTIVATION_GELU;
  const exp_vecs constants = exp_load();
  vec power = is_normal ? vec_mul(square, vec_splat(0.5f)) : vec_mul(inner, z);
  power = vec_exp2(&constants, vec_mul(power, vec_splat(-LOG2_E)));
  if (is_normal) {
    vec t = vec_div(one, vec_fma(z, vec_splat(0.3f), one)), q = vec_splat(0);
    for (int degree = 7; degree >= 0; degree--) q = vec_fma(q, t, vec_load_splat(tail_q + degree));
    tail = vec_mul(power, vec_mul(q, t));
    *derivative = vec_mul(power, vec_splat(INVERSE_ROOT_2PI));
  } else {
    vec inverse = vec_div(one, vec_add(one, power));
    tail = vec_mul(power, inverse);
    *derivative = vec_mul(vec_mul(tail, inverse), rate);
  }
  *phi = vec_select(vec_less(x, vec_splat(0)), tail, vec_sub(one, tail));
}

/* y = activation(x) and its derivative. */
INLINE void activate(vec x, uint32_t kind, vec *y, vec *derivative) {
  const vec zero = vec_splat(0), one = vec_splat(1);
  if (kind == HL_ACTIVATION_RELU) {
    *y = vec_zero_where(vec_less(x, zero), x);
    *derivative = vec_select(vec_less(zero, x), one, zero);
  } else if (kind == HL_ACTIVATION_TANH) {
    *y = vec_tanh(x);
    *derivative = vec_sub(one, vec_mul(*y, *y));
  } else {
    vec phi, d_phi;
    distribution(x, kind, &phi, &d_phi);
    *y = vec_mul(x, phi);
    *derivative = vec_fma(x, d_phi, phi);
  }
}

/* Computes activation(x) · up, or its gradients. Inputs: x; the factor `up`, or NULL for 1; the gradient of the result,
 * or NULL. Without that gradient, to[0] is the result; with it, to[0] and to[1] are the gradients of x and `up`. */
static void operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const uint32_t kind = *(const uint32_t *)context;
  for (size_t i = 0; i < count; i += 4) {
    vec y, derivative, up = from[1] ? vec_load(from[1] + i) : vec_splat(1);
    activate(vec_load(from[0] + i), kind, &y, &derivative);
    if (!from[2]) {
      vec_store(to[0] + i, from[1] ? vec_mul(y, up) : y);
      continue;
    }
    const vec d_output = vec_load(from[2] + i);
    vec_store(to[0] + i, vec_mul(from[1] ? vec_mul(d_output, up) : d_output, derivative));
    if (to[1]) vec_store(to[1] + i, vec_mul(d_output, y));
  }
}

static hl_status apply(elements e, uint32_t count, uint32_t kind) {
  if (kind > HL_ACTIVATION_TANH) return HL_BAD_ARGUMENT;
  e.operation = operation;
  e.context = &kind;
  elements_parallel(&e, count, 20);
  return HL_OK;
}

hl_status hl_activation_forward(float *output, const float *x, uint32_t count, uint32_t kind) {
  if (!has_floats(output, count) || !has_floats(x, count)) return HL_BAD_SHAPE;
  return apply((elements){.to = {output}, .from = {x}}, count, kind);
}

hl_status hl_activation_backward(float *dx, const float *d_output, const float *x, uint32_t count, uint32_t kind) {
  if (!has_floats(dx, count) || !has_floats(d_output, count) || !has_floats(x, count)) return HL_BAD_SHAPE;
  return apply((elements){.to = {dx}, .from = {x, NULL, d_output}}, count, kind);
}

hl_status hl_gated_forward(float *output, const float *gate, const float *up, uint32_t count, uint32_t kind) {
  if (!has_floats(output, count) || !has_floats(gate, count) || !has_floats(up, count)) return HL_BAD_SHAPE;
  return apply((elements){.to = {output}, .from = {gate, up}}, count, kind);
}

hl_status hl_gated_backward(float *d_gate, float *d_up, const float *d_output, const float *gate, const float *up,
                            uint32_t count, uint32_t kind) {
  if (!has_floats(d_gate, count) || !has_floats(d_up, count) || !has_floats(d_output, count) ||
      !has_floats(gate, count) || !has_floats(up, count))
    return HL_BAD_SHAPE;
  return apply((elements){.to = {d_gate, d_up}, .from = {gate, up, d_output}}, count, kind);
}

/* ---- softcap ---- */

static void cap_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  softcap_floats(to[0], from[0], count, *(const float *)context);
}

static void cap_backward_operation(void *context, float *const to[3], const float *const from[4], size_t count) {
  const vec inverse = vec_splat(1 / *(const float *)context);
  for (size_t i = 0; i < count; i += 4)
    vec_store(to[0] + i, vec_mul(vec_load(from[1] + i), softcap_derivative(vec_load(from[0] + i), inverse)));
}

static bool is_cap(float cap) { return is_finite(cap) && cap > 0; }

hl_status hl_softcap_forward(float *output, const float *x, uint32_t count, float cap) {
  if (!is_cap(cap)) return HL_BAD_ARGUMENT;
  if (!has_floats(output, count) || !has_floats(x, count)) return HL_BAD_SHAPE;
  elements_parallel(&(elements){cap_operation, &cap, .to = {output}, .from = {x}}, count, 20);
  return HL_OK;
}

hl_status hl_softcap_backward(float *dx, const float *d_output, const float *output, uint32_t count, float cap) {
  if (!is_cap(cap)) return HL_BAD_ARGUMENT;
  if (!has_floats(dx, count) || !has_floats(d_output, count) || !has_floats(output, count)) return HL_BAD_SHAPE;
  elements_parallel(&(elements){cap_backward_operation, &cap, .to = {dx}, .from = {output, d_output}}, count, 4);
  return HL_OK;
}
