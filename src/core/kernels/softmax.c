#include "kernels/softmax.h"

#include <stdbool.h>

#include "base/exp.h"
#include "base/panel.h"

void softmax_begin(softmax_state *state, float sink) {
  for (size_t c = 0; c < TILE_COLS; c += 4) {
    vec_store(state->max + c, vec_splat(sink));
    vec_store(state->sum + c, vec_splat(sink == -__builtin_inff() ? 0 : 1));
  }
}

/* Raises `max` to the maximum of every column over this block and the previous ones. NaN may be ignored here, because
 * the weight of a NaN score is NaN, and so are the sum and the whole column. */
static void column_max(vec max[2], const float *panel, size_t keys) {
  vec largest[4] = {max[0], max[1], max[0], max[1]};
  for (; keys >= 2; keys -= 2) {
    for (int i = 0; i < 4; i++) largest[i] = vec_max(largest[i], vec_load(panel + 4 * i));
    panel += 2 * TILE_COLS;
  }
  for (int i = 0; i < 2 && keys > 0; i++) largest[i] = vec_max(largest[i], vec_load(panel + 4 * i));
  for (int i = 0; i < 2; i++) max[i] = vec_max(largest[i], largest[i + 2]);
}

/* Returns the number that is subtracted from the scores of a column: the maximum, or 0 as long as all scores are −∞. −∞
 * − −∞ would be NaN, but 2^(−∞ − 0) is 0. */
static vec column_origin(vec max) {
  return vec_select(vec_equal(max, vec_splat(-__builtin_inff())), vec_splat(0), max);
}

/* Rows of a partial sum. Partial sums are added to the total, because single small terms would be rounded away when
 * they are added to a large sum. */
enum { SUM_ROWS = 16 };

/* Replaces the scores of four columns (half a panel, which fits into the registers) by weights, and returns their
 * sums. */
INLINE vec exp_half(float *half, size_t keys, vec origin, softmax_base base) {
  const exp_vecs constants = exp_load();
  const float *end = half + keys * TILE_COLS;
  vec total = vec_splat(0);
  while (half != end) {
    const float *part_end = (size_t)(end - half) < SUM_ROWS * TILE_COLS ? end : half + SUM_ROWS * TILE_COLS;
    vec partial = vec_splat(0);
    for (; half != part_end; half += TILE_COLS) {
      vec x = vec_sub(vec_load(half), origin);
      if (base == SOFTMAX_OF_E) x = vec_mul(x, vec_splat(LOG2_E));
      x = vec_exp2(&constants, x);
      vec_store(half, x);
      partial = vec_add(partial, x);
    }
    total = vec_add(total, partial);
  }
  return total;
}

/* Longer columns are summed in parts of this many keys, and the parts in double precision. Otherwise the sum of a
 * million weights would be off by 1e−4. */
enum { LONG_KEYS = 4096 };

/* Replaces the scores of four columns by weights, and returns their sums. Each base has a loop of its own, so that the
 * base is not tested within the loop. */
KERNEL static vec exp_columns(float *half, size_t keys, vec origin, softmax_base base) {
  const bool is_long = keys > LONG_KEYS;
  vec low = vec_splat(0), high = vec_splat(0);
  for (;;) {
    const size_t part = keys < LONG_KEYS ? keys : LONG_KEYS;
    const vec sum =
        base == SOFTMAX_OF_2 ? exp_half(half, part, origin, SOFTMAX_OF_2) : exp_half(half, part, origin, SOFTMAX_OF_E);
    if (!is_long) return sum;
    low = doubles_add(low, doubles_low(sum));
    high = doubles_add(high, doubles_high(sum));
    half += part * TILE_COLS;
    keys -= part;
    if (keys == 0) return doubles_narrow(low, high);
  }
}

/* ---- a single column ---- */

/* Keys per vector. A single column is processed four keys at a time. With one key in all four lanes, exp would take a
 * third of the time of a query. */
enum { ROW_KEYS = 4 };

/* Loads up to four keys of a column; missing keys are −∞. */
INLINE vec row_load(const float *column, size_t keys) {
  float lanes[ROW_KEYS];
  if (keys >= ROW_KEYS)
    return vec_load_each(column, column + TILE_COLS, column + 2 * TILE_COLS, column + 3 * TILE_COLS);
  for (size_t i = 0; i < ROW_KEYS; i++) lanes[i] = i < keys ? column[i * TILE_COLS] : -__builtin_inff();
  return vec_load(lanes);
}

INLINE void row_store(float *column, vec x, size_t keys) {
  float lanes[ROW_KEYS];
  vec_store(lanes, x);
  for (size_t i = 0; i < ROW_KEYS && i < keys; i++) column[i * TILE_COLS] = lanes[i];
}

/* Returns the maximum of `largest` and the column. */
KERNEL static float row_max(float largest, const float *column, size_t keys) {
  vec max = vec_splat(largest);
  float lanes[4];
  for (; keys >= ROW_KEYS; keys -= ROW_KEYS, column += ROW_KEYS * TILE_COLS)
    max = vec_max(max, row_load(column, ROW_KEYS));
  vec_store(lanes, vec_max(max, row_load(column, keys)));
  for (size_t i = 0; i < 4; i++) largest = lanes[i] > largest ? lanes[i] : largest;
  return largest;
}

/* Replaces the scores of a column by weights, and returns their sum. Partial sums, as in exp_half, are added in double
 * precision. */
KERNEL static float row_exp(float *column, size_t keys, vec origin, softmax_base base) {
  const exp_vecs constants = exp_load();
  const vec factor = vec_splat(base == SOFTMAX_OF_E ? LOG2_E : 1);
  double total = 0;
  while (keys > 0) {
    size_t part = keys < SUM_ROWS * ROW_KEYS ? keys : SUM_ROWS * ROW_KEYS;
    vec partial = vec_splat(0);
    keys -= part;
    for (size_t count; part > 0; part -= count, column += count * TILE_COLS) {
      count = part < ROW_KEYS ? part : ROW_KEYS;
      const vec x = vec_exp2(&constants, vec_mul(vec_sub(row_load(column, count), origin), factor));
      row_store(column, x, count);
      partial = vec_add(partial, x);
    }
    total += doubles_sum(doubles_add(doubles_low(partial), doubles_high(partial)));
  }
  return (float)total;
}

KERNEL void softmax_block(float *panel, size_t columns, size_t keys, softmax_base base, softmax_state *state,
                          float rescale[TILE_COLS]) {
  vec max[2] = {vec_load(state->max), vec_load(state->max + 4)};
  const exp_vecs constants = exp_load();
  if (columns == 1) max[0] = vec_splat(row_max(state->max[0], panel, keys));
  else column_max(max, panel, keys);
#pragma clang loop unroll(disable)
  for (size_t h = 0; h < 2; h++) {
    if (columns <= 4 * h) {
      vec_store(rescale + 4 * h, vec_splat(0));
      break;
    }
    const vec origin = column_origin(max[h]);
    const vec total =
        columns == 1 ? vec_splat(row_exp(panel, keys, origin, base)) : exp_columns(panel + 4 * h, keys, origin, base);
    vec factor = vec_sub(vec_load(state->max + 4 * h), origin);
    if (base == SOFTMAX_OF_E) factor = vec_mul(factor, vec_splat(LOG2_E));
    factor = vec_exp2(&constants, factor);
    vec_store(rescale + 4 * h, factor);
    vec_store(state->sum + 4 * h, vec_fma(vec_load(state->sum + 4 * h), factor, total));
    vec_store(state->max + 4 * h, max[h]);
  }
}

void softmax_end(const softmax_state *state, float inverse[TILE_COLS]) {
  for (size_t c = 0; c < TILE_COLS; c += 4) {
    vec sum = vec_load(state->sum + c);
    vec_store(inverse + c, vec_zero_where(vec_equal(sum, vec_splat(0)), vec_div(vec_splat(1), sum)));
  }
}

void softmax_panel(float *panel, size_t columns, size_t keys, softmax_base base, float sink, softmax_state *state,
                   float inverse[TILE_COLS]) {
  softmax_begin(state, sink);
  softmax_block(panel, columns, keys, base, state, inverse);
  softmax_end(state, inverse);
  panel_scale(panel, keys, inverse);
}

void softmax_recompute(float *panel, size_t keys, softmax_base base, const float max[TILE_COLS],
                       const float inverse[TILE_COLS]) {
#pragma clang loop unroll(disable)
  for (size_t c = 0; c < TILE_COLS; c += 4) exp_columns(panel + c, keys, column_origin(vec_load(max + c)), base);
  panel_scale(panel, keys, inverse);
}

void softmax_sink_weight(float weight[TILE_COLS], float sink, softmax_base base, const float max[TILE_COLS],
                         const float inverse[TILE_COLS]) {
#pragma clang loop unroll(disable)
  for (size_t c = 0; c < TILE_COLS; c += 4) {
    vec_store(weight + c, vec_splat(sink));
    exp_columns(weight + c, 1, column_origin(vec_load(max + c)), base);
    vec_store(weight + c, vec_mul(vec_load(weight + c), vec_load(inverse + c)));
  }
}

void softmax_backward(float *panel, const float *weights, size_t keys, const float delta[TILE_COLS]) {
  const vec low = vec_load(delta), high = vec_load(delta + 4);
  for (size_t i = 0; i < keys * TILE_COLS; i += TILE_COLS) {
    vec_store(panel + i, vec_mul(vec_load(weights + i), vec_sub(vec_load(panel + i), low)));
    vec_store(panel + i + 4, vec_mul(vec_load(weights + i + 4), vec_sub(vec_load(panel + i + 4), high)));
  }
}
