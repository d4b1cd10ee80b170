/* Compares random calls of the native core with plain loops in double precision, under the sanitizers. Inputs and
 * outputs are heap blocks of exactly the required size, so that any access outside of them is detected. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headlight.h"
#include "kernels/gemm_int8.h"
#include "layers/linear.h"
#include "reference.h"

static uint32_t state = 20;
static uint32_t random_below(uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return n ? (state >> 8) % n : 0;
}
static int coin(void) { return random_below(2) == 0; }

static float *floats(size_t n) {
  float *x = exactly(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = (float)random_below(2001) / 500.0f - 2.0f;
  return x;
}
static uint8_t *flags(size_t n) {
  uint8_t *x = exactly(n);
  for (size_t i = 0; i < n; i++) x[i] = random_below(4) > 0;
  return x;
}

static int32_t *labels_below(size_t n, uint32_t below) {
  int32_t *x = exactly(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = (int32_t)random_below(below);
  return x;
}

static void fail(const char *what, double got, double expected) {
  fprintf(stderr, "%s: %.9g, expected %.9g (seed state %u)\n", what, got, expected, state);
  exit(1);
}
static void near(const char *what, double got, double expected) {
  if (got != expected && !(fabs(got - expected) <= 2e-5 * (1 + fabs(expected)))) fail(what, got, expected);
}

static void random_backward(const hl_attention_args *a) {
  uint32_t all = a->keys + a->appended;
  size_t queries = (size_t)a->batch * a->heads * a->queries, keys = (size_t)a->batch * a->kv_heads * a->keys,
         appended = (size_t)a->appended * a->kv_heads;
  float *d_output = floats(queries * a->value_width),
        *d_weights = floats((a->weights_mode == HL_WEIGHTS_MEAN ? (size_t)a->batch * a->queries : queries) * all);
  size_t biases = (size_t)a->heads * a->queries * a->keys;
  hl_attention_backward_args g = {.attention = *a,
                                  .d_query = floats(queries * a->width),
                                  .d_key = floats(keys * a->width),
                                  .d_value = floats(keys * a->value_width),
                                  .d_appended_key = floats(appended * a->width),
                                  .d_appended_value = floats(appended * a->value_width),
                                  .d_output = d_output,
                                  .d_weights = a->weights_mode && coin() ? d_weights : NULL,
                                  .d_bias = a->bias ? floats(biases) : NULL};
  float *before = exactly(biases * sizeof *before), *sinks_before = exactly(a->heads * sizeof *sinks_before);
  if (a->sinks && coin()) g.d_sinks = floats(a->heads);
  size_t additive = (size_t)a->heads * a->width;
  float *additive_before = exactly(additive * sizeof *additive_before);
  if (a->additive && coin()) g.d_additive = floats(additive);
  if (g.d_additive) memcpy(additive_before, g.d_additive, additive * sizeof *additive_before);
  if (g.d_sinks) memcpy(sinks_before, g.d_sinks, a->heads * sizeof *sinks_before);
  if (g.d_bias) memcpy(before, g.d_bias, biases * sizeof *before);
  if (hl_attention_backward(&g) != HL_OK) fail("status of backward", 1, 0);
  if (a->dropout == 0 || a->keep)
    check_attention_backward(&g, &(sums_before){before, sinks_before, additive_before}, near);
  float *blocks[] = {d_output,     d_weights,        g.d_query,          g.d_key,  before,
                     g.d_value,    g.d_appended_key, g.d_appended_value, g.d_bias, g.d_sinks,
                     sinks_before, g.d_additive,     additive_before};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static uint32_t some_size(void) {
  static const uint32_t sizes[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 23, 24, 25, 31, 49, 251, 252, 253, 300};
  return sizes[random_below(coin() ? 11 : 20)];
}

static void random_attention(void) {
  uint32_t B = 1 + random_below(2), G = 1 + random_below(2), H = G * (1 + random_below(3));
  uint32_t T = some_size(), S = some_size() - (random_below(20) == 0), D = 1 + random_below(20), Dv = random_below(20),
           E = random_below(3);
  uint32_t all = S + E;
  hl_attention_args a = {.output = floats((size_t)B * H * T * Dv),
                         .query = floats((size_t)B * H * T * D),
                         .key = floats((size_t)B * G * S * D),
                         .value = floats((size_t)B * G * S * Dv),
                         .appended_key = floats((size_t)E * G * D),
                         .appended_value = floats((size_t)E * G * Dv),
                         .output_stride = {H * T * Dv, T * Dv, Dv},
                         .query_stride = {H * T * D, T * D, D},
                         .key_stride = {G * S * D, S * D, D},
                         .value_stride = {G * S * Dv, S * Dv, Dv},
                         .batch = B,
                         .heads = H,
                         .kv_heads = G,
                         .queries = T,
                         .keys = S,
                         .width = D,
                         .value_width = Dv,
                         .appended = E,
                         .window_left = coin() ? -1 : (int32_t)random_below(6),
                         .window_right = coin() ? -1 : (int32_t)random_below(6),
                         .causal = (uint32_t)coin(),
                         .scale = 0.3f,
                         .softcap = coin() ? 0 : 2.5f,
                         .fill = coin() ? -INFINITY : -4.0f};
  if (coin()) { /* packed: (B,N,heads·width) */
    a.query_stride = (hl_stride){T * H * D, D, H * D};
    a.key_stride = (hl_stride){S * G * D, D, G * D};
    a.value_stride = (hl_stride){S * G * Dv, Dv, G * Dv};
    a.output_stride = (hl_stride){T * H * Dv, Dv, H * Dv};
  }
  uint8_t *mask = flags((size_t)T * S), *padding = flags((size_t)B * S), *keep = flags((size_t)B * H * T * all);
  float *bias = floats((size_t)H * T * S), *sinks = floats(H), *slopes = floats(H), *additive = floats(H * D);
  int32_t *lens = exactly(B * sizeof *lens), *offset = exactly(B * sizeof *offset);
  for (uint32_t b = 0; b < B; b++) {
    lens[b] = (int32_t)random_below(S + 3);
    offset[b] = (int32_t)random_below(9) - 3;
  }
  if (coin()) a.mask = mask, a.mask_stride = (hl_broadcast){0, 0, S, 1};
  if (coin()) a.bias = bias, a.bias_stride = (hl_broadcast){0, T * S, S, 1};
  if (coin()) a.key_padding = padding, a.key_padding_stride[0] = S, a.key_padding_stride[1] = 1;
  if (coin()) a.valid_lens = lens, a.valid_lens_stride[0] = 1;
  if (coin()) a.offset = offset;
  for (uint32_t h = 0; h < H; h++) slopes[h] /= 16; /* keeps the scores of distant keys exact */
  if (random_below(4) == 0) a.additive = additive;
  if (coin()) a.sinks = sinks;
  if (coin()) a.slopes = slopes;
  uint32_t mode = random_below(4);
  a.weights_mode = mode > 2 ? 0 : mode;
  a.scores_step = random_below(3) == 0 ? 1 + random_below(4) : 0;
  a.weights = floats((size_t)B * (mode == 2 ? 1 : H) * T * all);
  a.scores = floats((size_t)B * H * T * all);
  a.statistics = floats((size_t)2 * B * H * T);
  if (hl_attention(&a) != HL_OK) fail("status", 1, 0);
  check_attention(&a, near);
  random_backward(&a);
  if (coin()) { /* with dropout from a seed, only the memory accesses are checked */
    a.dropout = 0.3f;
    if (coin()) a.keep = keep;
    if (hl_attention(&a) != HL_OK) fail("status with dropout", 1, 0);
    if (a.keep) check_attention(&a, near);
    random_backward(&a);
  }
  void *blocks[] = {a.output,
                    (void *)a.query,
                    (void *)a.key,
                    (void *)a.value,
                    (void *)a.appended_key,
                    (void *)a.appended_value,
                    mask,
                    padding,
                    keep,
                    bias,
                    sinks,
                    slopes,
                    additive,
                    lens,
                    offset,
                    a.weights,
                    a.scores,
                    a.statistics};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static void pack_int8(float *packed, const float *weight, uint32_t out, uint32_t in, int8_form form) {
  gemm_int8_pack_start(packed, form);
  for (size_t j = 0; j < out; j += TILE_COLS)
    gemm_int8_pack_panel(packed, j, weight + j * in, HL_STORED_F32, out - j < TILE_COLS ? out - j : TILE_COLS, in,
                         form);
}

/* Tests every form of the int8 product. The error must not exceed the rounding of the two operands. */
static void random_int8(void) {
  uint32_t rows = 1 + random_below(12), in = 1 + random_below(40), out = 1 + random_below(20);
  float *x = floats(rows * in), *w = floats(out * in), *bias = floats(out), *y = floats(rows * out);
  double *expected = linear_reference(x, w, bias, rows, out, in);
  int8_form form = HL_SIMD_RELAXED && coin() ? INT8_UNSIGNED_QUADS : INT8_PAIRS;
  float *to = floats((size_t)gemm_int8_packed_floats(out, in)), *workspace = floats((size_t)linear_workspace(rows, in));
  pack_int8(to, w, out, in, form);
  const gemm_product product = {.y = y, .weight = to, .bias = coin() ? bias : NULL, .out = out};
  linear(&product, 1, true, x, rows, in, workspace);
  for (size_t i = 0; i < (size_t)rows * out; i++) {
    double off = y[i] + (product.bias ? 0 : bias[i % out]) - expected[i];
    if (fabs(off) > 2 * 2 * in / 127.0) fail("int8 product", y[i], expected[i]);
  }
  free(x), free(w), free(bias), free(y), free(expected), free(to), free(workspace);
}

static float *packed(const float *weight, size_t out, size_t in, int int8) {
  float *to = floats((size_t)(int8 ? hl_weight_quantized_size : hl_weight_packed_size)((uint32_t)out, (uint32_t)in));
  if ((int8 ? hl_weight_quantize : hl_weight_pack)(to, weight, (uint32_t)out, (uint32_t)in) != HL_OK)
    fail("status of packing", 1, 0);
  return to;
}

/* Runs the backward pass of the layer, whose parts are checked above. Accesses must stay inside the arguments, and
 * results must be finite. */
static void layer_backward(hl_multihead_args *m, float *const weights[4], int self) {
  const hl_attention_args *a = &m->attention;
  size_t HD = (size_t)a->heads * a->width, GD = (size_t)a->kv_heads * a->width, rows = (size_t)a->batch * a->queries,
         keys = (size_t)a->batch * a->keys;
  size_t width = m->packed_wo ? m->output_dim : HD;
  const size_t sizes[] = {rows * m->query_dim,
                          keys * m->key_dim,
                          keys * m->value_dim,
                          HD * m->query_dim,
                          GD * m->key_dim,
                          GD * m->value_dim,
                          width * HD,
                          HD,
                          GD,
                          GD,
                          width,
                          GD,
                          GD};
  float *d[13];
  for (size_t i = 0; i < 13; i++) d[i] = floats(sizes[i]);
  float *d_output = floats(rows * width);
  m->saved = floats((size_t)hl_multihead_saved_size(m));
  hl_multihead_backward_args g = {.forward = *m,
                                  .d_query = d[0],
                                  .d_key = self ? d[0] : d[1],
                                  .d_value = self ? d[0] : d[2],
                                  .d_wq = d[3],
                                  .d_wk = d[4],
                                  .d_wv = d[5],
                                  .d_wo = m->packed_wo ? d[6] : NULL,
                                  .d_bq = d[7],
                                  .d_bk = d[8],
                                  .d_bv = d[9],
                                  .d_bo = d[10],
                                  .d_bias_key = m->bias_key ? d[11] : NULL,
                                  .d_bias_value = m->bias_key ? d[12] : NULL,
                                  .d_output = d_output,
                                  .d_weights = a->weights,
                                  .wq = weights[0],
                                  .wk = weights[1],
                                  .wv = weights[2],
                                  .wo = m->packed_wo ? weights[3] : NULL};
  if (hl_multihead_forward(m) != HL_OK || hl_multihead_backward(&g) != HL_OK)
    fail("status of the backward pass of the layer", 1, 0);
  for (size_t i = 0; i < 13; i++) {
    for (size_t j = 0; j < sizes[i]; j++) {
      if (!isfinite(d[i][j])) fail("gradient of the layer", d[i][j], 0);
    }
    free(d[i]);
  }
  free(d_output), free(m->saved);
}

static void random_layer(void) {
  uint32_t B = 1 + random_below(2), G = 1 + random_below(2), H = G * (1 + random_below(2)), D = 1 + random_below(9);
  uint32_t T = 1 + random_below(12), fresh = 1 + random_below(12), P = coin() ? 0 : random_below(5), S = P + fresh,
           C = 1 + random_below(20);
  uint32_t Cq = 1 + random_below(20), Ck = 1 + random_below(20), Cv = 1 + random_below(20), E;
  int out = coin(), past = P > 0, biases = coin(), self = coin(), int8 = random_below(4) == 0;
  if (self) fresh = T, S = P + T, Ck = Cv = Cq; /* query, key and value are one tensor */
  float *query = floats((size_t)B * T * Cq), *wq = floats((size_t)H * D * Cq), *wk = floats((size_t)G * D * Ck),
        *wv = floats((size_t)G * D * Cv), *wo = floats((size_t)C * H * D);
  hl_multihead_args m = {.query = query,
                         .key = self ? query : floats((size_t)B * fresh * Ck),
                         .value = self ? query : floats((size_t)B * fresh * Cv),
                         .past_key = past ? floats((size_t)B * G * P * D) : NULL,
                         .past_value = past ? floats((size_t)B * G * P * D) : NULL,
                         .present_key = past ? floats((size_t)B * G * S * D) : NULL,
                         .present_value = past ? floats((size_t)B * G * S * D) : NULL,
                         .packed_wq = packed(wq, H * D, Cq, int8),
                         .packed_wk = packed(wk, G * D, Ck, int8),
                         .packed_wv = packed(wv, G * D, Cv, int8),
                         .packed_wo = out ? packed(wo, C, H * D, int8) : NULL,
                         .bq = biases ? floats(H * D) : NULL,
                         .bk = biases ? floats(G * D) : NULL,
                         .bv = biases ? floats(G * D) : NULL,
                         .bo = biases ? floats(C) : NULL,
                         .bias_key = coin() ? floats(G * D) : NULL,
                         .query_dim = Cq,
                         .key_dim = Ck,
                         .value_dim = Cv,
                         .output_dim = C,
                         .past_keys = P,
                         .zero_attention = (uint32_t)coin(),
                         .int8 = (uint32_t)int8,
                         .attention = {.batch = B,
                                       .heads = H,
                                       .kv_heads = G,
                                       .queries = T,
                                       .keys = S,
                                       .width = D,
                                       .scale = 0.2f,
                                       .fill = -INFINITY,
                                       .window_left = -1,
                                       .window_right = -1,
                                       .causal = (uint32_t)coin(),
                                       .weights_mode = HL_WEIGHTS_HEADS}};
  m.bias_value = m.bias_key ? floats(G * D) : NULL;
  uint32_t half = random_below(D / 2 + 1), count = 1 + random_below(9);
  float *table = floats((size_t)count * 2 * half), *sinks = floats(H);
  int32_t *query_positions = labels_below((size_t)B * T, count),
          *key_positions = labels_below((size_t)B * fresh, count);
  for (size_t i = 0; i < (size_t)count * 2 * half; i++) table[i] /= 2; /* keeps the scores small after rotation */
  if (coin()) m.attention.sinks = sinks;
  if (coin()) {
    m.rotary_table = table;
    m.query_positions = query_positions;
    m.key_positions = key_positions;
    m.rotated = 2 * half;
    m.rotary_count = count;
    m.rotary_neighbours = (uint32_t)coin();
  }
  E = (m.bias_key != NULL) + m.zero_attention;
  m.attention.output = floats((size_t)B * T * (out ? C : H * D));
  m.attention.weights = floats((size_t)B * H * T * (S + E));
  if (hl_multihead_forward(&m) != HL_OK) fail("status of the layer", 1, 0);
  if (!past && !int8) layer_backward(&m, (float *[]){wq, wk, wv, wo}, self);
  if (!out && !past && E == 0 && !int8) { /* no output projection: the output is attention on the projections */
    double *q = linear_reference(m.query, wq, m.bq, (size_t)B * T, H * D, Cq),
           *k = linear_reference(m.key, wk, m.bk, (size_t)B * S, G * D, Ck);
    double *v = linear_reference(m.value, wv, m.bv, (size_t)B * S, G * D, Cv);
    hl_attention_args a = m.attention;
    float *qf = floats((size_t)B * T * H * D), *kf = floats((size_t)B * S * G * D), *vf = floats((size_t)B * S * G * D);
    for (size_t i = 0; i < (size_t)B * T * H * D; i++) qf[i] = (float)q[i];
    for (size_t i = 0; i < (size_t)B * S * G * D; i++) kf[i] = (float)k[i], vf[i] = (float)v[i];
    if (m.rotary_table) {
      hl_rotary(qf, qf, table, query_positions, B, H, T, D, 2 * half, count, m.rotary_neighbours, 0, T * H * D, D,
                H * D);
      hl_rotary(kf, kf, table, key_positions, B, G, S, D, 2 * half, count, m.rotary_neighbours, 0, S * G * D, D, G * D);
    }
    a.query = qf, a.key = kf, a.value = vf, a.value_width = D;
    a.query_stride = a.output_stride = (hl_stride){T * H * D, D, H * D};
    a.key_stride = a.value_stride = (hl_stride){S * G * D, D, G * D};
    if (a.scale < 1) check_attention(&a, near);
    free(q), free(k), free(v), free(qf), free(kf), free(vf);
  }
  void *blocks[] = {query,
                    self ? NULL : (void *)m.key,
                    self ? NULL : (void *)m.value,
                    (void *)m.past_key,
                    (void *)m.past_value,
                    m.present_key,
                    m.present_value,
                    wq,
                    wk,
                    wv,
                    wo,
                    (void *)m.packed_wq,
                    (void *)m.packed_wk,
                    (void *)m.packed_wv,
                    (void *)m.packed_wo,
                    (void *)m.bq,
                    (void *)m.bk,
                    (void *)m.bv,
                    (void *)m.bo,
                    (void *)m.bias_key,
                    (void *)m.bias_value,
                    m.attention.output,
                    table,
                    sinks,
                    query_positions,
                    key_positions,
                    m.attention.weights};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static void random_allocations(void) {
  float *live[100] = {0};
  for (int i = 0; i < 5000; i++) {
    uint32_t slot = random_below(100), count = random_below(coin() ? 40 : 4000);
    if (hl_tensor_free(live[slot]) != HL_OK) fail("free", 1, 0);
    live[slot] = hl_tensor_alloc(count);
    if (!live[slot]) fail("alloc", 0, count);
    memset(live[slot], 1, count * sizeof(float));
  }
  for (int i = 0; i < 100; i++) hl_tensor_free(live[i]);
}

/* ---- other layers and the optimisers */

/* Runs embedding, norm, activation and loss in sequence, then their backward passes. */
static void random_layers(void) {
  uint32_t B = 1 + random_below(3), T = some_size(), C = 1 + random_below(90), count = 1 + random_below(9),
           first = random_below(3), N = B * T;
  int biased = coin(), centred = coin(), with_position = coin();
  uint32_t kind = random_below(HL_ACTIVATION_TANH + 1);
  float *table = floats((size_t)count * C), *position = floats((size_t)(first + T) * C), *weight = floats(C),
        *bias = floats(C);
  float *d_table = floats((size_t)count * C), *d_position = floats((size_t)(first + T) * C), *d_weight = floats(C),
        *d_bias = floats(C);
  float *x = floats((size_t)N * C), *normal = floats((size_t)N * C), *y = floats((size_t)N * C), *mean = floats(N),
        *rstd = floats(N), *losses = floats(N);
  int32_t *labels = labels_below(N, count), *target = labels_below(N, C), *best = labels_below(N, 1);
  hl_loss loss;
  hl_status status = hl_embedding_forward(x, table, with_position ? position : NULL, labels, B, T, C, count, first);
  status |= hl_norm_forward(normal, centred ? mean : NULL, rstd, x, weight, biased ? bias : NULL, N, C, 1e-5f);
  status |= hl_activation_forward(y, normal, N * C, kind);
  if (coin()) target[0] = -100;
  status |= hl_cross_entropy(&loss, coin() ? y : NULL, losses, best, y, target, N, C, coin() ? 0.1f : 0, -100);
  double sum = 0, squares = 0;
  for (uint32_t c = 0; c < C; c++) sum += x[c];
  for (uint32_t c = 0; c < C; c++) squares += pow(x[c] - (centred ? sum / C : 0), 2);
  if (C > 1) near("rstd", rstd[0] * sqrt(squares / C + 1e-5), 1);
  if (!(loss.loss >= 0) || loss.correct > loss.counted) fail("loss", loss.loss, 0);
  status |= hl_activation_backward(y, y, normal, N * C, kind);
  status |= hl_norm_backward(normal, d_weight, biased ? d_bias : NULL, y, x, centred ? mean : NULL, rstd, weight, N, C);
  status |= hl_embedding_backward(d_table, with_position ? d_position : NULL, normal, labels, B, T, C, count, first);
  status |= hl_add(x, x, normal, N * C);
  labels[N - 1] = (int32_t)count;
  if (status != HL_OK || hl_embedding_forward(x, table, NULL, labels, B, T, C, count, 0) != HL_BAD_ARGUMENT)
    fail("status of the layers", status, 0);
  void *blocks[] = {table,  position, weight, bias, d_table, d_position, d_weight, d_bias, x,
                    normal, y,        mean,   rstd, losses,  labels,     target,   best};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static void random_step(void) {
  uint32_t n = random_below(coin() ? 20 : 20000);
  float *p = floats(n), *m = floats(n), *v = floats(n), *g = floats(n), before = n ? p[n - 1] : 0,
        velocity = n ? m[n - 1] : 0;
  double squares = 0;
  for (uint32_t i = 0; i < n; i++) {
    v[i] *= v[i];
    squares += (double)g[i] * g[i];
  }
  near("square sum", hl_square_sum(g, n), squares);
  if (hl_sgd_step(p, m, g, n, 0.1, 0.9, 0.01, 0) != HL_OK) fail("status of SGD", 1, 0);
  if (n) near("SGD", p[n - 1], before - 0.1 * (0.9 * velocity + g[n - 1] + 0.01 * before));
  if (hl_adam_step(p, m, v, g, n, 1 + random_below(50), 0.1, 0.9, 0.99, 1e-8, 0.1, (uint32_t)coin()) != HL_OK)
    fail("status of Adam", 1, 0);
  if (hl_scale(g, n, 0.5f) != HL_OK) fail("status of scaling", 1, 0);
  near("scaled", hl_square_sum(g, n), squares / 4);
  free(p), free(m), free(v), free(g);
}

/* ---- rotary and relative positions, the cache, weights that are not packed and int8 weights */

static void random_rotary(void) {
  uint32_t B = 1 + random_below(3), H = 1 + random_below(3), T = some_size(), D = 1 + random_below(40),
           half = random_below(D / 2 + 1), count = 1 + random_below(9), neighbours = (uint32_t)coin(),
           reverse = (uint32_t)coin();
  float *x = floats((size_t)B * H * T * D), *y = floats((size_t)B * H * T * D),
        *table = floats((size_t)count * 2 * half), *to = coin() ? x : y;
  float *before = exactly((size_t)B * H * T * D * sizeof *before);
  memcpy(before, x, (size_t)B * H * T * D * sizeof *before);
  int32_t *positions = labels_below((size_t)B * T, count);
  const hl_stride s = coin() ? (hl_stride){H * T * D, T * D, D} : (hl_stride){T * H * D, D, H * D};
  hl_status status =
      hl_rotary(to, x, table, positions, B, H, T, D, 2 * half, count, neighbours, reverse, s.batch, s.head, s.row);
  if (status != HL_OK) fail("status of rotary", status, 0);
  for (uint32_t i = 0; i < B * H * T; i++) {
    const uint32_t b = i / T / H, h = i / T % H, t = i % T;
    const size_t at = b * s.batch + h * s.head + t * s.row;
    const float *angles = table + (size_t)positions[b * T + t] * 2 * half;
    for (uint32_t n = 0; n < half; n++) {
      const uint32_t first = neighbours ? 2 * n : n, second = neighbours ? first + 1 : n + half;
      const double a = before[at + first], c = before[at + second],
                   sine = reverse ? -angles[half + n] : angles[half + n];
      near("rotated", to[at + first], a * angles[n] - c * sine);
      near("rotated", to[at + second], c * angles[n] + a * sine);
    }
    for (uint32_t n = 2 * half; n < D; n++) near("copied", to[at + n], before[at + n]);
  }
  free(x), free(y), free(table), free(before), free(positions);
}

static void random_relative(void) {
  uint32_t buckets = 1 + random_below(9), H = 1 + random_below(4), T = some_size(), S = some_size();
  float *table = floats(buckets * H), *bias = floats((size_t)H * T * S), *d_table = floats(buckets * H);
  double *sums = zeros(buckets * H);
  int32_t *bucket = labels_below(T + S - 1, buckets);
  for (uint32_t i = 0; i < buckets * H; i++) sums[i] = d_table[i];
  if (hl_relative_forward(bias, table, bucket, buckets, H, T, S) != HL_OK) fail("status of relative", 1, 0);
  for (uint32_t i = 0; i < H * T * S; i++) {
    const uint32_t at = (uint32_t)bucket[i % S + T - 1 - i / S % T] * H + i / S / T;
    if (bias[i] != table[at]) fail("relative bias", bias[i], table[at]);
    sums[at] += bias[i];
  }
  if (hl_relative_backward(d_table, bias, bucket, buckets, H, T, S) != HL_OK)
    fail("status of the relative gradient", 1, 0);
  for (uint32_t i = 0; i < buckets * H; i++) near("d_table", d_table[i], sums[i]);
  free(table), free(bias), free(d_table), free(sums), free(bucket);
}

static void random_cache(void) {
  uint32_t B = 1 + random_below(3), G = 1 + random_below(3), first = random_below(5), rows = random_below(9),
           capacity = first + rows + random_below(3), D = 1 + random_below(20), type = random_below(3);
  const size_t row_floats = hl_cache_row_size(D, type), cells = (size_t)B * G * capacity * row_floats;
  float *fresh = floats((size_t)B * G * rows * D), *wide = floats((size_t)B * G * (first + rows) * D);
  float *cache = exactly(cells * sizeof *cache);
  memset(cache, 0, cells * sizeof *cache);
  hl_status status = hl_cache_store(cache, fresh, B, G, first, rows, capacity, D, G * rows * D, rows * D, D, type);
  if (type != HL_KEYS_FLOAT32) status |= hl_cache_load(wide, cache, B, G, first + rows, capacity, D, type);
  if (status != HL_OK) fail("status of the cache", status, 0);
  for (size_t i = 0; i < (size_t)B * G * rows * D; i++) {
    const size_t head = i / D / rows, row = first + i / D % rows;
    const float *stored = cache + (head * capacity + row) * row_floats;
    const double got = type ? wide[(head * (first + rows) + row) * D + i % D] : stored[i % D],
                 limits[] = {0, fabs(fresh[i]) / 2048, 0.5001 * *stored};
    if (fabs(got - fresh[i]) > limits[type]) fail("cached", got, fresh[i]);
  }
  free(fresh), free(wide), free(cache);
}

static void random_product(void) {
  uint32_t rows = coin() ? 1 + random_below(5) : some_size(), out = some_size(), in = some_size();
  float *x = floats((size_t)rows * in), *w = floats((size_t)out * in), *bias = floats(out),
        *y = floats((size_t)rows * out), *one = floats(in);
  double *expected = linear_reference(x, w, bias, rows, out, in);
  if (hl_linear_forward(y, x, w, bias, rows, out, in) != HL_OK) fail("status of linear", 1, 0);
  for (size_t i = 0; i < (size_t)rows * out; i++) near("y", y[i], expected[i]);
  uint16_t *upper = (uint16_t *)(void *)floats((size_t)out * in);
  for (size_t i = 0; i < (size_t)out * in; i++) upper[i] = ((const uint16_t *)(const void *)w)[2 * i + 1];
  if (hl_linear_stored(y, x, upper, bias, HL_STORED_BF16, rows, out, in) != HL_OK) fail("status of bfloat16", 1, 0);
  for (size_t i = 0; i < (size_t)rows * out; i++) {
    if (fabs(y[i] - expected[i]) > in / 64.0) fail("bfloat16 product", y[i], expected[i]);
  }
  free(upper);
  float *rounded = packed(w, out, in, 1);
  int32_t label = (int32_t)random_below(out);
  if (hl_weight_rows(one, rounded, &label, 1, out, in) != HL_OK ||
      hl_linear_quantized(y, x, rounded, bias, rows, out, in) != HL_OK)
    fail("status of int8", 1, 0);
  for (uint32_t k = 0; k < in; k++) {
    if (fabs(one[k] - w[(size_t)label * in + k]) > 2.0 / 500) fail("a row of int8", one[k], w[label * in + k]);
  }
  for (size_t i = 0; i < (size_t)rows * out; i++) {
    if (fabs(y[i] - expected[i]) > 2 * 2 * in / 127.0) fail("int8 product", y[i], expected[i]);
  }
  free(x), free(w), free(bias), free(y), free(one), free(expected), free(rounded);
}

static void random_gate(void) {
  uint32_t n = random_below(coin() ? 20 : 9000), kind = random_below(HL_ACTIVATION_TANH + 1);
  float *gate = floats(n), *up = floats(n), *value = floats(n), *y = floats(n), *d = floats(n), *capped = floats(n);
  hl_status status = hl_activation_forward(value, gate, n, kind);
  status |= hl_gated_forward(y, gate, up, n, kind);
  for (uint32_t i = 0; i < n; i++) near("gated", y[i], (double)value[i] * up[i]);
  double squares = 0;
  float error;
  for (uint32_t i = 0; i < n; i++) squares += pow((double)y[i] - up[i], 2);
  status |= hl_mean_squared_error(&error, d, y, up, n);
  if (n) near("mean squared error", error, squares / n);
  for (uint32_t i = 0; i < n; i++) near("gradient of the mean squared error", d[i], 2 * ((double)y[i] - up[i]) / n);
  memcpy(y, up, n * sizeof *y);
  status |= hl_gated_backward(gate, up, d, gate, up, n, kind);
  for (uint32_t i = 0; i < n; i++) near("d_up", up[i], (double)value[i] * d[i]);
  status |= hl_softcap_forward(capped, y, n, 1.5f);
  for (uint32_t i = 0; i < n; i++) near("capped", capped[i], 1.5 * tanh(y[i] / 1.5));
  status |= hl_softcap_backward(d, d, capped, n, 1.5f);
  if (status != HL_OK) fail("status of gates", status, 0);
  free(gate), free(up), free(value), free(y), free(d), free(capped);
}

/* ---- empty tensors: sizes of 0, and NULL for empty tensors */

static void expect(const char *what, hl_status got, hl_status expected) {
  if (got != expected) fail(what, got, expected);
}

static void empty_plain_calls(void) {
  float y[6] = {9, 9, 9, 9, 9, 9}, zeros[6] = {0}, bias[3] = {1, 2, 3}, losses[2] = {9, 9};
  int32_t labels[2] = {-1, -1}, best[2] = {0, 0};
  hl_loss loss;
  expect("no rows", hl_linear_forward(NULL, NULL, bias, NULL, 0, 3, 1), HL_OK);
  expect("a product of no columns", hl_linear_forward(NULL, bias, NULL, NULL, 3, 0, 1), HL_OK);
  expect("a product of no depth", hl_linear_forward(y, NULL, NULL, bias, 2, 3, 0), HL_OK);
  for (int i = 0; i < 6; i++) near("product with no inputs", y[i], bias[i % 3]);
  expect("rows with no depth", hl_linear_backward(NULL, NULL, bias, y, NULL, NULL, 2, 3, 0), HL_OK);
  near("bias gradient", bias[0], 3);
  expect("rows with no outputs", hl_linear_backward(y, NULL, NULL, NULL, NULL, NULL, 2, 0, 3), HL_OK);
  for (int i = 0; i < 6; i++) near("gradient with no outputs", y[i], 0);
  expect("a product of no rows", hl_linear_backward(NULL, y, NULL, NULL, NULL, bias, 0, 2, 3), HL_OK);
  expect("a weight that is NULL", hl_linear_backward(y, NULL, NULL, zeros, NULL, NULL, 2, 3, 3), HL_BAD_SHAPE);
  expect("a weight that is NULL", hl_linear_forward(NULL, zeros, NULL, NULL, 0, 3, 1), HL_BAD_SHAPE);
  expect("packing nothing", hl_weight_pack(NULL, NULL, 0, 3), HL_OK);
  expect("packing no depth", hl_weight_pack(NULL, NULL, 3, 0), HL_OK);
  expect("an embedding of width 0", hl_embedding_forward(NULL, NULL, NULL, best, 1, 2, 0, 3, 1), HL_OK);
  expect("gradient of an embedding of width 0", hl_embedding_backward(NULL, NULL, NULL, best, 1, 2, 0, 3, 1), HL_OK);
  expect("no labels", hl_embedding_forward(NULL, NULL, NULL, NULL, 0, 2, 3, 0, 0), HL_OK);
  expect("a norm of no rows", hl_norm_forward(NULL, NULL, NULL, NULL, bias, NULL, 0, 3, 0), HL_OK);
  expect("gradient of a norm of no rows", hl_norm_backward(NULL, bias, NULL, NULL, NULL, NULL, NULL, bias, 0, 3),
         HL_OK);
  expect("a norm of width 0", hl_norm_forward(NULL, NULL, losses, NULL, NULL, NULL, 2, 0, 0), HL_OK);
  expect("gradient of a norm of width 0", hl_norm_backward(NULL, NULL, NULL, NULL, NULL, NULL, losses, NULL, 2, 0),
         HL_OK);
  expect("gelu of no numbers", hl_activation_forward(NULL, NULL, 0, 1), HL_OK);
  expect("gradient of gelu of no numbers", hl_activation_backward(NULL, NULL, NULL, 0, 1), HL_OK);
  expect("a gradient that is NULL", hl_activation_backward(y, NULL, y, 6, 1), HL_BAD_SHAPE);
  expect("a gate of no numbers", hl_gated_forward(NULL, NULL, NULL, 0, 1), HL_OK);
  expect("gradients of a gate of no numbers", hl_gated_backward(NULL, NULL, NULL, NULL, NULL, 0, 1), HL_OK);
  expect("a gate that is NULL", hl_gated_forward(y, NULL, y, 6, 1), HL_BAD_SHAPE);
  expect("a softcap of no numbers", hl_softcap_forward(NULL, NULL, 0, 1), HL_OK);
  expect("gradient of a softcap of no numbers", hl_softcap_backward(NULL, NULL, NULL, 0, 1), HL_OK);
  expect("rotating no rows", hl_rotary(NULL, NULL, NULL, NULL, 2, 2, 0, 4, 4, 0, 0, 0, 7, 7, 7), HL_OK);
  expect("rotating width 0", hl_rotary(NULL, NULL, NULL, best, 1, 2, 2, 0, 0, 1, 1, 1, 7, 7, 7), HL_OK);
  expect("rotating no heads", hl_rotary(NULL, NULL, zeros, best, 1, 0, 2, 2, 2, 1, 1, 1, 7, 7, 7), HL_OK);
  expect("relative positions of no queries", hl_relative_forward(NULL, NULL, NULL, 0, 2, 0, 3), HL_OK);
  expect("relative positions of no keys", hl_relative_backward(NULL, NULL, NULL, 0, 2, 3, 0), HL_OK);
  expect("relative positions of no queries and keys", hl_relative_backward(NULL, NULL, NULL, 0, 0, 0, 0), HL_OK);
  expect("relative positions of no heads", hl_relative_forward(NULL, NULL, NULL, 3, 0, 2, 2), HL_OK);
  expect("an int8 product of no rows", hl_linear_quantized(NULL, NULL, y, NULL, 0, 1, 1), HL_OK);
  expect("an int8 product of no columns", hl_linear_quantized(NULL, bias, NULL, NULL, 1, 0, 3), HL_OK);
  expect("reading no rows of a weight", hl_weight_rows(NULL, NULL, NULL, 0, 0, 3), HL_OK);
  expect("a sum of no numbers", hl_add(NULL, NULL, NULL, 0), HL_OK);
  expect("no classes", hl_cross_entropy(&loss, NULL, losses, best, NULL, labels, 2, 0, 0, -1), HL_OK);
  if (best[0] != -1 || losses[0] != 0) fail("the largest logit of no classes", best[0], -1);
  expect("squared error of no numbers", hl_mean_squared_error(losses, NULL, NULL, NULL, 0), HL_OK);
  if (losses[0] != 0) fail("squared error of no numbers", losses[0], 0);
  expect("squared error of missing numbers", hl_mean_squared_error(losses, NULL, y, NULL, 6), HL_BAD_SHAPE);
  expect("no rows", hl_cross_entropy(&loss, NULL, NULL, NULL, NULL, NULL, 0, 3, 0, -1), HL_OK);
  expect("a step of SGD for no numbers", hl_sgd_step(NULL, NULL, NULL, 0, 0.1, 0, 0, 0), HL_OK);
  expect("a step of Adam for no numbers", hl_adam_step(NULL, NULL, NULL, NULL, 0, 1, 0.1, 0.9, 0.9, 0, 0, 0), HL_OK);
  expect("scaling of no numbers", hl_scale(NULL, 0, 2), HL_OK);
  near("square sum", hl_square_sum(NULL, 0), 0);
  expect("a cache", hl_cache_append(NULL, NULL, NULL, 2, 2, 0, 0, 3, 7, 7, 7), HL_OK);
  expect("a cache of width 0", hl_cache_append(NULL, NULL, NULL, 2, 2, 3, 4, 0, 7, 7, 7), HL_OK);
  expect("no past", hl_cache_append(y, NULL, zeros, 1, 1, 0, 2, 3, 6, 6, 3), HL_OK);
  expect("storing nothing", hl_cache_store(NULL, NULL, 2, 2, 0, 0, 0, 3, 7, 7, 7, 1), HL_OK);
  expect("storing no rows", hl_cache_store(y, NULL, 1, 1, 2, 0, 2, 3, 7, 7, 7, 0), HL_OK);
  expect("storing width 0", hl_cache_store(NULL, NULL, 1, 1, 1, 1, 2, 0, 7, 7, 7, 1), HL_OK);
  expect("loading nothing", hl_cache_load(NULL, NULL, 2, 2, 0, 0, 3, 1), HL_OK);
  expect("loading no rows", hl_cache_load(NULL, y, 1, 1, 0, 2, 3, 1), HL_OK);
  expect("nothing fresh", hl_cache_append(y, zeros, NULL, 1, 1, 2, 0, 3, 6, 6, 3), HL_OK);
}

/* Tests every combination of the sizes 0 and 2 on every path, with NULL for empty tensors and arbitrary strides. */
static void empty_attention(void) {
  float blocks[16][64], statistics[64];
  for (int sizes = 0; sizes < 1 << 8; sizes++) {
    uint32_t B = sizes & 1 ? 2 : 0, T = sizes & 2 ? sizes & 128 ? 1 : 2 : 0, S = sizes & 4 ? 2 : 0,
             D = sizes & 8 ? 2 : 0, Dv = sizes & 16 ? 2 : 0, E = sizes & 32 ? 1 : 0, mode = sizes & 64 ? 1 : 0;
    const hl_stride loose = {0xFFFFFFF0, 0xFFFFFFF4, 0xFFFFFFF8};
    memset(blocks, 0, sizeof blocks);
    hl_attention_args a = {.output = B * T * Dv ? blocks[0] : NULL,
                           .query = B * T * D ? blocks[1] : NULL,
                           .key = B * S * D ? blocks[2] : NULL,
                           .value = B * S * Dv ? blocks[3] : NULL,
                           .appended_key = E * D ? blocks[4] : NULL,
                           .appended_value = E * Dv ? blocks[5] : NULL,
                           .weights = mode && B * T * (S + E) ? blocks[6] : NULL,
                           .statistics = B * T ? statistics : NULL,
                           .output_stride = B * T * Dv ? (hl_stride){2 * T * Dv, T * Dv, Dv} : loose,
                           .query_stride = B * T * D ? (hl_stride){2 * T * D, T * D, D} : loose,
                           .key_stride = B * S * D ? (hl_stride){2 * S * D, S * D, D} : loose,
                           .value_stride = B * S * Dv ? (hl_stride){2 * S * Dv, S * Dv, Dv} : loose,
                           .batch = B,
                           .heads = 2,
                           .kv_heads = 2,
                           .queries = T,
                           .keys = S,
                           .width = D,
                           .value_width = Dv,
                           .appended = E,
                           .weights_mode = mode,
                           .window_left = -1,
                           .window_right = -1,
                           .scale = 1,
                           .fill = -INFINITY};
    expect("attention of empty tensors", hl_attention(&a), HL_OK);
    hl_attention_backward_args g = {.attention = a,
                                    .d_query = B * T * D ? blocks[7] : NULL,
                                    .d_key = B * S * D ? blocks[8] : NULL,
                                    .d_value = B * S * Dv ? blocks[9] : NULL,
                                    .d_appended_key = E * D ? blocks[10] : NULL,
                                    .d_output = B * T * Dv ? blocks[11] : NULL};
    expect("its gradients", hl_attention_backward(&g), HL_OK);
  }
}

/* Calls the layer with every combination of the sizes 0 and 2, with NULL for tensors without elements. */
static void empty_layer(void) {
  float blocks[20][64];
  for (int sizes = 0; sizes < 1 << 7; sizes++) {
    uint32_t B = sizes & 1 ? 2 : 0, T = sizes & 2 ? 2 : 0, S = sizes & 4 ? 2 : 0, D = sizes & 8 ? 2 : 0,
             in = sizes & 16 ? 2 : 0, out = sizes & 32 ? 2 : 0;
    memset(blocks, 0, sizeof blocks);
    hl_multihead_args m = {.query = B * T * in ? blocks[0] : NULL,
                           .key = B * S * in ? blocks[1] : NULL,
                           .value = B * S * in ? blocks[2] : NULL,
                           .packed_wq = blocks[3],
                           .packed_wk = blocks[4],
                           .packed_wv = blocks[5],
                           .packed_wo = sizes & 64 ? blocks[6] : NULL,
                           .query_dim = in,
                           .key_dim = in,
                           .value_dim = in,
                           .output_dim = out,
                           .saved = blocks[7],
                           .attention = {.output = B * T * (sizes & 64 ? out : 2 * D) ? blocks[16] : NULL,
                                         .batch = B,
                                         .heads = 2,
                                         .kv_heads = 2,
                                         .queries = T,
                                         .keys = S,
                                         .width = D,
                                         .scale = 1,
                                         .fill = -INFINITY,
                                         .window_left = -1,
                                         .window_right = -1}};
    if (hl_multihead_saved_size(&m) > 9 * 64) fail("saved size", hl_multihead_saved_size(&m), 9 * 64);
    expect("a layer of empty tensors", hl_multihead_forward(&m), HL_OK);
    hl_multihead_backward_args g = {.forward = m,
                                    .d_query = B * T * in ? blocks[17] : NULL,
                                    .d_key = B * S * in ? blocks[18] : NULL,
                                    .d_value = B * S * in ? blocks[19] : NULL,
                                    .d_output = m.attention.output,
                                    .wq = blocks[3],
                                    .wk = blocks[4],
                                    .wv = blocks[5],
                                    .wo = m.packed_wo ? blocks[6] : NULL,
                                    .d_bo = blocks[8]};
    expect("its gradients", hl_multihead_backward(&g), HL_OK);
  }
}

/* Tests rows so long that their sums are computed in parts. */
static void long_rows(void) {
  enum { T = 2, S = 9001, D = 3 };
  const hl_stride rows = {0, 0, D};
  hl_attention_args a = {.output = floats(T * D),
                         .weights = floats(T * S),
                         .query = floats(T * D),
                         .key = floats(S * D),
                         .value = floats(S * D),
                         .output_stride = rows,
                         .query_stride = rows,
                         .key_stride = rows,
                         .value_stride = rows,
                         .batch = 1,
                         .heads = 1,
                         .kv_heads = 1,
                         .queries = T,
                         .keys = S,
                         .width = D,
                         .value_width = D,
                         .weights_mode = HL_WEIGHTS_HEADS,
                         .window_left = -1,
                         .window_right = -1,
                         .scale = 1,
                         .fill = -INFINITY};
  expect("long rows", hl_attention(&a), HL_OK);
  check_attention(&a, near);
  float *blocks[] = {a.output, a.weights, (float *)a.query, (float *)a.key, (float *)a.value};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* Fills free memory with NaN, so that a read of memory that was never written makes a result NaN. */
static void litter(void) {
  enum { LITTER = 1 << 12 };
  float *block = hl_tensor_alloc(LITTER);
  for (int i = 0; i < LITTER; i++) block[i] = NAN;
  hl_tensor_free(block);
}

static void int8_over_nothing(void) {
  float weight[4], output[6] = {0}, bias[3] = {1, 2, 3};
  expect("rounding nothing", hl_weight_quantize(weight, NULL, 3, 0), HL_OK);
  hl_multihead_args m = {.packed_wq = weight,
                         .packed_wk = weight,
                         .packed_wv = weight,
                         .bq = bias,
                         .bk = bias,
                         .bv = bias,
                         .int8 = 1,
                         .attention = {.output = output,
                                       .batch = 1,
                                       .heads = 1,
                                       .kv_heads = 1,
                                       .queries = 2,
                                       .keys = 2,
                                       .width = 3,
                                       .scale = 1,
                                       .fill = -INFINITY,
                                       .window_left = -1,
                                       .window_right = -1}};
  expect("rounding any number of empty rows", hl_weight_quantize(output, NULL, UINT32_MAX, 0), HL_OK);
  litter();
  expect("int8 with no inputs", hl_multihead_forward(&m), HL_OK);
  for (int i = 0; i < 6; i++) near("bias", output[i], bias[i % 3]);
  m.packed_wq = m.packed_wk = m.packed_wv = NULL;
  m.query = m.key = m.value = output;
  m.query_dim = m.key_dim = m.value_dim = 3;
  m.attention.width = 0;
  expect("int8 of heads of width 0", hl_multihead_forward(&m), HL_OK);
}

int main(void) {
  random_allocations();
  empty_plain_calls();
  empty_attention();
  empty_layer();
  int8_over_nothing();
  long_rows();
  for (int i = 0; i < 400; i++) random_attention();
  for (int i = 0; i < 200; i++) random_layer();
  for (int i = 0; i < 400; i++) random_int8();
  for (int i = 0; i < 300; i++) random_layers();
  for (int i = 0; i < 200; i++) random_step();
  for (int i = 0; i < 200; i++) random_rotary();
  for (int i = 0; i < 100; i++) random_relative();
  for (int i = 0; i < 200; i++) random_cache();
  for (int i = 0; i < 100; i++) random_product();
  for (int i = 0; i < 100; i++) random_gate();
  if (hl_memory_used() != 0) fail("memory in use at the end", hl_memory_used(), 0);
  puts("ok");
  return 0;
}
