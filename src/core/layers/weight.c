/* Weights in the forms in which the kernels read them. */
#include "base/check.h"
#include "base/elements.h"
#include "base/tensor.h"
#include "kernels/gemm_int8.h"
#include "layers/linear.h"

double hl_weight_packed_size(uint32_t out, uint32_t in) { return gemm_packed_weight(out, in); }

hl_status hl_weight_pack(float *packed, const float *weight, uint32_t out, uint32_t in) {
  if (!has_floats(packed, gemm_packed_weight(out, in)) || !has_floats(weight, (double)out * in)) return HL_BAD_SHAPE;
  if (out > 0 && in > 0) gemm_pack_rows(packed, TILE_COLS, weight, in, out, in, 1);
  return HL_OK;
}

double hl_weight_quantized_size(uint32_t out, uint32_t in) { return (double)gemm_int8_packed_weight(out, in); }

hl_status hl_weight_quantize(float *packed, const float *weight, uint32_t out, uint32_t in) {
  if (!has_floats(packed, (double)gemm_int8_packed_weight(out, in)) || !has_floats(weight, (double)out * in))
    return HL_BAD_SHAPE;
  gemm_int8_pack_weight(packed, weight ? weight : gemm_zeros, out, in, gemm_int8_form());
  return HL_OK;
}

static bool has_quantized(const float *weight, uint32_t out, uint32_t in) {
  return has_floats(weight, out == 0 ? 0 : (double)gemm_int8_packed_weight(out, in));
}

hl_status hl_linear_quantized(float *y, const float *x, const float *quantized, const float *bias, uint32_t rows,
                              uint32_t out, uint32_t in) {
  if (!has_floats(y, (double)rows * out) || !has_floats(x, (double)rows * in) || !has_quantized(quantized, out, in) ||
      !may_have_floats(bias, out))
    return HL_BAD_SHAPE;
  if (rows == 0 || out == 0) return HL_OK;
  float *workspace = workspace_alloc(linear_workspace(rows, in));
  if (!workspace) return HL_OUT_OF_MEMORY;
  const gemm_product product = {.y = y, .weight = quantized, .bias = bias, .out = out};
  linear(&product, 1, true, x, rows, in, workspace);
  workspace_free();
  return HL_OK;
}

typedef struct {
  float *output;
  const float *weight;
  const int32_t *labels;
  size_t width;
} job;

static void give_row(const void *arg, size_t row) {
  const job *j = arg;
  gemm_int8_unpack_row(j->output + row * j->width, j->weight, (size_t)j->labels[row], j->width);
}

hl_status hl_weight_rows(float *output, const float *quantized, const int32_t *labels, uint32_t count, uint32_t out,
                         uint32_t in) {
  if (!has_floats(output, (double)count * in) || !has_quantized(quantized, out, in) || !has_floats(labels, count))
    return HL_BAD_SHAPE;
  if (!all_below(labels, count, out)) return HL_BAD_ARGUMENT;
  const job j = {output, quantized, labels, in};
  if (in > 0) elements_rows(give_row, &j, count, in, 4);
  return HL_OK;
}
