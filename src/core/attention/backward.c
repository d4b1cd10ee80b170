/* The backward pass of attention. Each tile of queries goes through the keys block by block again, and applies the
 * derivative of each step of the forward pass in reverse order:
 *
 *   scores  = scale · q · kᵀ              dq = scale · dscores · k,  dk = scale · dscoresᵀ · q
 *   capped  = cap · tanh(scores / cap)    dscores = dcapped · (1 − (capped / cap)²)
 *   masked  = capped + bias, or fill      dbias = dcapped = dmasked, or 0 where fill is used
 *   weights = e^(masked − max) / sum      dmasked = weights · (dweights − delta),  delta = Σ weights · dweights
 *   dropped = weights · keep / (1 − p)    dweights = ddropped · keep / (1 − p)
 *   output  = dropped · v                 ddropped = doutput · vᵀ,  dv = droppedᵀ · doutput
 *
 * The weights are recomputed from the max and sum of their rows, so no tensor of size T·S is ever stored. The sum Σ
 * weights · dweights over all keys equals doutput · output, which is known before the first block.
 *
 * Products over the keys use the panels of the forward pass, panel[key][8 queries]. For products over the queries, each
 * 8×8 square is transposed to panel[query][8 keys]. Therefore one kernel computes all five products. */
#include "attention/backward.h"

#include "attention/additive.h"
#include "attention/kv_gradient.h"
#include "attention/packed_keys.h"
#include "attention/schedule.h"
#include "attention/validate.h"
#include "base/panel.h"
#include "base/tensor.h"
#include "kernels/softcap.h"

/* BLOCK_KEYS and BACKWARD_QUERIES are the depths of the products over keys and over queries. They are large enough that
 * adding up the results costs little, and small enough that three panels of scores stay in the second-level cache.
 * Blocks start at multiples of BLOCK_KEYS, which is a multiple of both values of TILE_ROWS and of 8. */
enum { BLOCK_KEYS = 120, BACKWARD_PANELS = 12, BACKWARD_QUERIES = BACKWARD_PANELS * TILE_COLS };

typedef struct {
  attention_tile forward; /* its `scores` are replaced by the recomputed weights */
  const hl_attention_backward_args *args;
  /* Keys and values, packed once for each head: keys and values by rows, key_columns by columns. */
  float *keys, *values, *key_columns;
  /* Packed once for each tile: query and d_output by rows, [panel][D][8]; query_columns and d_output_columns by
   * columns. */
  float *query, *query_columns, *d_output, *d_output_columns;
  float *scores, *d_scores; /* [panel][BLOCK_KEYS][8] */
  float *transposed;        /* [⌈keys/8⌉][queries][8]; before: soft cap derivatives, [panel][BLOCK_KEYS][8] */
  float *d_query, *output;  /* d_query [panel][D][8]; output: one panel, [Dv][8] */
  float *d_key, *d_value;   /* panels as in kv_gradient.h */
  float *d_additive;        /* (D), the sum for this head and part of the queries */
  float *d_sink;            /* sum for this batch entry, head and part of the queries; or NULL */
  float max[BACKWARD_PANELS][TILE_COLS], inverse[BACKWARD_PANELS][TILE_COLS], delta[BACKWARD_PANELS][TILE_COLS];
} backward_tile;

/* Assigns the workspace of one thread and returns its size in floats. If workspace is NULL, it only computes the
 * size. */
static double assign_scratch(backward_tile *t, const hl_attention_args *a, float *workspace) {
  const size_t rows = round_up(total_keys(a), TILE_ROWS);
  const double queries = a->queries < BACKWARD_QUERIES ? (double)round_up(a->queries, TILE_COLS) : BACKWARD_QUERIES,
               keys = total_keys(a), width = (double)round_up(a->width, TILE_ROWS),
               value_width = (double)round_up(a->value_width, TILE_ROWS);
  const part parts[] = {{&t->keys, packed_keys_floats(a)},
                        {&t->values, (double)rows * a->value_width},
                        {&t->key_columns, keys * width},
                        {&t->query, queries * a->width},
                        {&t->query_columns, queries * width},
                        {&t->d_output, queries * a->value_width},
                        {&t->d_output_columns, queries * value_width},
                        {&t->scores, queries * BLOCK_KEYS},
                        {&t->d_scores, queries * BLOCK_KEYS},
                        {&t->transposed, queries * BLOCK_KEYS},
                        {&t->d_query, queries * a->width},
                        {&t->output, TILE_COLS * (double)a->value_width},
                        {&t->d_key, kv_gradient_floats(a)}};
  return block_parts(workspace, parts, COUNT(parts));
}

static float *panel_of(const backward_tile *t, float *panels, uint32_t panel) {
  return panels + (size_t)panel * t->forward.score_rows * TILE_COLS;
}

/* Recomputes the weights of a block before dropout, and stores the derivatives of the soft cap in `transposed`. */
static void recompute_weights(const backward_tile *t, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  const uint32_t keys = block.to - block.from;
  f->path->scores(f, block);
  tile_softcap(f, block);
  for (uint32_t p = 0; p < tile_panel_count(f) && a->softcap > 0; p++)
    softcap_panel_derivative(panel_of(t, t->transposed, p), panel_scores(f, p), keys, a->softcap);
  tile_mask(f, block);
  for (uint32_t p = 0; p < tile_panel_count(f); p++)
    softmax_recompute(panel_scores(f, p), keys, f->base, t->max[p], t->inverse[p]);
}

/* Adds the gradient of the returned weights. If their mean was returned, each head has an equal share. */
static void add_d_weights(const backward_tile *t, uint32_t panel, span block) {
  const attention_tile *f = &t->forward;
  bool mean = f->args->weights_mode == HL_WEIGHTS_MEAN;
  uint32_t width = total_keys(f->args);
  const float *from = t->args->d_weights + tile_row(f, panel, !mean) * width + block.from;
  panel_add_from_rows(panel_of(t, t->d_scores, panel), from, width, block.to - block.from, panel_queries(f, panel),
                      mean ? 1 / (float)f->args->heads : 1);
}

/* Adds the gradient of the sink. The sink is a score of weight p without a value, so its gradient is p · (0 −
 * delta). */
static void add_d_sink(const backward_tile *t, uint32_t panel) {
  float weight[TILE_COLS], sum = 0;
  softmax_sink_weight(weight, t->forward.sink, t->forward.base, t->max[panel], t->inverse[panel]);
  for (uint32_t c = 0; c < panel_queries(&t->forward, panel); c++) sum += weight[c] * t->delta[panel][c];
  *t->d_sink -= sum;
}

/* Packs the tile and sets the max, the 1/sum and the delta of each query. */
static void begin_tile(backward_tile *t, span all) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  const float *query = tile_query_rows(f);
  const size_t row = a->output_stride.row, rows = (size_t)a->batch * a->heads * a->queries;
  const float *d_output = head_start(t->args->d_output, &a->output_stride, f->batch, f->head) + f->first * row;
  f->path->queries(f);
  gemm_pack_columns(t->query_columns, f->queries, 0, query, a->query_stride.row, f->queries, a->width);
  gemm_pack_rows(t->d_output, TILE_COLS, d_output, row, f->queries, a->value_width, 1);
  gemm_pack_columns(t->d_output_columns, f->queries, 0, d_output, row, f->queries, a->value_width);
  for (uint32_t p = 0; p < tile_panel_count(f); p++) {
    const float *statistics = t->args->attention.statistics + tile_row(f, p, true);
    for (uint32_t c = 0; c < TILE_COLS; c++) {
      bool row_exists = c < panel_queries(f, p);
      t->max[p][c] = row_exists ? statistics[c] : 0;
      t->inverse[p][c] = row_exists ? statistics[rows + c] : 0;
      t->delta[p][c] = 0;
    }
    gemm_pack_rows(t->output, TILE_COLS, tile_output_rows(f, p), row, panel_queries(f, p), a->value_width, 1);
    panel_dots(t->delta[p], t->d_output + p * a->value_width * TILE_COLS, t->output, a->value_width);
  }
  for (uint32_t from = all.from; t->args->d_weights && from < all.to; from += BLOCK_KEYS) {
    span block = {from, all.to - from < BLOCK_KEYS ? all.to : from + BLOCK_KEYS};
    recompute_weights(t, block);
    for (uint32_t p = 0; p < tile_panel_count(f); p++) {
      tile_dropout(f, panel_scores(f, p), p, block);
      panel_zero(panel_of(t, t->d_scores, p), block.to - block.from);
      add_d_weights(t, p, block);
      panel_dots(t->delta[p], panel_of(t, t->scores, p), panel_of(t, t->d_scores, p), block.to - block.from);
    }
  }
  for (uint32_t p = 0; t->d_sink && p < tile_panel_count(f); p++) add_d_sink(t, p);
}

static void add_d_bias(const backward_tile *t, uint32_t panel, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  const hl_broadcast *b = &a->bias_stride;
  const float *d_scores = panel_of(t, t->d_scores, panel);
  for (uint32_t c = 0; c < panel_queries(f, panel); c++) {
    float *to = t->args->d_bias + (size_t)f->batch * b->batch + (size_t)f->head * b->head +
                (size_t)(panel_first(f, panel) + c) * b->query;
    for (uint32_t s = block.from; s < block.to && s < a->keys; s++) {
      to[(size_t)s * b->key] += d_scores[(s - block.from) * TILE_COLS + c];
    }
  }
}

/* sum[⌈keys/8⌉][width][8] += columnsᵀ · panels, over the queries of the tile; the panels are transposed first. */
static void add_over_queries(const backward_tile *t, float *sum, const float *columns, size_t width, float *panels,
                             span block) {
  const attention_tile *f = &t->forward;
  const size_t keys = block.to - block.from, squares = (keys + TILE_COLS - 1) / TILE_COLS,
               square = TILE_COLS * TILE_COLS;
  const uint32_t across = tile_panel_count(f);
  for (uint32_t p = 0; p < across; p++) {
    float *panel = panel_of(t, panels, p);
    panel_zero(panel + keys * TILE_COLS, squares * TILE_COLS - keys);
    for (size_t i = 0; i < squares; i++) panel_transpose(t->transposed + (i * across + p) * square, panel + i * square);
  }
  for (size_t i = 0; i < squares; i++) {
    packed_gather(sum + (block.from + i * TILE_COLS) * width, columns, f->queries, width,
                  t->transposed + i * across * square, f->queries);
  }
}

static void block_backward(const backward_tile *t, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  uint32_t keys = block.to - block.from;
  recompute_weights(t, block);
  /* output = dropped · v */
  packed_product(f, block, t->d_scores, t->values, t->d_output, a->value_width);
  for (uint32_t p = 0; p < tile_panel_count(f); p++) {
    float *d_scores = panel_of(t, t->d_scores, p), *weights = panel_of(t, t->scores, p);
    if (t->args->d_weights) add_d_weights(t, p, block);
    /* dropped = weights · keep / (1 − p) */
    tile_dropout(f, d_scores, p, block);
    /* weights = e^(masked − max) / sum */
    softmax_backward(d_scores, weights, keys, t->delta[p]);
    tile_dropout(f, weights, p, block);
    /* masked = capped + bias, or fill */
    mask_backward(d_scores, &f->visible, panel_first(f, p), panel_queries(f, p), block.from, keys);
    if (t->args->d_bias) add_d_bias(t, p, block);
    /* capped = cap · tanh(scores / cap) */
    if (a->softcap > 0) softcap_backward(d_scores, panel_of(t, t->transposed, p), keys);
  }
  add_over_queries(t, t->d_value, t->d_output_columns, a->value_width, t->scores, block);
  /* scores = scale · q · kᵀ, where the scale is applied at the end; or additive scores */
  if (a->additive) {
    for (uint32_t p = 0; p < tile_panel_count(f); p++)
      additive_backward(t->d_query + p * a->width * TILE_COLS, t->d_key, t->d_additive, panel_of(t, t->d_scores, p), f,
                        p, block);
    return;
  }
  add_over_queries(t, t->d_key, t->query_columns, a->width, t->d_scores, block);
  for (uint32_t p = 0; p < tile_panel_count(f); p++) {
    packed_gather(t->d_query + p * a->width * TILE_COLS, t->key_columns + (size_t)block.from * TILE_ROWS, total_keys(a),
                  a->width, panel_of(t, t->d_scores, p), keys);
  }
}

static void tile_backward(backward_tile *t) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  span all = tile_span(f);
  all.from -= all.from % BLOCK_KEYS;
  begin_tile(t, all);
  panel_zero(t->d_query, (size_t)tile_panel_count(f) * a->width);
  for (uint32_t from = all.from; from < all.to; from += BLOCK_KEYS) {
    block_backward(t, (span){from, all.to - from < BLOCK_KEYS ? all.to : from + BLOCK_KEYS});
  }
  float *to =
      head_start(t->args->d_query, &a->query_stride, f->batch, f->head) + (size_t)f->first * a->query_stride.row;
  for (uint32_t p = 0; p < tile_panel_count(f); p++) {
    float *d_query = t->d_query + p * a->width * TILE_COLS;
    panel_multiply(d_query, a->width, a->scale);
    panel_store(to + (size_t)p * TILE_COLS * a->query_stride.row, a->query_stride.row, d_query, a->width,
                panel_queries(f, p));
  }
}

/* ---- around the tiles ---- */

/* Replaces numbers that are not finite by 0. A key that is not finite gives NaN weights and gradients to all queries
 * for which it is not masked. For the other queries it must not enter a product, because 0 · NaN is NaN. */
static void replace_nonfinite(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!__builtin_isfinite(x[i])) x[i] = 0;
  }
}

static void pack_head(const backward_tile *t, const hl_attention_args *a, uint32_t batch, uint32_t kv_head) {
  const float *key = head_start(a->key, &a->key_stride, batch, kv_head),
              *value = head_start(a->value, &a->value_stride, batch, kv_head);
  uint32_t keys = total_keys(a);
  gemm_pack_rows(t->keys, TILE_ROWS, key, a->key_stride.row, a->keys, a->width, 1);
  gemm_pack_rows(t->values, TILE_ROWS, value, a->value_stride.row, a->keys, a->value_width, 1);
  bool finite = gemm_pack_columns(t->key_columns, keys, 0, key, a->key_stride.row, a->keys, a->width);
  if (a->appended) {
    packed_append(t->keys, a, a->appended_key, a->width, kv_head);
    packed_append(t->values, a, a->appended_value, a->value_width, kv_head);
    finite = gemm_pack_columns(t->key_columns, keys, a->keys, a->appended_key + (size_t)kv_head * a->width,
                               (size_t)a->kv_heads * a->width, a->appended, a->width) &&
             finite;
  }
  if (!finite) replace_nonfinite(t->key_columns, keys * round_up(a->width, TILE_ROWS));
}

typedef struct {
  const hl_attention_backward_args *args;
  hl_attention_args forward; /* a copy of args->attention that requests no scores */
  float *threads;            /* workspace of each thread */
  size_t thread_floats;
  kv_gradients kv_gradients;
  float *d_sinks, *d_additive; /* sinks [B][H][parts]; additive [B][H][parts][D] */
} job;

/* Computes the gradients of some queries, for each query head that uses one key/value head. */
static void head_backward(const void *arg, uint32_t thread, const head_part *h) {
  const job *j = arg;
  const hl_attention_args *a = &j->forward;
  const uint32_t group = a->heads / a->kv_heads;
  backward_tile t = {.args = j->args};
  assign_scratch(&t, a, j->threads + thread * j->thread_floats);
  t.d_key = kv_gradient_begin(&j->kv_gradients, t.d_key, h);
  t.d_value = kv_gradient_value(a, t.d_key);
  pack_head(&t, a, h->batch, h->kv_head);
  for (uint32_t head = h->kv_head * group; head < (h->kv_head + 1) * group; head++) {
    attention_tile *f = &t.forward;
    const size_t index = ((size_t)h->batch * a->heads + head) * j->kv_gradients.part_count + h->part;
    if (j->args->d_sinks) {
      t.d_sink = j->d_sinks + index;
      *t.d_sink = 0;
    }
    if (a->additive) {
      t.d_additive = j->d_additive + index * a->width;
      for (size_t i = 0; i < a->width; i++) t.d_additive[i] = 0;
    }
    tile_set_head(f, &j->args->attention, h->batch, head);
    f->args = a;
    f->custom_path = a->additive ? additive_path(&packed_path) : packed_path;
    f->path = &f->custom_path;
    f->keys = t.keys;
    f->query = t.query;
    f->scores = t.scores;
    f->score_rows = BLOCK_KEYS;
    for (f->first = h->first; f->first < h->last; f->first += BACKWARD_QUERIES) {
      f->queries = h->last - f->first < BACKWARD_QUERIES ? h->last - f->first : BACKWARD_QUERIES;
      tile_backward(&t);
    }
  }
  kv_gradient_end(&j->kv_gradients, t.d_key, h);
}

static double assign_workspace(job *j, const hl_attention_backward_args *g, const schedule *s, float *workspace) {
  const hl_attention_args *a = &g->attention;
  backward_tile t;
  const double floats = assign_scratch(&t, a, NULL), rows = (double)a->batch * a->heads * s->parts;
  const part parts[] = {{&j->threads, floats * schedule_threads(s, a)},
                        {&j->kv_gradients.parts, kv_gradient_parts_floats(a, s->parts)},
                        {&j->kv_gradients.appended, kv_gradient_appended_floats(a)},
                        {&j->d_sinks, g->d_sinks ? rows : 0},
                        {&j->d_additive, a->additive ? rows * a->width : 0}};
  const double total = block_parts(workspace, parts, COUNT(parts));
  if (workspace) j->thread_floats = (size_t)floats;
  return total;
}

double attention_backward_workspace(const hl_attention_backward_args *args) {
  job j;
  const schedule s = schedule_backward(args, BACKWARD_QUERIES);
  return assign_workspace(&j, args, &s, NULL);
}

/* to(H,width) += factor · from(B,H,parts,width), summed over batch and parts in order. */
static void sum_parts(float *to, const float *from, const hl_attention_args *a, size_t parts, size_t width,
                      float factor) {
  for (size_t i = 0; i < a->heads * width; i++) {
    const size_t head = i / width * parts * width + i % width;
    float sum = 0;
    for (size_t b = 0; b < a->batch; b++) {
      for (size_t part = 0; part < parts; part++) sum += from[b * a->heads * parts * width + head + part * width];
    }
    to[i] += sum * factor;
  }
}

void attention_backward(const hl_attention_backward_args *args, float *workspace) {
  const schedule s = schedule_backward(args, BACKWARD_QUERIES);
  job j = {.args = args, .forward = args->attention, .kv_gradients = {.args = args, .part_count = s.parts}};
  const hl_attention_args *a = &j.forward;
  j.forward.scores_step = HL_SCORES_NONE;
  assign_workspace(&j, args, &s, workspace);
  const double work = 2.0 * a->batch * a->heads * a->queries * total_keys(a) * (3.0 * a->width + 2.0 * a->value_width);
  schedule_for_each_part(&s, a, head_backward, &j, work);
  if (s.parts > 1) schedule_for_each_head(a, kv_gradient_join, &j.kv_gradients, kv_gradient_parts_floats(a, s.parts));
  kv_gradient_sum_appended(&j.kv_gradients);
  if (args->d_sinks) sum_parts(args->d_sinks, j.d_sinks, a, s.parts, 1, 1);
  if (args->d_additive) sum_parts(args->d_additive, j.d_additive, a, s.parts, a->width, a->scale);
}

hl_status hl_attention_backward(const hl_attention_backward_args *args) {
  hl_status status = attention_backward_validate(args);
  if (status != HL_OK) return status;
  float *workspace = workspace_alloc(attention_backward_workspace(args));
  if (!workspace) return HL_OUT_OF_MEMORY;
  hl_attention_backward_args filled = *args;
  filled.attention = attention_fill_empty(&args->attention);
  filled.d_query = attention_nonnull(args->d_query);
  filled.d_key = attention_nonnull(args->d_key);
  filled.d_value = attention_nonnull(args->d_value);
  filled.d_output = attention_nonnull(args->d_output);
  attention_backward(&filled, workspace);
  workspace_free();
  return HL_OK;
}
