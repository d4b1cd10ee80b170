/* Weights in blocks: packing, reading rows and the linear layer. */
#include "base/check.h"
#include "base/elements.h"
#include "base/pool.h"
#include "base/stored_type.h"
#include "base/tensor.h"
#include "kernels/gemm_blocks.h"
#include "layers/linear.h"

static bool is_form(block_form form) {
  const bool is_whole = block_length(form) == BLOCK_INPUTS;
  if (code_bits(form) == 4) return is_whole;
  return code_bits(form) == 8 && !has_byte_inputs(form) && (is_whole || block_length(form) == BLOCK_INPUTS / 2);
}

static block_form form_of(const hl_block_form *form) {
  const bool is_small = form->bits <= 8 && form->length <= BLOCK_INPUTS;
  return is_small ? block_form_of(form->bits, form->length, form->has_minimums != 0, form->has_byte_inputs != 0) : 0;
}

double hl_blocks_size(const hl_block_form *form, uint32_t out, uint32_t in) {
  if (!form || !is_form(form_of(form)) || in % BLOCK_INPUTS != 0) return __builtin_nan("");
  return (double)gemm_blocks_packed_floats(form_of(form), out, in);
}

typedef struct {
  float *packed; /* the whole weight (out,in) */
  block_form form;
  const uint8_t *rows; /* (count) rows of row_bytes */
  size_t row_bytes;
  uint32_t first, count, in;
} pack_job;

static void pack_panel(const void *arg, size_t panel) {
  const pack_job *r = arg;
  const size_t row = panel * TILE_COLS, remaining = r->count - row;
  gemm_blocks_pack_panel(r->packed, r->first + row, r->rows + row * r->row_bytes,
                         remaining < TILE_COLS ? remaining : TILE_COLS, r->in);
}

hl_status hl_blocks_pack(float *packed, const hl_block_form *form, const void *rows, uint32_t first, uint32_t count,
                         uint32_t out, uint32_t in) {
  if (!form || !is_form(form_of(form)) || in % BLOCK_INPUTS != 0) return HL_BAD_ARGUMENT;
  if (first % TILE_COLS != 0 || first > out || count > out - first || (count % TILE_COLS != 0 && count != out - first))
    return HL_BAD_SHAPE;
  const block_form packed_form = form_of(form);
  const size_t row_bytes = gemm_blocks_row_bytes(packed_form, in);
  if (!has_floats(packed, (double)gemm_blocks_packed_floats(packed_form, out, in)) ||
      !has_floats(rows, (double)count * (double)row_bytes / sizeof(float)))
    return HL_BAD_SHAPE;
  const pack_job r = {packed, packed_form, rows, row_bytes, first, count, in};
  if (first == 0) gemm_blocks_pack_start(packed, packed_form);
  if (in > 0)
    elements_for_each_row(pack_panel, &r, ((size_t)count + TILE_COLS - 1) / TILE_COLS, (size_t)TILE_COLS * in, 1);
  return HL_OK;
}

typedef struct {
  float *packed;
  const uint8_t *rows; /* (count,in) of a stored type */
  float *scratch;      /* (8,in) for each worker, if the type is not float32 */
  hl_stored stored;
  uint32_t first, count, in;
} quantize_job;

static void quantize_panel(void *arg, uint32_t panel, uint32_t worker) {
  const quantize_job *r = arg;
  const size_t row = (size_t)panel * TILE_COLS, remaining = r->count - row;
  const size_t count = remaining < TILE_COLS ? remaining : TILE_COLS;
  const uint8_t *from = r->rows + row * r->in * stored_bytes(r->stored);
  float *rows = r->scratch + (size_t)worker * TILE_COLS * r->in;
  stored_load(rows, from, r->stored, count * r->in);
  gemm_blocks_quantize_panel(r->packed, r->first + row, rows, count, r->in);
}

hl_status hl_blocks_quantize_rows(float *packed, const void *rows, uint32_t stored, uint32_t first, uint32_t count,
                                  uint32_t out, uint32_t in) {
  const block_form form = block_form_of(4, BLOCK_INPUTS, false, true);
  if (stored > HL_STORED_BF16 || in % BLOCK_INPUTS != 0) return HL_BAD_ARGUMENT;
  if (first % TILE_COLS != 0 || first > out || count > out - first || (count % TILE_COLS != 0 && count != out - first))
    return HL_BAD_SHAPE;
  if (!has_floats(packed, (double)gemm_blocks_packed_floats(form, out, in)) ||
      !has_stored(rows, stored, (double)count * in))
    return HL_BAD_SHAPE;
  if (first == 0) gemm_blocks_pack_start(packed, form);
  if (in == 0 || count == 0) return HL_OK;
  float *scratch = workspace_alloc((double)TILE_COLS * in * pool_size());
  if (!scratch) return HL_OUT_OF_MEMORY;
  quantize_job r = {packed, rows, scratch, stored, first, count, in};
  parallel_for(quantize_panel, &r, (count + TILE_COLS - 1) / TILE_COLS, 64.0 * count * in);
  workspace_free();
  return HL_OK;
}

static bool has_blocks(const float *packed, uint32_t out, uint32_t in) {
  if (out == 0) return true;
  if (!has_floats(packed, 4)) return false;
  const block_form form = gemm_blocks_packed_form(packed);
  return is_form(form) && in % BLOCK_INPUTS == 0 &&
         has_floats(packed, (double)gemm_blocks_packed_floats(form, out, in));
}

hl_status hl_blocks_use_byte_inputs(float *packed, uint32_t out, uint32_t in) {
  if (!has_blocks(packed, out, in)) return HL_BAD_SHAPE;
  if (out == 0) return HL_OK;
  const block_form form = gemm_blocks_packed_form(packed);
  if (code_bits(form) != 4) return HL_BAD_ARGUMENT;
  gemm_blocks_pack_start(packed, block_form_of(4, BLOCK_INPUTS, has_minimums(form), true));
  return HL_OK;
}

hl_status hl_blocks_linear(float *y, const float *x, const float *packed, const float *bias, uint32_t rows,
                           uint32_t out, uint32_t in) {
  if (!has_floats(y, (double)rows * out) || !has_floats(x, (double)rows * in) || !has_blocks(packed, out, in) ||
      !has_floats_or_null(bias, out))
    return HL_BAD_SHAPE;
  if (rows == 0 || out == 0) return HL_OK;
  float *workspace = workspace_alloc(linear_workspace(rows, in));
  if (!workspace) return HL_OUT_OF_MEMORY;
  const gemm_product product = {.y = y, .weight = packed, .bias = bias, .out = out};
  linear(&product, 1, PACKED_BLOCKS, x, rows, in, workspace);
  workspace_free();
  return HL_OK;
}

typedef struct {
  float *output;         /* (count,in) */
  const float *packed;   /* (out,in) */
  const int32_t *labels; /* (count) */
  size_t width;
} row_job;

static void unpack_row(const void *arg, size_t row) {
  const row_job *j = arg;
  gemm_blocks_unpack_row(j->output + row * j->width, j->packed, (size_t)j->labels[row], j->width);
}

hl_status hl_blocks_rows(float *output, const float *packed, const int32_t *labels, uint32_t count, uint32_t out,
                         uint32_t in) {
  if (!has_floats(output, (double)count * in) || !has_blocks(packed, out, in) || !has_floats(labels, count))
    return HL_BAD_SHAPE;
  if (!all_below(labels, count, out)) return HL_BAD_ARGUMENT;
  const row_job j = {output, packed, labels, in};
  if (in > 0) elements_for_each_row(unpack_row, &j, count, in, 4);
  return HL_OK;
}
