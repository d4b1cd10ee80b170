/* Weights in the packed forms that the kernels read. */
#include "base/check.h"
#include "base/elements.h"
#include "base/tensor.h"
#include "kernels/gemm_int8.h"
#include "layers/linear.h"

double hl_weight_packed_size(uint32_t out, uint32_t in) { return gemm_packed_floats(out, in); }

hl_status hl_weight_pack(float *packed, const float *weight, uint32_t out, uint32_t in) {
  if (!has_floats(packed, gemm_packed_floats(out, in)) || !has_floats(weight, (double)out * in)) return HL_BAD_SHAPE;
  if (out > 0 && in > 0) gemm_pack_rows(packed, TILE_COLS, weight, in, out, in, 1);
  return HL_OK;
}

double hl_weight_quantized_size(uint32_t out, uint32_t in) { return (double)gemm_int8_packed_floats(out, in); }

typedef struct {
  float *packed;       /* the whole weight (out,in) */
  const uint8_t *rows; /* (count,in) of a stored type */
  hl_stored stored;
  uint32_t first, count, in;
  int8_form form;
} pack_job;

static void pack_panel(const void *arg, size_t panel) {
  const pack_job *r = arg;
  const size_t row = panel * TILE_COLS, remaining = r->count - row;
  gemm_int8_pack_panel(r->packed, r->first + row, r->rows + row * r->in * stored_bytes(r->stored), r->stored,
                       remaining < TILE_COLS ? remaining : TILE_COLS, r->in, r->form);
}

hl_status hl_weight_quantize_rows(float *packed, const void *rows, uint32_t stored, uint32_t first, uint32_t count,
                                  uint32_t out, uint32_t in) {
  if (stored > HL_STORED_BF16) return HL_BAD_ARGUMENT;
  if (first % TILE_COLS != 0 || first > out || count > out - first || (count % TILE_COLS != 0 && count != out - first))
    return HL_BAD_SHAPE;
  if (!has_floats(packed, (double)gemm_int8_packed_floats(out, in)) || !has_stored(rows, stored, (double)count * in))
    return HL_BAD_SHAPE;
  const pack_job r = {packed, rows, stored, first, count, in, gemm_int8_form()};
  if (first == 0) gemm_int8_pack_start(packed, r.form);
  if (in > 0)
    elements_for_each_row(pack_panel, &r, ((size_t)count + TILE_COLS - 1) / TILE_COLS, (size_t)TILE_COLS * in, 1);
  return HL_OK;
}

hl_status hl_weight_quantize(float *packed, const float *weight, uint32_t out, uint32_t in) {
  return hl_weight_quantize_rows(packed, weight, HL_STORED_F32, 0, out, out, in);
}

static bool has_quantized(const float *weight, uint32_t out, uint32_t in) {
  return has_floats(weight, out == 0 ? 0 : (double)gemm_int8_packed_floats(out, in));
}

hl_status hl_linear_quantized(float *y, const float *x, const float *quantized, const float *bias, uint32_t rows,
                              uint32_t out, uint32_t in) {
  if (!has_floats(y, (double)rows * out) || !has_floats(x, (double)rows * in) || !has_quantized(quantized, out, in) ||
      !has_floats_or_null(bias, out))
    return HL_BAD_SHAPE;
  if (rows == 0 || out == 0) return HL_OK;
  float *workspace = workspace_alloc(linear_workspace(rows, in));
  if (!workspace) return HL_OUT_OF_MEMORY;
  const gemm_product product = {.y = y, .weight = quantized, .bias = bias, .out = out};
  linear(&product, 1, PACKED_INT8, x, rows, in, workspace);
  workspace_free();
  return HL_OK;
}

typedef struct {
  float *output;         /* (count,in) */
  const float *weight;   /* (out,in), quantized */
  const int32_t *labels; /* (count) */
  size_t width;
} job;

static void unpack_row(const void *arg, size_t row) {
  const job *j = arg;
  gemm_int8_unpack_row(j->output + row * j->width, j->weight, (size_t)j->labels[row], j->width);
}

hl_status hl_weight_rows(float *output, const float *quantized, const int32_t *labels, uint32_t count, uint32_t out,
                         uint32_t in) {
  if (!has_floats(output, (double)count * in) || !has_quantized(quantized, out, in) || !has_floats(labels, count))
    return HL_BAD_SHAPE;
  if (!all_below(labels, count, out)) return HL_BAD_ARGUMENT;
  const job j = {output, quantized, labels, in};
  if (in > 0) elements_for_each_row(unpack_row, &j, count, in, 4);
  return HL_OK;
}
