/* Scaled dot-product attention.
 *
 *   x       (B,T,C) ─Wq,Wk,Wv→ q,k,v   (B,H,T,D)   projections        gemm      (multihead.c)
 *   q·kᵀ·scale       →         scores  (B,H,T,S)   + mask             gemm
 *   softmax(scores)  →         weights (B,H,T,S)   rows sum to 1      softmax
 *   weights·v        →         heads   (B,T,H·D)   weighted values    gemm
 *   heads ─Wo→                 out     (B,T,C)     output             gemm      (multihead.c)
 *
 * additive.c has scores of another kind.
 *
 * The explicit way, here, makes whole rows of scores, of a tile of queries at a time, where the caller asks for scores
 * or weights. Else stream.c takes one block of the keys at a time. */
#include "attention/attention.h"

#include "attention/additive.h"
#include "attention/few.h"
#include "attention/packed.h"
#include "attention/row.h"
#include "attention/schedule.h"
#include "attention/stream.h"
#include "attention/validate.h"
#include "base/panel.h"
#include "base/tensor.h"

static void store_scores(const attention_tile *t, hl_scores step) {
  if (t->args->scores_step != step) return;
  const uint32_t width = all_keys(t->args);
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    panel_store(t->args->scores + tile_row(t, p, true) * width, width, panel_scores(t, p), width, panel_queries(t, p));
  }
}

/* Keys outside the span have weight 0. */
static void store_weights(const attention_tile *t, uint32_t panel, span keys) {
  const hl_attention_args *args = t->args;
  if (args->weights_mode == HL_WEIGHTS_NONE) return;
  bool mean = args->weights_mode == HL_WEIGHTS_MEAN;
  uint32_t width = all_keys(args), queries = panel_queries(t, panel);
  float *weights = args->weights + tile_row(t, panel, !mean) * width;
  if (!mean || t->head == 0) {
    for (size_t c = 0; c < queries; c++) {
      for (size_t s = 0; s < keys.from; s++) weights[c * width + s] = 0;
      for (size_t s = mean ? keys.from : keys.to; s < width; s++) weights[c * width + s] = 0;
    }
  }
  if (mean)
    panel_add(weights + keys.from, width, panel_scores(t, panel), keys.to - keys.from, queries, 1 / (float)args->heads);
  else panel_store(weights + keys.from, width, panel_scores(t, panel), keys.to - keys.from, queries);
}

/* Raw scores are not scaled yet. */
static void scale_scores(const attention_tile *t, span keys) {
  if (t->args->scores_step != HL_SCORES_RAW) return;
  for (uint32_t p = 0; p < tile_panels(t); p++) panel_multiply(panel_scores(t, p), keys.to - keys.from, t->args->scale);
}

static void softmax_of_panel(const attention_tile *t, uint32_t panel, span keys) {
  softmax_state state;
  float inverse[TILE_COLS];
  softmax_panel(panel_scores(t, panel), panel_queries(t, panel), keys.to - keys.from, t->base, t->sink, &state,
                inverse);
  tile_statistics(t, panel, state.max, inverse);
}

/* q·kᵀ·scale → scores, at every step the caller's where it has asked for them. */
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

/* What the caller gives, scores or weights, becomes the panels; gives the keys that are not `nothing` to every query,
 * and those of the span, from a multiple of TILE_ROWS on. */
static span read_given(const attention_tile *t, const float *given, float nothing, span keys) {
  const size_t width = all_keys(t->args);
  const float *rows = given + tile_row(t, 0, true) * width;
  for (size_t c = 0; c < t->queries; c++, rows += width) {
    for (uint32_t s = 0; s < keys.from; s++) {
      if (rows[s] != nothing) keys.from = s - s % TILE_ROWS;
    }
    for (uint32_t s = (uint32_t)width; s > keys.to; s--) {
      if (rows[s - 1] != nothing) keys.to = s;
    }
  }
  rows = given + tile_row(t, 0, true) * width + keys.from;
  for (uint32_t p = 0; p < tile_panels(t); p++, rows += TILE_COLS * width)
    gemm_pack_rows(panel_scores(t, p), TILE_COLS, rows, width, panel_queries(t, p), keys.to - keys.from, 1);
  return keys;
}

/* Whatever is asked for or given, the same keys take part in each step: the bits are the same. */
static void attend_explicit(const attention_tile *whole) {
  const hl_attention_args *a = whole->args;
  attention_tile tile = *whole, *t = &tile;
  span keys = tile_span(t);
  if (a->weights_mode == HL_WEIGHTS_GIVEN) {
    keys = read_given(t, a->weights, 0, keys);
  } else {
    if (a->scores_step == HL_SCORES_GIVEN) {
      keys = read_given(t, a->scores, -__builtin_inff(), keys);
    } else {
      const span all = a->scores_step ? (span){0, all_keys(a)} : keys;
      make_scores(t, all);
      t->scores += (size_t)(keys.from - all.from) * TILE_COLS;
    }
    for (uint32_t p = 0; p < tile_panels(t); p++) {
      /* softmax(scores) → weights */
      softmax_of_panel(t, p, keys);
      tile_dropout(t, panel_scores(t, p), p, keys);
      store_weights(t, p, keys);
    }
  }
  /* weights·v → heads */
  t->path->values(t, keys, NULL);
  for (uint32_t p = 0; p < tile_panels(t); p++) t->path->output(t, p, NULL);
}

/* ---- around the tiles ---- */

static bool is_explicit(const hl_attention_args *a) {
  return a->weights_mode != HL_WEIGHTS_NONE || a->scores_step != HL_SCORES_NONE;
}

static size_t score_rows(const hl_attention_args *a) {
  const uint32_t keys = all_keys(a), block = row_takes(a) ? ROW_STREAM_KEYS : STREAM_KEYS;
  return round_up(is_explicit(a) || keys < block ? keys : block, TILE_ROWS);
}

/* The workspace of one thread. */
typedef struct {
  float *keys, *values, *query, *scores, *heads;
} room;

static double lay_out(room *r, const hl_attention_args *a, float *workspace) {
  const double queries = a->queries < TILE_QUERIES ? (double)round_up(a->queries, TILE_COLS) : TILE_QUERIES;
  const bool packed = !row_takes(a);
  const part parts[] = {{&r->keys, packed ? packed_keys_floats(a) : 0},
                        {&r->values, packed ? packed_values_floats(a) : 0},
                        {&r->query, queries * a->width},
                        {&r->scores, queries * (double)score_rows(a)},
                        {&r->heads, queries * a->value_width}};
  return block_parts(workspace, parts, COUNT(parts));
}

typedef struct {
  const hl_attention_args *args;
  room first; /* of thread 0 */
  size_t thread_floats, score_rows;
} run;

/* The keys and values of a group of heads, whose first this is, as their path reads them. */
static void choose_path(attention_tile *t, const run *r, size_t room, uint32_t kv_head) {
  const hl_attention_args *a = r->args;
  float *keys = r->first.keys + room, *values = r->first.values + room;
  const float *value = head_of(a->value, &a->value_stride, t->batch, kv_head);
  const bool row = row_takes(a);
  if (row || few_take(t, value)) {
    t->path = row ? &row_path : &few_path;
    t->keys = head_of(a->key, &a->key_stride, t->batch, kv_head);
    t->values = value;
  } else {
    t->path = packed_pack(a, t->batch, kv_head, keys, values);
    t->keys = keys;
    t->values = values;
    if (a->additive) {
      t->own = additive_path(t->path);
      t->path = &t->own;
    }
  }
}

/* One key/value head before some queries of each query head of its group. */
static void attend_head(const void *arg, uint32_t thread, const head_part *h) {
  const run *r = arg;
  const hl_attention_args *a = r->args;
  const size_t room = thread * r->thread_floats;
  const uint32_t group = a->heads / a->kv_heads, first = h->kv_head * group;
  attention_tile t;
  t.query = r->first.query + room;
  t.scores = r->first.scores + room;
  t.heads = r->first.heads + room;
  t.score_rows = r->score_rows;
  for (uint32_t head = first; head < first + group; head++) {
    tile_set_head(&t, a, h->batch, head);
    if (head == first) choose_path(&t, r, room, h->kv_head);
    for (t.first = h->first; t.first < h->last; t.first += TILE_QUERIES) {
      t.queries = h->last - t.first < TILE_QUERIES ? h->last - t.first : TILE_QUERIES;
      t.path->queries(&t);
      if (is_explicit(a)) attend_explicit(&t);
      else attend_stream(&t);
    }
  }
}

double attention_workspace(const hl_attention_args *args) {
  room r;
  const schedule s = schedule_forward(args, TILE_QUERIES);
  return lay_out(&r, args, NULL) * schedule_threads(&s, args);
}

/* Fewer queries take as long as so many: they wait for the keys and values. */
enum { AS_LONG_AS = 4 };

void attention_run(const hl_attention_args *args, float *workspace) {
  if (args->queries == 0) return;
  const schedule s = schedule_forward(args, TILE_QUERIES);
  run r = {.args = args, .score_rows = score_rows(args)};
  r.thread_floats = (size_t)lay_out(&r.first, args, workspace);
  const double widths = (double)args->width + args->value_width,
               queries = args->queries < AS_LONG_AS ? AS_LONG_AS : args->queries;
  schedule_run(&s, args, attend_head, &r, 2.0 * args->batch * args->heads * queries * all_keys(args) * widths);
}

/* Nothing to write: then any of the sizes may be too large to be counted with. */
static bool is_empty(const hl_attention_args *a) {
  return a->batch == 0 || a->queries == 0 ||
         (a->value_width == 0 && !a->statistics && (!is_explicit(a) || all_keys(a) == 0));
}

hl_status hl_attention(const hl_attention_args *args) {
  hl_status status = attention_validate(args);
  if (status != HL_OK || is_empty(args)) return status;
  float *workspace = workspace_alloc(attention_workspace(args));
  if (!workspace) return HL_OUT_OF_MEMORY;
  if (args->width && args->keys && args->value_width) {
    attention_run(args, workspace);
  } else {
    const hl_attention_args settled = attention_settle(args);
    attention_run(&settled, workspace);
  }
  workspace_free();
  return HL_OK;
}
