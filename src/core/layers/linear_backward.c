/* The product in reverse. Each gradient is a product again, whose operands are packed from rows where the forward pass
 * packs from columns and the other way round:
 *
 *   y = x · weightᵀ + bias        dx = dy · weight,  dweight = dyᵀ · x,  dbias = Σ dy over the rows */
#include "base/pool.h"
#include "base/tensor.h"
#include "layers/linear.h"

typedef struct {
  float *panels;
  const float *source;
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

static void pack_right(float *panels, const float *source, size_t rows, size_t columns) {
  right r = {panels, source, rows, columns};
  parallel_for(pack_chunk, &r, (uint32_t)((columns + RIGHT_COLUMNS - 1) / RIGHT_COLUMNS),
               2.0 * (double)rows * (double)columns);
}

/* Sums of RUN rows, then a sum of sums. */
enum { RUN = 32, ABREAST = 16 };

VERB void add_columns(float *sum, const float *y, size_t rows, size_t columns, size_t width) {
  for (size_t from = 0; from < rows; from += RUN) {
    float run[ABREAST] = {0};
    for (size_t r = from; r < rows && r < from + RUN; r++) {
      for (size_t i = 0; i < width; i++) run[i] += y[r * columns + i];
    }
    for (size_t i = 0; i < width; i++) sum[i] += run[i];
  }
}

static void add_rows(float *sum, const float *y, size_t rows, size_t columns) {
  size_t j = 0;
  for (; j + ABREAST <= columns; j += ABREAST) add_columns(sum + j, y + j, rows, columns, ABREAST);
  if (j < columns) add_columns(sum + j, y + j, rows, columns, columns - j);
}

uint64_t linear_backward_workspace(uint64_t rows, uint32_t out, uint32_t in) {
  uint64_t left = linear_workspace(rows, out), other = linear_workspace(out, (uint32_t)rows);
  return round_up(in, TILE_COLS) * (rows > out ? rows : out) + (left > other ? left : other);
}

void linear_backward(float *dx, bool add, float *dweight, float *dbias, const float *dy, const float *x,
                     const float *weight, size_t rows, uint32_t out, uint32_t in, float *workspace) {
  float *left = workspace + round_up(in, TILE_COLS) * (rows > out ? rows : out);
  gemm_product product = {.weight = workspace, .out = in};
  if (dx) {
    pack_right(workspace, weight, out, in);
    product.y = dx;
    product.add = add;
    linear(&product, 1, false, dy, rows, out, left);
  }
  if (dweight) {
    pack_right(workspace, x, rows, in);
    product.y = dweight;
    product.add = true;
    linear_turned(&product, dy, out, rows, left);
  }
  if (dbias) add_rows(dbias, dy, rows, out);
}

hl_status hl_linear_backward(float *dx, float *dweight, float *dbias, const float *dy, const float *x,
                             const float *weight, uint32_t rows, uint32_t out, uint32_t in) {
  bool some = rows && out;
  if (some && (!dy || (in && ((dx && !weight) || (dweight && !x))))) return HL_BAD_SHAPE;
  float *workspace = workspace_alloc(linear_backward_workspace(rows, out, in));
  if (!workspace) return HL_OUT_OF_MEMORY;
  linear_backward(dx, false, dweight, dbias, dy, x, weight, rows, out, in, workspace);
  workspace_free(workspace);
  return HL_OK;
}
