/* Scaled dot-product attention.
 *
 *   x       (B,T,C) ─Wq,Wk,Wv→ q,k,v   (B,H,T,D)   projections        gemm      (multihead.c)
 *   q·kᵀ·scale       →         scores  (B,H,T,S)   + mask             gemm
 *   softmax(scores)  →         weights (B,H,T,S)   rows sum to 1      softmax
 *   weights·v        →         heads   (B,T,H·D)   weighted values    gemm
 *   heads ─Wo→                 out     (B,T,C)     output             gemm      (multihead.c)
 *
 * This file holds the explicit path, in which a tile of whole score rows exists, and what stands around
 * both paths. Keys and values of one key/value head are packed once and serve every query head of its
 * group. Scores are kept transposed, scores[key][query]: then one kernel makes both products, the packed
 * form of the weights is what it has just written, and softmax never sums across lanes. */
#include "attention/attention.h"

#include "attention/validate.h"
#include "base/exp.h"
#include "base/panel.h"
#include "base/pool.h"
#include "base/tensor.h"
#include "kernels/dropout.h"

/* Keys per block of the streaming path: with 24 queries the block stays in the first-level cache.
 * A multiple of every TILE_ROWS. */
enum { STREAM_KEYS = 240 };

static void give_scores(const attention_tile *t, uint32_t panel, hl_scores step) {
  if (t->args->scores_step != step) return;
  uint32_t width = all_keys(t->args);
  panel_store(t->args->scores + tile_row(t, panel, true) * width, width, panel_scores(t, panel), width,
              panel_queries(t, panel));
}

/* Keys outside the span have weight 0. */
static void give_weights(const attention_tile *t, uint32_t panel, span keys) {
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

void attend_explicit(const attention_tile *t) {
  const hl_attention_args *args = t->args;
  span keys = args->scores_step ? (span){0, all_keys(args)} : tile_span(t);
  uint32_t count = keys.to - keys.from;
  softmax_state state;
  float inverse[TILE_COLS];
  tile_scores(t, keys);
  for (uint32_t p = 0; p < tile_panels(t); p++) {
    float *scores = panel_scores(t, p);
    uint32_t first = t->first + p * TILE_COLS, queries = panel_queries(t, p);
    give_scores(t, p, HL_SCORES_RAW);
    if (args->scores_step == HL_SCORES_RAW) panel_multiply(scores, count, args->scale);
    give_scores(t, p, HL_SCORES_SCALED);
    tile_softcap(t, p, count);
    give_scores(t, p, HL_SCORES_CAPPED);
    mask_panel(scores, args, t->batch, t->head, first, queries, keys.from, count);
    give_scores(t, p, HL_SCORES_MASKED);
    softmax_panel(scores, queries, count, t->base, &state, inverse);
    tile_statistics(t, p, state.max, inverse);
    dropout_panel(scores, args, t->batch, t->head, first, queries, keys.from, count);
    give_weights(t, p, keys);
  }
  tile_values(t, keys, NULL);
  for (uint32_t p = 0; p < tile_panels(t); p++) tile_output(t, p, NULL);
}

/* ---- around both paths ---- */

static bool is_explicit(const hl_attention_args *a) {
  return a->weights_mode != HL_WEIGHTS_NONE || a->scores_step != HL_SCORES_NONE;
}

/* One thread's part of the workspace. */
typedef struct {
  float *keys, *values, *query, *scores, *heads;
} parts_of_tile;

static double up(double n, double to) { return __builtin_ceil(n / to) * to; }

static bool is_direct(const hl_attention_args *a) { return a->queries == 1 && a->appended == 0; }

/* The rows of a panel of scores. */
static double score_rows(const hl_attention_args *a) {
  uint32_t keys = all_keys(a);
  return up(is_explicit(a) || keys < STREAM_KEYS ? keys : STREAM_KEYS, TILE_ROWS);
}

static double lay_out(parts_of_tile *t, const hl_attention_args *a, float *workspace) {
  double keys = all_keys(a), queries = a->queries < TILE_QUERIES ? up(a->queries, TILE_COLS) : TILE_QUERIES;
  bool packed = !is_direct(a);
  const part parts[] = {{&t->keys, packed ? up(keys, TILE_ROWS) * a->width : 0},
                        {&t->values, packed ? keys * up(a->value_width, TILE_ROWS) : 0},
                        {&t->query, queries * a->width},
                        {&t->scores, queries * score_rows(a)},
                        {&t->heads, queries * a->value_width}};
  return block_parts(workspace, parts, COUNT(parts));
}

/* How the work is shared out. A chunk is one batch entry, some key/value heads, some tiles of queries. The
 * mean of the weights is added up over the heads in their order, so there a chunk holds them all. Otherwise
 * it is one head; the queries are parted where the heads alone would leave workers idle, at the price of
 * packing the keys once more for every part. */
typedef struct {
  uint32_t heads, parts, part_queries;
} sharing;

enum { PART_QUERIES = 4 * TILE_QUERIES };

static sharing sharing_of(const hl_attention_args *a) {
  uint32_t heads = a->weights_mode == HL_WEIGHTS_MEAN ? a->kv_heads : 1;
  uint64_t groups = (uint64_t)a->batch * (a->kv_heads / heads), parts = 1, workers = pool_size();
  if (workers > 1 && groups < 8 * workers && groups > 0) {
    uint64_t most = ((uint64_t)a->queries + PART_QUERIES - 1) / PART_QUERIES;
    parts = (8 * workers + groups - 1) / groups;
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
  }
  uint64_t queries = ((a->queries + parts - 1) / parts + TILE_QUERIES - 1) / TILE_QUERIES * TILE_QUERIES;
  return (sharing){heads, (uint32_t)((a->queries + queries - 1) / (queries ? queries : 1)), (uint32_t)queries};
}

static uint32_t chunks_of(const hl_attention_args *a, sharing s) {
  return a->batch * (a->kv_heads / s.heads) * s.parts;
}

double attention_workspace(const hl_attention_args *args) {
  /* Any worker may take any chunk; a single one is the caller's. */
  parts_of_tile t;
  return lay_out(&t, args, NULL) * (chunks_of(args, sharing_of(args)) > 1 ? pool_size() : 1);
}

void attention_pack_appended(float *packed, const hl_attention_args *a, const float *appended, size_t width,
                             uint32_t kv_head) {
  for (size_t e = 0; e < a->appended; e++) {
    size_t row = a->keys + e, lane = row % TILE_ROWS;
    float *panel = packed + (row - lane) * width;
    const float *from = appended + (e * a->kv_heads + kv_head) * width;
    for (size_t i = 0; lane == 0 && i < width * TILE_ROWS; i++) panel[i] = 0;
    for (size_t d = 0; d < width; d++) panel[d * TILE_ROWS + lane] = from[d];
  }
}

/* Packs one key/value head; says whether its values are all finite. */
static bool pack_head(float *keys, float *values, const hl_attention_args *a, const float *key, const float *value,
                      uint32_t kv_head) {
  gemm_pack_rows(keys, TILE_ROWS, key, a->key_stride.row, a->keys, a->width, 1);
  bool finite_values = gemm_pack_columns(values, all_keys(a), 0, value, a->value_stride.row, a->keys, a->value_width);
  if (a->appended == 0) return finite_values;
  attention_pack_appended(keys, a, a->appended_key, a->width, kv_head);
  return gemm_pack_columns(values, all_keys(a), a->keys, a->appended_value + (size_t)kv_head * a->value_width,
                           (size_t)a->kv_heads * a->value_width, a->appended, a->value_width) &&
         finite_values;
}

softmax_base attention_base(const hl_attention_args *a) {
  bool as_they_are = a->scores_step != HL_SCORES_NONE || a->softcap != 0 || a->bias || a->fill > -__builtin_inff();
  return as_they_are ? SOFTMAX_OF_E : SOFTMAX_OF_2;
}

float tile_scale(const attention_tile *t) {
  const hl_attention_args *a = t->args;
  return a->scores_step == HL_SCORES_RAW ? 1 : t->base == SOFTMAX_OF_2 ? a->scale * LOG2_E : a->scale;
}

void tile_pack_query(const attention_tile *t) {
  const hl_attention_args *a = t->args;
  gemm_pack_rows(t->query, t->direct ? 1 : TILE_COLS, tile_from(t), a->query_stride.row, t->queries, a->width,
                 tile_scale(t));
}

typedef struct {
  const hl_attention_args *args;
  float *workspace;
  size_t thread_floats;
  sharing sharing;
} run;

/* One key/value head before the queries first..last−1 of each query head of its group. */
static void attend_head(const run *r, float *workspace, uint32_t batch, uint32_t kv_head, uint32_t first,
                        uint32_t last) {
  const hl_attention_args *args = r->args;
  parts_of_tile p;
  lay_out(&p, args, workspace);
  void (*attend)(const attention_tile *) = is_explicit(args) ? attend_explicit : attend_stream;
  uint32_t group = args->heads / args->kv_heads;
  const float *key = args->key + (size_t)batch * args->key_stride.batch + (size_t)kv_head * args->key_stride.head;
  const float *value =
      args->value + (size_t)batch * args->value_stride.batch + (size_t)kv_head * args->value_stride.head;
  bool direct = is_direct(args), few = few_queries(args) && (!mask_hides(args) || few_finite(args, value));
  bool as_given = direct || few, finite_values = !as_given && pack_head(p.keys, p.values, args, key, value, kv_head);
  for (uint32_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
    for (uint32_t t = first; t < last; t += TILE_QUERIES) {
      attention_tile tile = {args,
                             batch,
                             h,
                             t,
                             last - t < TILE_QUERIES ? last - t : TILE_QUERIES,
                             as_given ? key : p.keys,
                             as_given ? value : p.values,
                             direct,
                             few,
                             finite_values,
                             p.query,
                             attention_base(args),
                             p.scores,
                             p.heads,
                             (size_t)score_rows(args)};
      if (!few) tile_pack_query(&tile);
      attend(&tile);
    }
  }
}

static void attend_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const run *r = arg;
  const sharing *s = &r->sharing;
  uint32_t part = chunk % s->parts, group = chunk / s->parts, groups = r->args->kv_heads / s->heads;
  uint32_t first = part * s->part_queries, left = r->args->queries - first;
  uint32_t last = first + (left < s->part_queries ? left : s->part_queries);
  for (uint32_t i = 0; i < s->heads; i++) {
    attend_head(r, r->workspace + worker * r->thread_floats, group / groups, group % groups * s->heads + i, first,
                last);
  }
}

void attention_run(const hl_attention_args *args, float *workspace) {
  parts_of_tile t;
  run r = {args, workspace, (size_t)lay_out(&t, args, NULL), sharing_of(args)};
  if (args->queries == 0) return;
  double work =
      2.0 * args->batch * args->heads * args->queries * all_keys(args) * ((double)args->width + args->value_width);
  parallel_for(attend_chunk, &r, chunks_of(args, r.sharing), work);
}

/* Nothing to write: then any of the sizes may be too large to be counted with. */
static bool is_empty(const hl_attention_args *a) {
  bool columns = a->value_width > 0 || a->statistics || (is_explicit(a) && all_keys(a) > 0);
  return a->batch == 0 || a->queries == 0 || !columns;
}

/* A tensor without elements may have any address, NULL too, and any strides. They are set here to what can be counted
 * with, so that nothing else need ask. */
static void settle(const float **tensor, hl_stride *stride, bool empty) {
  if (empty) *stride = (hl_stride){0, 0, 0};
  *tensor = attention_address(*tensor);
}

hl_attention_args attention_settled(const hl_attention_args *args) {
  hl_attention_args a = *args;
  const float *output = a.output;
  settle(&output, &a.output_stride, a.value_width == 0);
  settle(&a.query, &a.query_stride, a.width == 0);
  settle(&a.key, &a.key_stride, a.keys == 0 || a.width == 0);
  settle(&a.value, &a.value_stride, a.keys == 0 || a.value_width == 0);
  a.output = (float *)output;
  a.weights = attention_address(a.weights);
  a.scores = attention_address(a.scores);
  a.appended_key = attention_address(a.appended_key);
  a.appended_value = attention_address(a.appended_value);
  return a;
}

hl_status hl_attention(const hl_attention_args *args) {
  hl_status status = attention_validate(args);
  if (status != HL_OK || is_empty(args)) return status;
  float *workspace = workspace_alloc(attention_workspace(args));
  if (!workspace) return HL_OUT_OF_MEMORY;
  hl_attention_args settled = attention_settled(args);
  attention_run(&settled, workspace);
  workspace_free();
  return HL_OK;
}

hl_status hl_cache_append(float *present, const float *past, const float *fresh, uint32_t batch, uint32_t kv_heads,
                          uint32_t past_keys, uint32_t keys, uint32_t width, uint32_t fresh_batch_stride,
                          uint32_t fresh_head_stride, uint32_t fresh_row_stride) {
  const hl_stride stride = {fresh_batch_stride, fresh_head_stride, fresh_row_stride};
  const size_t heads = (size_t)batch * kv_heads, past_size = (size_t)past_keys * width;
  if (!cache_fits(present, past, fresh, batch, kv_heads, past_keys, keys, width, &stride)) return HL_BAD_SHAPE;
  if (width == 0 || (past_keys == 0 && keys == 0)) return HL_OK;
  for (size_t i = 0; i < heads; i++) {
    float *to = present + i * (past_size + (size_t)keys * width);
    for (size_t j = 0; j < past_size; j++) to[j] = past[i * past_size + j];
    for (size_t s = 0; s < keys; s++) {
      const float *from = fresh + i / kv_heads * fresh_batch_stride + i % kv_heads * fresh_head_stride;
      for (size_t d = 0; d < width; d++) to[past_size + s * width + d] = from[s * fresh_row_stride + d];
    }
  }
  return HL_OK;
}
