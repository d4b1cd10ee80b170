/* x · Φ(x), where Φ rises from 0 to 1 as Φ(−x) = 1 − Φ(x): so Φ is computed for −|x| only, where it is a small
 * number made from one power and loses nothing by cancellation. */
#include "base/check.h"
#include "base/elements.h"
#include "base/exp.h"
#include "headlight.h"

/* Φ(−z) = e^(−z²/2) · t · Q(t) with t = 1 / (1 + 0.3 z), Q by minimax for 0 ≤ z ≤ 10.6: 5e−8 relative. */
static const float tail_q[8] = {0.119605035f,   0.121111257f, 0.09775581f,   0.135497092f,
                                -0.0665254555f, 0.220086125f, -0.165077968f, 0.0375481283f};

#define INVERSE_ROOT_2PI 0.398942280f
#define ROOT_2_OVER_PI 0.797884561f
#define CUBE 0.044715f

/* From here on 1 − Φ is 0 in either form; larger numbers need not overflow. */
#define FAR 16

/* Φ(x), and its derivative. With u = √(2/π) (z + 0.044715 z³), ½ (1 − tanh u) = e^(−2u) / (1 + e^(−2u)). */
VERB void distribution(vec x, uint32_t form, vec *share, vec *slope) {
  const vec one = vec_splat(1), z = vec_min(vec_abs(x), vec_splat(FAR)), square = vec_mul(z, z);
  vec inner = vec_fma(square, vec_splat(2 * ROOT_2_OVER_PI * CUBE), vec_splat(2 * ROOT_2_OVER_PI));
  vec power = form == HL_GELU_EXACT ? vec_mul(square, vec_splat(0.5f)) : vec_mul(inner, z), tail;
  const exp_vecs constants = exp_load();
  power = vec_exp2(&constants, vec_mul(power, vec_splat(-LOG2_E)));
  if (form == HL_GELU_EXACT) {
    vec t = vec_div(one, vec_fma(z, vec_splat(0.3f), one)), q = vec_splat(0);
    for (int degree = 7; degree >= 0; degree--) q = vec_fma(q, t, vec_load_splat(tail_q + degree));
    tail = vec_mul(power, vec_mul(q, t));
    *slope = vec_mul(power, vec_splat(INVERSE_ROOT_2PI));
  } else {
    vec inverse = vec_div(one, vec_add(one, power));
    vec rate = vec_fma(square, vec_splat(6 * ROOT_2_OVER_PI * CUBE), vec_splat(2 * ROOT_2_OVER_PI));
    tail = vec_mul(power, inverse);
    *slope = vec_mul(vec_mul(tail, inverse), rate);
  }
  *share = vec_select(vec_less(x, vec_splat(0)), tail, vec_sub(one, tail));
}

/* from: x, and the gradient of the result where it is the gradient of x that is asked for. */
static void gelu_operation(void *numbers, float *const to[3], const float *const from[4], size_t count) {
  const uint32_t form = *(const uint32_t *)numbers;
  for (size_t i = 0; i < count; i += 4) {
    vec x = vec_load(from[0] + i), share, slope;
    distribution(x, form, &share, &slope);
    vec_store(to[0] + i, from[1] ? vec_mul(vec_load(from[1] + i), vec_fma(x, slope, share)) : vec_mul(x, share));
  }
}

static hl_status gelu(float *to, const float *x, const float *d_output, uint32_t count, uint32_t form) {
  if (form > HL_GELU_TANH) return HL_BAD_ARGUMENT;
  if (!has_floats(to, count) || !has_floats(x, count)) return HL_BAD_SHAPE;
  elements_share(&(elements){gelu_operation, &form, .to = {to}, .from = {x, d_output}}, count, 20);
  return HL_OK;
}

hl_status hl_gelu_forward(float *output, const float *x, uint32_t count, uint32_t form) {
  return gelu(output, x, NULL, count, form);
}

hl_status hl_gelu_backward(float *dx, const float *d_output, const float *x, uint32_t count, uint32_t form) {
  return has_floats(d_output, count) ? gelu(dx, x, d_output, count, form) : HL_BAD_SHAPE;
}
