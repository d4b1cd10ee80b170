/* Scaled dot-product attention.
 *
 *   x       (B,T,C) ─Wq,Wk,Wv→ q,k,v   (B,H,T,D)   projections        gemm      (multihead.c)
 *   q·kᵀ·scale       →         scores  (B,H,T,S)   + mask             gemm
 *   softmax(scores)  →         weights (B,H,T,S)   rows sum to 1      softmax
 *   weights·v        →         heads   (B,T,H·D)   weighted values    gemm
 *   heads ─Wo→                 out     (B,T,C)     output             gemm      (multihead.c)
 *
 * Additive scores are in additive.c.
 *
 * This file contains the explicit computation, which is used if scores or weights are requested or passed as an input.
 * It processes whole rows of scores, for one tile of queries at a time. All other calls use stream.c, which processes
 * one block of keys at a time. */
#include "attention/attention.h"

#include "attention/additive.h"
#include "attention/few_queries.h"
#include "attention/packed_keys.h"
#include "attention/schedule.h"
#include "attention/single_query.h"
#include "attention/stream.h"
#include "attention/validate.h"
#include "base/panel.h"
#include "base/tensor.h"

static void store_scores(const attention_tile *t, hl_scores step) {
  if (t->args->scores_step != step) return;
  const uint32_t width = total_keys(t->args);
  for (uint32_t p = 0; p < tile_panel_count(t); p++) {
    panel_store(t->args->scores + tile_row(t, p, true) * width, width, panel_scores(t, p), width, panel_queries(t, p));
  }
}

/* Stores the weights of a panel; keys outside the span have weight 0. */
static void store_weights(const attention_tile *t, uint32_t panel, span keys) {
  const hl_attention_args *args = t->args;
  if (args->weights_mode == HL_WEIGHTS_NONE) return;
  bool mean = args->weights_mode == HL_WEIGHTS_MEAN;
  uint32_t width = total_keys(args), queries = panel_queries(t, panel);
  float *weights = args->weights + tile_row(t, panel, !mean) * width;
  if (!mean || t->head == 0) {
    for (size_t c = 0; c < queries; c++) {
      for (size_t s = 0; s < keys.from; s++) weights[c * width + s] = 0;
      for (size_t s = mean ? keys.from : keys.to; s < width; s++) weights[c * width + s] = 0;
    }
  }
  if (mean)
    panel_add_to_rows(weights + keys.from, width, panel_scores(t, panel), keys.to - keys.from, queries,
                      1 / (float)args->heads);
  else panel_store(weights + keys.from, width, panel_scores(t, panel), keys.to - keys.from, queries);
}

/* Applies the scale if raw scores are requested. Otherwise the packed queries already include the scale. */
static void scale_scores(const attention_tile *t, span keys) {
  if (t->args->scores_step != HL_SCORES_RAW) return;
  for (uint32_t p = 0; p < tile_panel_count(t); p++)
    panel_multiply(panel_scores(t, p), keys.to - keys.from, t->args->scale);
}

static void softmax_scores(const attention_tile *t, uint32_t panel, span keys) {
  softmax_state state;
  float inverse[TILE_COLS];
  softmax_panel(panel_scores(t, panel), panel_queries(t, panel), keys.to - keys.from, t->base, t->sink, &state,
                inverse);
  tile_statistics(t, panel, state.max, inverse);
}

/* q·kᵀ·scale → scores. Stores the scores after the step that the caller has requested. */
static void make_scores(const attention_tile *t, span keys) {
  t->path->scores(t, keys);
  store_scores(t, HL_SCORES_RAW);
  scale_scores(t, keys);
  store_scores(t, HL_SCORES_SCALED);
  tile_softcap(t, keys);
  store_scores(t, HL_SCORES_CAPPED);
  tile_mask(t, keys);
  store_scores(t, HL_SCORES_MASKED);
}

/* Packs the caller's scores or weights, (B,H,T,S+E), into the panels. Returns the span of keys to be processed: `keys`,
 * extended to every key whose value differs from `empty` for any query. The span starts at a multiple of TILE_ROWS. */
static span read_given(const attention_tile *t, const float *given, float empty, span keys) {
  const size_t width = total_keys(t->args);
  const float *rows = given + tile_row(t, 0, true) * width;
  for (size_t c = 0; c < t->queries; c++, rows += width) {
    for (uint32_t s = 0; s < keys.from; s++) {
      if (rows[s] != empty) keys.from = s - s % TILE_ROWS;
    }
    for (uint32_t s = (uint32_t)width; s > keys.to; s--) {
      if (rows[s - 1] != empty) keys.to = s;
    }
  }
  rows = given + tile_row(t, 0, true) * width + keys.from;
  for (uint32_t p = 0; p < tile_panel_count(t); p++, rows += TILE_COLS * width)
    gemm_pack_rows(panel_scores(t, p), TILE_COLS, rows, width, panel_queries(t, p), keys.to - keys.from, 1);
  return keys;
}

/* Computes the outputs of a tile from whole rows of scores. Each step uses the same span of keys, no matter which
 * tensors are requested or passed as an input, so that the output has the same bits. */
static void attend_explicit(const attention_tile *original) {
  const hl_attention_args *a = original->args;
  attention_tile tile = *original, *t = &tile;
  span keys = tile_span(t);
  if (a->weights_mode == HL_WEIGHTS_GIVEN) {
    keys = read_given(t, a->weights, 0, keys);
  } else {
    if (a->scores_step == HL_SCORES_GIVEN) {
      keys = read_given(t, a->scores, -__builtin_inff(), keys);
    } else {
      const span all = a->scores_step ? (span){0, total_keys(a)} : keys;
      make_scores(t, all);
      t->scores += (size_t)(keys.from - all.from) * TILE_COLS;
    }
    for (uint32_t p = 0; p < tile_panel_count(t); p++) {
      /* softmax(scores) → weights */
      softmax_scores(t, p, keys);
      tile_dropout(t, panel_scores(t, p), p, keys);
      store_weights(t, p, keys);
    }
  }
  /* weights·v → heads */
  t->path->values(t, keys, NULL);
  for (uint32_t p = 0; p < tile_panel_count(t); p++) t->path->output(t, p, NULL);
}

/* ---- around the tiles ---- */

static bool is_explicit(const hl_attention_args *a) {
  return a->weights_mode != HL_WEIGHTS_NONE || a->scores_step != HL_SCORES_NONE;
}

static size_t score_rows(const hl_attention_args *a) {
  const uint32_t keys = total_keys(a), block = is_single_query(a) ? SINGLE_QUERY_STREAM_KEYS : STREAM_KEYS;
  return round_up(is_explicit(a) || keys < block ? keys : block, TILE_ROWS);
}

/* The workspace of one thread. */
typedef struct {
  float *keys, *values; /* keys and values of one head, packed as in packed_keys.h */
  float *query;         /* [panel][D][8] */
  float *scores;        /* [panel][score_rows][8] */
  float *heads;         /* [panel][Dv][8] */
} thread_buffers;

static double assign_scratch(thread_buffers *buffers, const hl_attention_args *a, float *workspace) {
  const double queries = a->queries < TILE_QUERIES ? (double)round_up(a->queries, TILE_COLS) : TILE_QUERIES;
  const bool packed = !is_single_query(a);
  const part parts[] = {{&buffers->keys, packed ? packed_keys_floats(a) : 0},
                        {&buffers->values, packed ? packed_values_floats(a) : 0},
                        {&buffers->query, queries * a->width},
                        {&buffers->scores, queries * (double)score_rows(a)},
                        {&buffers->heads, queries * a->value_width}};
  return block_parts(workspace, parts, COUNT(parts));
}

typedef struct {
  const hl_attention_args *args;
  thread_buffers first; /* buffers of thread 0 */
  size_t thread_floats, score_rows;
} job;

/* Chooses the path for a group of query heads, and prepares their keys and values. To be called for the first head of
 * the group. */
static void choose_path(attention_tile *t, const job *j, size_t offset, uint32_t kv_head) {
  const hl_attention_args *a = j->args;
  float *keys = j->first.keys + offset, *values = j->first.values + offset;
  const float *value = head_start(a->value, &a->value_stride, t->batch, kv_head);
  const bool row = is_single_query(a);
  if (row || is_few_queries(t, value)) {
    t->path = a->key_type ? &narrow_keys_path : row ? &single_query_path : &few_queries_path;
    t->keys = head_start(a->key, &a->key_stride, t->batch, kv_head);
    t->values = value;
  } else {
    t->path = packed_pack(a, t->batch, kv_head, keys, values);
    t->keys = keys;
    t->values = values;
    if (a->additive) {
      t->custom_path = additive_path(t->path);
      t->path = &t->custom_path;
    }
  }
}

/* Computes the outputs of some queries, for each query head that uses one key/value head. */
static void attend_head(const void *arg, uint32_t thread, const head_part *h) {
  const job *j = arg;
  const hl_attention_args *a = j->args;
  const size_t offset = thread * j->thread_floats;
  const uint32_t group = a->heads / a->kv_heads, first = h->kv_head * group;
  attention_tile t;
  t.query = j->first.query + offset;
  t.scores = j->first.scores + offset;
  t.heads = j->first.heads + offset;
  t.score_rows = j->score_rows;
  for (uint32_t head = first; head < first + group; head++) {
    tile_set_head(&t, a, h->batch, head);
    if (head == first) choose_path(&t, j, offset, h->kv_head);
    for (t.first = h->first; t.first < h->last; t.first += t.queries) {
      t.queries = is_single_query(a) ? 1 : h->last - t.first < TILE_QUERIES ? h->last - t.first : TILE_QUERIES;
      t.path->queries(&t);
      if (is_explicit(a)) attend_explicit(&t);
      else attend_stream(&t);
    }
  }
}

double attention_workspace(const hl_attention_args *args) {
  thread_buffers buffers;
  const schedule s = schedule_forward(args, TILE_QUERIES);
  return assign_scratch(&buffers, args, NULL) * schedule_threads(&s, args);
}

/* Fewer than MIN_WORK_QUERIES queries take as long as MIN_WORK_QUERIES, because they wait for the keys and values from
 * memory. */
enum { MIN_WORK_QUERIES = 4 };

void attention_forward(const hl_attention_args *args, float *workspace) {
  if (args->queries == 0) return;
  const schedule s = schedule_forward(args, TILE_QUERIES);
  job j = {.args = args, .score_rows = score_rows(args)};
  j.thread_floats = (size_t)assign_scratch(&j.first, args, workspace);
  const double widths = (double)args->width + args->value_width,
               queries = args->queries < MIN_WORK_QUERIES ? MIN_WORK_QUERIES : args->queries;
  schedule_for_each_part(&s, args, attend_head, &j,
                         2.0 * args->batch * args->heads * queries * total_keys(args) * widths);
}

/* True if there is nothing to write. In this case the other sizes may be too large for size_t arithmetic. */
static bool is_empty(const hl_attention_args *a) {
  return a->batch == 0 || a->queries == 0 ||
         (a->value_width == 0 && !a->statistics && (!is_explicit(a) || total_keys(a) == 0));
}

hl_status hl_attention(const hl_attention_args *args) {
  hl_status status = attention_validate(args);
  if (status != HL_OK || is_empty(args)) return status;
  float *workspace = workspace_alloc(attention_workspace(args));
  if (!workspace) return HL_OUT_OF_MEMORY;
  if (args->width && args->keys && args->value_width) {
    attention_forward(args, workspace);
  } else {
    const hl_attention_args filled = attention_fill_empty(args);
    attention_forward(&filled, workspace);
  }
  workspace_free();
  return HL_OK;
}
