/* The backward pass of the product. Each gradient is a product too, with operands packed from rows where the forward
 * pass packs columns, and vice versa:
 *
 *   y = x · weightᵀ + bias        dx = dy · weight,  dweight = dyᵀ · x,  dbias = Σ dy over the rows */
#include "base/check.h"
#include "base/pool.h"
#include "base/tensor.h"
#include "layers/linear.h"

typedef struct {
  float *panels;       /* [⌈columns/8⌉][rows][8] */
  const float *source; /* (rows,columns) */
  size_t rows, columns;
} right;

enum { RIGHT_COLUMNS = 8 * TILE_COLS };

static void pack_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const right *r = arg;
  size_t first = (size_t)chunk * RIGHT_COLUMNS, left = r->columns - first;
  (void)worker;
  gemm_pack_right(r->panels + first * r->rows, r->source + first, r->columns, r->rows,
                  left < RIGHT_COLUMNS ? left : RIGHT_COLUMNS);
}

/* panels[⌈columns/8⌉][rows][8] = source(rows, columns), on all threads. */
static void pack_right(float *panels, const float *source, size_t rows, size_t columns) {
  right r = {panels, source, rows, columns};
  if (rows == 0) return;
  parallel_for(pack_chunk, &r, (uint32_t)((columns + RIGHT_COLUMNS - 1) / RIGHT_COLUMNS),
               2.0 * (double)rows * (double)columns);
}

/* Partial sums of SUM_ROWS rows are added to the total, for accuracy. COLUMNS columns are summed at a time. */
enum { SUM_ROWS = 32, COLUMNS = 16 };

/* sum(width) += Σ y(rows, width) over the rows; a row has `columns` numbers. */
INLINE void add_columns(float *sum, const float *y, size_t rows, size_t columns, size_t width) {
  for (size_t from = 0; from < rows; from += SUM_ROWS) {
    float partial[COLUMNS] = {0};
    for (size_t r = from; r < rows && r < from + SUM_ROWS; r++) {
      for (size_t i = 0; i < width; i++) partial[i] += y[r * columns + i];
    }
    for (size_t i = 0; i < width; i++) sum[i] += partial[i];
  }
}

static void add_rows(float *sum, const float *y, size_t rows, size_t columns) {
  size_t j = 0;
  for (; j + COLUMNS <= columns; j += COLUMNS) add_columns(sum + j, y + j, rows, columns, COLUMNS);
  if (j < columns) add_columns(sum + j, y + j, rows, columns, columns - j);
}

/* Buffers for the packed operands of one product. The products use the buffers one after the other. */
typedef struct {
  float *right, *left; /* right: packed weight or x; left: packed dy or dyᵀ */
} operands;

static double assign_operands(operands *o, float *workspace, double rows, uint32_t out, uint32_t in) {
  double depth = rows > out ? rows : out, left = linear_workspace(rows, out),
         dy_transposed_floats = linear_workspace(out, (uint32_t)rows);
  const part parts[] = {{&o->right, depth * round_up(in, TILE_COLS)},
                        {&o->left, left > dy_transposed_floats ? left : dy_transposed_floats}};
  return block_parts(workspace, parts, COUNT(parts));
}

double linear_backward_workspace(double rows, uint32_t out, uint32_t in) {
  operands o;
  return assign_operands(&o, NULL, rows, out, in);
}

void linear_backward(float *dx, bool add, float *dweight, float *dbias, const float *dy, const float *x,
                     const float *weight, size_t rows, uint32_t out, uint32_t in, float *workspace) {
  operands o;
  assign_operands(&o, workspace, (double)rows, out, in);
  gemm_product product = {.weight = o.right, .out = in};
  if (dx) {
    pack_right(o.right, weight, out, in);
    product.y = dx;
    product.add = add;
    linear(&product, 1, PACKED_FLOATS, dy, rows, out, o.left);
  }
  if (dweight) {
    pack_right(o.right, x, rows, in);
    product.y = dweight;
    product.add = true;
    linear_transposed(&product, dy, out, rows, o.left);
  }
  if (dbias && rows > 0) add_rows(dbias, dy, rows, out);
}

hl_status hl_linear_backward(float *dx, float *dweight, float *dbias, const float *dy, const float *x,
                             const float *weight, uint32_t rows, uint32_t out, uint32_t in) {
  const double inputs = (double)rows * in, outputs = (double)rows * out, weights = (double)out * in;
  if (!has_floats(dy, outputs) || !has_floats_or_null(dbias, out)) return HL_BAD_SHAPE;
  if (dx && !(fits_floats(inputs) && has_floats(weight, weights))) return HL_BAD_SHAPE;
  if (dweight && !(fits_floats(weights) && has_floats(x, inputs))) return HL_BAD_SHAPE;
  if (!dx && !dweight) in = 0;
  if (rows == 0 || (out == 0 && in == 0)) return HL_OK;
  float *workspace = workspace_alloc(linear_backward_workspace(rows, out, in));
  if (!workspace) return HL_OUT_OF_MEMORY;
  linear_backward(dx, false, dweight, dbias, dy, x, weight, rows, out, in, workspace);
  workspace_free();
  return HL_OK;
}
