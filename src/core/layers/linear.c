#include "layers/linear.h"

#include "base/check.h"
#include "base/pool.h"
#include "base/stored_type.h"
#include "base/tensor.h"
#include "kernels/gemm_blocks.h"
#include "kernels/gemm_int8.h"
#include "kernels/gemv.h"

/* Size of a chunk of the result. The rows of x that it needs stay in the second-level cache while the right panels pass
 * through the first-level cache. A chunk takes a few hundred microseconds at most, so that threads are loaded evenly.
 * Chunks of int8 weights have more rows, because each chunk unpacks its weights again, which takes a tenth of the time
 * with 60 rows. */
enum { CHUNK_ROWS = 30, CHUNK_COLUMNS = 192, INT8_CHUNK_ROWS = 130, INT8_CHUNK_COLUMNS = 64 };

typedef struct {
  const gemm_product *products;
  gemm_left left;
  const float *x; /* (rows,in) */
  float *packed;  /* packed x */
  float *scratch; /* for each worker: packed columns of the weight, and the same columns as float32 if it is not */
  size_t rows, chunk_rows, row_chunks, chunk_columns, column_chunks[3];
  packed_form form;
  bool transposed;  /* x is (in, rows) */
  hl_stored stored; /* number type of the weight */
} job;

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the rows per tile for the smallest number of tiles. The tiles are as even as possible: ten rows are divided
 * into five and five, not six and four. */
static size_t tile_width(size_t rows, size_t max_width) {
  size_t tiles = (rows + max_width - 1) / max_width;
  return tiles ? (rows + tiles - 1) / tiles : 1;
}

double linear_workspace(double rows, uint32_t in) {
  if (rows == 0) return 0;
  size_t row = gemm_left_row_floats(in), int8 = gemm_int8_left_row_floats(in);
  return (rows + TILE_ROWS) * (double)(row > int8 ? row : int8);
}

static void pack_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t in = j->left.in, first = chunk * j->chunk_rows, rows = min_size(j->rows - first, j->chunk_rows);
  const float *x = j->x + first * in;
  (void)worker;
  if (j->transposed) gemm_pack_columns(j->packed + first * in, in, 0, j->x + first, j->rows, in, rows);
  else if (j->form == PACKED_INT8)
    gemm_int8_pack_left(j->packed + first * gemm_int8_left_row_floats(in), j->left.width, x, rows, in,
                        gemm_int8_packed_form(j->products->weight));
  else if (j->form == PACKED_BLOCKS)
    gemm_blocks_pack_left(j->packed + first * gemm_blocks_left_row_floats(in), j->left.width, x, rows, in,
                          gemm_blocks_packed_form(j->products->weight));
  else gemm_pack_rows(j->packed + first * gemm_left_row_floats(in), j->left.width, x, in, rows, in, 1);
}

typedef void range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to);
static range *const RANGES[] = {gemm_range, gemm_int8_range, gemm_blocks_range};

static void multiply_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t row = chunk % j->row_chunks, column = chunk / j->row_chunks, product = 0;
  (void)worker;
  for (; column >= j->column_chunks[product]; product++) column -= j->column_chunks[product];
  const gemm_product *p = &j->products[product];
  size_t first = row * j->chunk_rows, from = column * j->chunk_columns;
  RANGES[j->form](p, &j->left, first, min_size(first + j->chunk_rows, j->rows), from,
                  min_size(from + j->chunk_columns, p->out));
}

/* Divides the rows into chunks of whole tiles, as evenly as possible. */
static void split_rows(job *j, size_t max_rows) {
  const size_t chunks = (j->rows + max_rows - 1) / max_rows;
  j->chunk_rows = round_up((j->rows + chunks - 1) / chunks, j->left.width);
  j->row_chunks = (j->rows + j->chunk_rows - 1) / j->chunk_rows;
}

static void pack_rows(job *j, size_t max_rows) {
  const size_t in = j->left.in;
  j->left.panels = j->packed;
  split_rows(j, max_rows);
  if (in > 0) parallel_for(pack_chunk, j, (uint32_t)j->row_chunks, 8.0 * (double)j->rows * (double)in);
}

static void multiply(job *j, uint32_t count, size_t width, size_t in, float *workspace) {
  const gemm_product *products = j->products;
  size_t chunks = 0, columns = 0;
  if (j->rows == 0) return;
  j->left = (gemm_left){NULL, width, in};
  j->packed = workspace;
  const bool is_float = j->form == PACKED_FLOATS;
  j->chunk_columns = !is_float && j->rows > CHUNK_ROWS ? INT8_CHUNK_COLUMNS : CHUNK_COLUMNS;
  pack_rows(j, is_float ? CHUNK_ROWS : INT8_CHUNK_ROWS);
  for (uint32_t i = 0; i < count; i++) {
    j->column_chunks[i] = ((size_t)products[i].out + j->chunk_columns - 1) / j->chunk_columns;
    chunks += j->column_chunks[i] * j->row_chunks;
    columns += products[i].out;
  }
  parallel_for(multiply_chunk, j, (uint32_t)chunks, 2.0 * (double)j->rows * (double)in * (double)columns);
}

void linear(const gemm_product *products, uint32_t count, packed_form form, const float *x, size_t rows, size_t in,
            float *workspace) {
  if (in == 0 || products->out == 0) form = PACKED_FLOATS; /* because x has no scales, or the weight may be NULL */
  const size_t width = form == PACKED_BLOCKS ? gemm_blocks_tile_rows(rows, gemm_blocks_packed_form(products->weight))
                                             : tile_width(rows, form == PACKED_INT8 ? INT8_TILE_ROWS : TILE_ROWS);
  multiply(&(job){.products = products, .x = x, .rows = rows, .form = form}, count, width, in, workspace);
}

void linear_transposed(const gemm_product *product, const float *x, size_t rows, size_t in, float *workspace) {
  multiply(&(job){.products = product, .x = x, .rows = rows, .transposed = true}, 1, TILE_ROWS, in, workspace);
}

/* ---- a weight that is not packed, (out, in) ---- */

/* Up to GEMV_MAX_ROWS rows use gemv. Fewer than MIN_WORK_ROWS rows take as long as MIN_WORK_ROWS, because they wait for
 * memory. For more rows than gemv supports, STORED_COLUMNS columns of the weight are packed at a time and multiplied by
 * STORED_ROWS rows of x, which stay in the second-level cache. */
enum { GEMV_MAX_ROWS = 6, MIN_WORK_ROWS = 3, STORED_ROWS = 240, STORED_COLUMNS = 16 };

static double scratch_floats(const job *j) {
  return (j->stored == HL_STORED_F32 ? 1.0 : 2.0) * STORED_COLUMNS * (double)j->left.in;
}

/* Returns columns from..from+columns−1 of the weight as float32, in place or converted into the scratch buffer. */
static const float *columns_of(const job *j, size_t from, size_t columns, float *scratch) {
  const size_t in = j->left.in;
  if (j->stored == HL_STORED_F32) return j->products->weight + from * in;
  stored_load(scratch, (const uint16_t *)(const void *)j->products->weight + from * in, j->stored, columns * in);
  return scratch;
}

/* Columns of a gemv chunk. Long streams from memory are faster, but several threads should finish at the same time. A
 * chunk reads about 200 KB, in a multiple of 16 columns, which gemv processes in pairs. */
enum { GEMV_FLOATS = 49152, GEMV_COLUMNS = 128 };

static size_t gemv_columns(size_t in) {
  const size_t columns = GEMV_FLOATS / in / 16 * 16;
  return pool_size() == 1 || columns > GEMV_COLUMNS ? GEMV_COLUMNS : columns < 16 ? 16 : columns;
}

static void gemv_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t from = (size_t)chunk * j->chunk_columns, to = min_size(from + j->chunk_columns, j->products->out);
  if (gemv_supports(j->stored, j->left.in)) {
    gemv_range(j->products, j->stored, j->x, j->rows, j->left.in, from, to);
    return;
  }
  float *scratch = j->scratch + worker * (size_t)scratch_floats(j);
  for (size_t i = from; i < to; i += STORED_COLUMNS) {
    const size_t columns = min_size(STORED_COLUMNS, to - i);
    gemm_product product = *j->products;
    product.weight = columns_of(j, i, columns, scratch);
    product.first = (uint32_t)i;
    gemv_range(&product, HL_STORED_F32, j->x, j->rows, j->left.in, i, i + columns);
  }
}

static void stored_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t in = j->left.in, first = chunk % j->row_chunks * j->chunk_rows,
               from = chunk / j->row_chunks * STORED_COLUMNS, to = min_size(from + STORED_COLUMNS, j->products->out);
  gemm_product product = *j->products;
  float *scratch = j->scratch + worker * (size_t)scratch_floats(j);
  if (in > 0) {
    const float *weight = columns_of(j, from, to - from, scratch + STORED_COLUMNS * in);
    gemm_pack_rows(scratch, TILE_COLS, weight, in, to - from, in, 1);
  }
  product.weight = scratch;
  product.first = (uint32_t)from;
  gemm_range(&product, &j->left, first, min_size(first + j->chunk_rows, j->rows), from, to);
}

static size_t chunks_of(size_t count, size_t chunk) { return (count + chunk - 1) / chunk; }

hl_status hl_linear_stored(float *y, const float *x, const void *weight, const float *bias, uint32_t stored,
                           uint32_t rows, uint32_t out, uint32_t in) {
  if (stored > HL_STORED_BF16) return HL_BAD_ARGUMENT;
  if (!has_floats(y, (double)rows * out) || !has_floats(x, (double)rows * in) ||
      !has_stored(weight, stored, (double)out * in) || !has_floats_or_null(bias, out))
    return HL_BAD_SHAPE;
  if (rows == 0 || out == 0) return HL_OK;
  const gemm_product product = {.y = y, .weight = weight, .bias = bias, .out = out};
  const double work = 2.0 * (rows < MIN_WORK_ROWS ? MIN_WORK_ROWS : rows) * in * out;
  job j = {
      .products = &product, .x = x, .rows = rows, .left = {NULL, tile_width(rows, TILE_ROWS), in}, .stored = stored};
  const bool use_gemv = rows <= GEMV_MAX_ROWS && in > 0, in_place = use_gemv && gemv_supports(stored, in);
  const part parts[] = {{&j.packed, linear_workspace(rows, in)}, {&j.scratch, scratch_floats(&j) * pool_size()}};
  if (!in_place && !workspace_parts(parts, COUNT(parts))) return HL_OUT_OF_MEMORY;
  if (use_gemv) {
    j.chunk_columns = gemv_columns(in);
    parallel_for(gemv_chunk, &j, (uint32_t)chunks_of(out, j.chunk_columns), work);
  } else {
    pack_rows(&j, CHUNK_ROWS);
    split_rows(&j, STORED_ROWS);
    parallel_for(stored_chunk, &j, (uint32_t)(chunks_of(out, STORED_COLUMNS) * j.row_chunks), work);
  }
  if (!in_place) workspace_free();
  return HL_OK;
}

hl_status hl_linear_forward(float *y, const float *x, const float *weight, const float *bias, uint32_t rows,
                            uint32_t out, uint32_t in) {
  return hl_linear_stored(y, x, weight, bias, HL_STORED_F32, rows, out, in);
}
