#include "layers/linear.h"

#include "base/check.h"
#include "base/pool.h"
#include "base/stored.h"
#include "base/tensor.h"
#include "kernels/gemm_int8.h"
#include "kernels/gemv.h"

/* A chunk of the result: its rows of x stay in the second-level cache while the right panels pass through the
 * first. A chunk takes a few hundred microseconds at most: small enough to be shared out evenly. Those of int8 weights
 * are high, since for each of them the weights are opened anew, which with 60 rows takes a tenth of the time. */
enum { CHUNK_ROWS = 30, CHUNK_COLUMNS = 192, INT8_CHUNK_ROWS = 130, INT8_CHUNK_COLUMNS = 64 };

typedef struct {
  const gemm_product *products;
  gemm_left left;
  const float *x;
  float *packed, *rooms; /* x; and of each worker some columns of the weight, twice where they are to be opened */
  size_t rows, chunk_rows, row_chunks, chunk_columns, column_chunks[3];
  bool int8, turned; /* turned: x is (in, rows) */
  hl_stored stored;  /* how the numbers of the weight lie */
} job;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The fewest tiles that hold the rows, as even as they go: ten rows are five and five, not six and four. */
static size_t left_width(size_t rows, size_t most) {
  size_t tiles = (rows + most - 1) / most;
  return tiles ? (rows + tiles - 1) / tiles : 1;
}

double linear_workspace(double rows, uint32_t in) {
  if (rows == 0) return 0;
  size_t row = gemm_left_row(in), int8 = gemm_int8_left_row(in);
  return (rows + TILE_ROWS) * (double)(row > int8 ? row : int8);
}

static void pack_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t in = j->left.in, first = chunk * j->chunk_rows, rows = least(j->rows - first, j->chunk_rows);
  const float *x = j->x + first * in;
  (void)worker;
  if (j->turned) gemm_pack_columns(j->packed + first * in, in, 0, j->x + first, j->rows, in, rows);
  else if (j->int8)
    gemm_int8_pack_left(j->packed + first * gemm_int8_left_row(in), j->left.width, x, rows, in,
                        gemm_int8_form_of(j->products->weight));
  else gemm_pack_rows(j->packed + first * gemm_left_row(in), j->left.width, x, in, rows, in, 1);
}

static void multiply_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  size_t row = chunk % j->row_chunks, column = chunk / j->row_chunks, product = 0;
  (void)worker;
  for (; column >= j->column_chunks[product]; product++) column -= j->column_chunks[product];
  const gemm_product *p = &j->products[product];
  size_t first = row * j->chunk_rows, from = column * j->chunk_columns;
  (j->int8 ? gemm_int8_range : gemm_range)(p, &j->left, first, least(first + j->chunk_rows, j->rows), from,
                                           least(from + j->chunk_columns, p->out));
}

/* As even as they go in whole tiles. */
static void split_rows(job *j, size_t most) {
  const size_t chunks = (j->rows + most - 1) / most;
  j->chunk_rows = round_up((j->rows + chunks - 1) / chunks, j->left.width);
  j->row_chunks = (j->rows + j->chunk_rows - 1) / j->chunk_rows;
}

static void pack_rows(job *j, size_t most) {
  const size_t in = j->left.in;
  j->left.panels = j->packed;
  split_rows(j, most);
  if (in > 0) parallel_for(pack_chunk, j, (uint32_t)j->row_chunks, 8.0 * (double)j->rows * (double)in);
}

static void multiply(job *j, uint32_t count, size_t width, size_t in, float *workspace) {
  const gemm_product *products = j->products;
  size_t chunks = 0, columns = 0;
  if (j->rows == 0) return;
  j->left = (gemm_left){NULL, width, in};
  j->packed = workspace;
  j->chunk_columns = j->int8 && j->rows > CHUNK_ROWS ? INT8_CHUNK_COLUMNS : CHUNK_COLUMNS;
  pack_rows(j, j->int8 ? INT8_CHUNK_ROWS : CHUNK_ROWS);
  for (uint32_t i = 0; i < count; i++) {
    j->column_chunks[i] = ((size_t)products[i].out + j->chunk_columns - 1) / j->chunk_columns;
    chunks += j->column_chunks[i] * j->row_chunks;
    columns += products[i].out;
  }
  parallel_for(multiply_chunk, j, (uint32_t)chunks, 2.0 * (double)j->rows * (double)in * (double)columns);
}

void linear(const gemm_product *products, uint32_t count, bool int8, const float *x, size_t rows, size_t in,
            float *workspace) {
  int8 = int8 && in > 0 && products->out > 0; /* else x has no scales, or the weight need not be there */
  size_t width = left_width(rows, int8 ? INT8_TILE_ROWS : TILE_ROWS);
  multiply(&(job){.products = products, .x = x, .rows = rows, .int8 = int8}, count, width, in, workspace);
}

void linear_turned(const gemm_product *product, const float *x, size_t rows, size_t in, float *workspace) {
  multiply(&(job){.products = product, .x = x, .rows = rows, .turned = true}, 1, TILE_ROWS, in, workspace);
}

/* ---- a weight as it lies, (out, in) ---- */

/* Rows so few meet the weight as it is, and fewer than three take as long as three: they wait for it. For more some
 * columns are packed at a time, and all of x passes by them: so many rows of it stay in the second-level cache. */
enum { FEW_ROWS = 6, AS_LONG_AS = 3, PLAIN_ROWS = 240, PLAIN_COLUMNS = 16 };

static double room_floats(const job *j) {
  return (j->stored == HL_STORED_F32 ? 1.0 : 2.0) * PLAIN_COLUMNS * (double)j->left.in;
}

/* So many columns of the weight, from `from` on, as float32: opened into the room where they lie otherwise. */
static const float *columns_of(const job *j, size_t from, size_t columns, float *room) {
  const size_t in = j->left.in;
  if (j->stored == HL_STORED_F32) return j->products->weight + from * in;
  stored_load(room, (const uint16_t *)(const void *)j->products->weight + from * in, j->stored, columns * in);
  return room;
}

/* Memory is to be read in long streams, and several threads are to end at the same time: they take 200 KB at a time,
 * in columns that gemv takes in pairs. */
enum { FEW_FLOATS = 49152, FEW_COLUMNS = 128 };

static size_t few_columns(size_t in) {
  const size_t columns = FEW_FLOATS / in / 16 * 16;
  return pool_size() == 1 || columns > FEW_COLUMNS ? FEW_COLUMNS : columns < 16 ? 16 : columns;
}

static void few_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t from = (size_t)chunk * j->chunk_columns, to = least(from + j->chunk_columns, j->products->out);
  if (gemv_reads(j->stored, j->rows, j->left.in)) {
    gemv_range(j->products, j->stored, j->x, j->rows, j->left.in, from, to);
    return;
  }
  float *room = j->rooms + worker * (size_t)room_floats(j);
  for (size_t i = from; i < to; i += PLAIN_COLUMNS) {
    const size_t columns = least(PLAIN_COLUMNS, to - i);
    gemm_product product = *j->products;
    product.weight = columns_of(j, i, columns, room);
    product.first = (uint32_t)i;
    gemv_range(&product, HL_STORED_F32, j->x, j->rows, j->left.in, i, i + columns);
  }
}

static void plain_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const job *j = arg;
  const size_t in = j->left.in, first = chunk % j->row_chunks * j->chunk_rows,
               from = chunk / j->row_chunks * PLAIN_COLUMNS, to = least(from + PLAIN_COLUMNS, j->products->out);
  gemm_product product = *j->products;
  float *room = j->rooms + worker * (size_t)room_floats(j);
  if (in > 0) {
    const float *weight = columns_of(j, from, to - from, room + PLAIN_COLUMNS * in);
    gemm_pack_rows(room, TILE_COLS, weight, in, to - from, in, 1);
  }
  product.weight = room;
  product.first = (uint32_t)from;
  gemm_range(&product, &j->left, first, least(first + j->chunk_rows, j->rows), from, to);
}

static size_t chunks_of(size_t count, size_t chunk) { return (count + chunk - 1) / chunk; }

hl_status hl_linear_stored(float *y, const float *x, const void *weight, const float *bias, uint32_t stored,
                           uint32_t rows, uint32_t out, uint32_t in) {
  if (stored > HL_STORED_BF16) return HL_BAD_ARGUMENT;
  if (!has_floats(y, (double)rows * out) || !has_floats(x, (double)rows * in) ||
      !has_stored(weight, stored, (double)out * in) || !may_have_floats(bias, out))
    return HL_BAD_SHAPE;
  if (rows == 0 || out == 0) return HL_OK;
  const gemm_product product = {.y = y, .weight = weight, .bias = bias, .out = out};
  const double work = 2.0 * (rows < AS_LONG_AS ? AS_LONG_AS : rows) * in * out;
  job j = {
      .products = &product, .x = x, .rows = rows, .left = {NULL, left_width(rows, TILE_ROWS), in}, .stored = stored};
  const bool few = rows <= FEW_ROWS && in > 0, at_once = few && gemv_reads(stored, rows, in);
  const part parts[] = {{&j.packed, linear_workspace(rows, in)}, {&j.rooms, room_floats(&j) * pool_size()}};
  if (!at_once && !workspace_parts(parts, COUNT(parts))) return HL_OUT_OF_MEMORY;
  if (few) {
    j.chunk_columns = few_columns(in);
    parallel_for(few_chunk, &j, (uint32_t)chunks_of(out, j.chunk_columns), work);
  } else {
    pack_rows(&j, CHUNK_ROWS);
    split_rows(&j, PLAIN_ROWS);
    parallel_for(plain_chunk, &j, (uint32_t)(chunks_of(out, PLAIN_COLUMNS) * j.row_chunks), work);
  }
  if (!at_once) workspace_free();
  return HL_OK;
}

hl_status hl_linear_forward(float *y, const float *x, const float *weight, const float *bias, uint32_t rows,
                            uint32_t out, uint32_t in) {
  return hl_linear_stored(y, x, weight, bias, HL_STORED_F32, rows, out, in);
}
