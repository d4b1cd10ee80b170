/* Attention in reverse. A tile of queries meets the keys block by block once more, and each step of the forward
 * pass is undone in turn:
 *
 *   scores  = scale · q · kᵀ              dq = scale · dscores · k,  dk = scale · dscoresᵀ · q
 *   capped  = cap · tanh(scores / cap)    dscores = dcapped · (1 − (capped / cap)²)
 *   masked  = capped + bias, or fill      dbias = dcapped = dmasked, or 0 where fill stands
 *   weights = e^(masked − max) / sum      dmasked = weights · (dweights − delta),  delta = Σ weights · dweights
 *   dropped = weights · keep / (1 − p)    dweights = ddropped · keep / (1 − p)
 *   output  = dropped · v                 ddropped = doutput · vᵀ,  dv = droppedᵀ · doutput
 *
 * The weights are made again from the max and sum of their rows, so that none of size T·S is ever held; and
 * Σ weights · dweights over all the keys is doutput · output, known before the first of them.
 *
 * Products over the keys find their panels as the forward pass leaves them, panel[key][8 queries]; for products over
 * the queries each square of eight is turned, to panel[query][8 keys]. So one kernel makes all five. */
#include "attention/attention.h"
#include "attention/validate.h"
#include "base/panel.h"
#include "base/pool.h"
#include "base/tensor.h"
#include "kernels/dropout.h"

/* Queries of a tile and keys of a block: the depths of the products over them, deep enough that adding up the
 * results costs little, and small enough that three panels of scores stay in the second-level cache. Blocks start at
 * multiples of BLOCK_KEYS, which is one of every TILE_ROWS and of 8. */
enum { BLOCK_KEYS = 120, BACK_PANELS = 12, BACK_QUERIES = BACK_PANELS * TILE_COLS };

typedef struct {
  attention_tile forward; /* its scores become weights once more */
  const hl_attention_backward_args *args;
  const hl_attention_args *hide;      /* the forward arguments, as they put a 0 where a key is hidden */
  float *keys, *values, *key_columns; /* packed once for a head: rows, rows, columns */
  float *query, *query_columns, *d_output, *d_output_columns; /* packed for the tile: rows [panel][D][8], columns */
  float *scores, *d_scores, *turned; /* [panel][BLOCK_KEYS][8]; turned: [⌈keys/8⌉][queries][8] */
  float *d_query, *output;           /* [panel][D][8]; one panel, [Dv][8] */
  float *d_key, *d_value;            /* [⌈keys/8⌉][D][8], [⌈keys/8⌉][Dv][8], of all keys */
  float max[BACK_PANELS][TILE_COLS], inverse[BACK_PANELS][TILE_COLS], delta[BACK_PANELS][TILE_COLS];
} backward_tile;

static double up(double n, double to) { return __builtin_ceil(n / to) * to; }

/* Floats of the gradients of one key/value head, in panels. */
static double head_floats(const hl_attention_args *a) {
  return up(up(all_keys(a), TILE_COLS) * ((double)a->width + a->value_width), 16);
}

/* Cuts a worker's part of the workspace, or with a NULL one only counts it. */
static double lay_out(backward_tile *t, const hl_attention_args *a, float *workspace) {
  double keys = all_keys(a), queries = a->queries < BACK_QUERIES ? up(a->queries, TILE_COLS) : BACK_QUERIES;
  double rows = up(keys, TILE_ROWS), width = up(a->width, TILE_ROWS), value_width = up(a->value_width, TILE_ROWS);
  const part parts[] = {{&t->keys, rows * a->width},
                        {&t->values, rows * a->value_width},
                        {&t->key_columns, keys * width},
                        {&t->query, queries * a->width},
                        {&t->query_columns, queries * width},
                        {&t->d_output, queries * a->value_width},
                        {&t->d_output_columns, queries * value_width},
                        {&t->scores, queries * BLOCK_KEYS},
                        {&t->d_scores, queries * BLOCK_KEYS},
                        {&t->turned, queries * BLOCK_KEYS},
                        {&t->d_query, queries * a->width},
                        {&t->output, TILE_COLS * (double)a->value_width},
                        {&t->d_key, head_floats(a)}};
  return block_parts(workspace, parts, COUNT(parts));
}

static float *panel_of(const backward_tile *t, float *panels, uint32_t panel) {
  return panels + (size_t)panel * t->forward.score_rows * TILE_COLS;
}

static float *head_of(const float *tensor, const hl_stride *stride, uint32_t batch, uint32_t head) {
  return (float *)tensor + (size_t)batch * stride->batch + (size_t)head * stride->head;
}

/* 1 − (capped / cap)², of the scores after the cap. */
static void cap_slope(float *slope, const float *capped, size_t keys, float cap) {
  const vec inverse = vec_splat(1 / cap), one = vec_splat(1);
  for (size_t i = 0; i < keys * TILE_COLS; i += 4) {
    vec x = vec_mul(vec_load(capped + i), inverse);
    vec_store(slope + i, vec_sub(one, vec_mul(x, x)));
  }
}

/* panel = panel · slope; 0 stays 0, also where a hidden key has made the slope NaN. */
static void cap_backward(float *panel, const float *slope, size_t keys) {
  for (size_t i = 0; i < keys * TILE_COLS; i += 4) {
    vec x = vec_load(panel + i);
    vec_store(panel + i, vec_zero_where(vec_equal(x, vec_splat(0)), vec_mul(x, vec_load(slope + i))));
  }
}

/* The weights of a block before dropout, and in `turned` the slopes of the cap. */
static void weights_again(const backward_tile *t, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  uint32_t keys = block.to - block.from;
  tile_scores(f, block);
  for (uint32_t p = 0; p < tile_panels(f); p++) {
    float *scores = panel_scores(f, p);
    tile_softcap(f, p, keys);
    if (a->softcap > 0) cap_slope(panel_of(t, t->turned, p), scores, keys, a->softcap);
    mask_panel(scores, a, f->batch, f->head, f->first + p * TILE_COLS, panel_queries(f, p), block.from, keys);
    softmax_again(scores, keys, f->base, t->max[p], t->inverse[p]);
  }
}

static void drop(const backward_tile *t, float *panels, uint32_t panel, span block) {
  const attention_tile *f = &t->forward;
  dropout_panel(panel_of(t, panels, panel), f->args, f->batch, f->head, f->first + panel * TILE_COLS,
                panel_queries(f, panel), block.from, block.to - block.from);
}

/* Adds the given gradient of the returned weights; their mean is a share of every head. */
static void add_d_weights(const backward_tile *t, uint32_t panel, span block) {
  const attention_tile *f = &t->forward;
  bool mean = f->args->weights_mode == HL_WEIGHTS_MEAN;
  uint32_t width = all_keys(f->args);
  const float *from = t->args->d_weights + tile_row(f, panel, !mean) * width + block.from;
  panel_take(panel_of(t, t->d_scores, panel), from, width, block.to - block.from, panel_queries(f, panel),
             mean ? 1 / (float)f->args->heads : 1);
}

/* Packs the tile, and finds what its rows need: max and 1/sum of their softmax, and delta. */
static void begin_tile(backward_tile *t, span all) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  const float *query = head_of(a->query, &a->query_stride, f->batch, f->head) + (size_t)f->first * a->query_stride.row;
  const size_t row = a->output_stride.row, rows = (size_t)a->batch * a->heads * a->queries;
  const float *d_output = head_of(t->args->d_output, &a->output_stride, f->batch, f->head) + f->first * row;
  tile_pack_query(f);
  gemm_pack_columns(t->query_columns, f->queries, 0, query, a->query_stride.row, f->queries, a->width);
  gemm_pack_rows(t->d_output, TILE_COLS, d_output, row, f->queries, a->value_width, 1);
  gemm_pack_columns(t->d_output_columns, f->queries, 0, d_output, row, f->queries, a->value_width);
  for (uint32_t p = 0; p < tile_panels(f); p++) {
    const float *statistics = t->args->attention.statistics + tile_row(f, p, true);
    const float *output = head_of(a->output, &a->output_stride, f->batch, f->head) + (f->first + p * TILE_COLS) * row;
    for (uint32_t c = 0; c < TILE_COLS; c++) {
      bool row_exists = c < panel_queries(f, p);
      t->max[p][c] = row_exists ? statistics[c] : 0;
      t->inverse[p][c] = row_exists ? statistics[rows + c] : 0;
      t->delta[p][c] = 0;
    }
    gemm_pack_rows(t->output, TILE_COLS, output, row, panel_queries(f, p), a->value_width, 1);
    panel_dots(t->delta[p], t->d_output + p * a->value_width * TILE_COLS, t->output, a->value_width);
  }
  for (uint32_t from = all.from; t->args->d_weights && from < all.to; from += BLOCK_KEYS) {
    span block = {from, all.to - from < BLOCK_KEYS ? all.to : from + BLOCK_KEYS};
    weights_again(t, block);
    for (uint32_t p = 0; p < tile_panels(f); p++) {
      drop(t, t->scores, p, block);
      panel_zero(panel_of(t, t->d_scores, p), block.to - block.from);
      add_d_weights(t, p, block);
      panel_dots(t->delta[p], panel_of(t, t->scores, p), panel_of(t, t->d_scores, p), block.to - block.from);
    }
  }
}

static void add_d_bias(const backward_tile *t, uint32_t panel, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  const hl_broadcast *b = &a->bias_stride;
  const float *d_scores = panel_of(t, t->d_scores, panel);
  for (uint32_t c = 0; c < panel_queries(f, panel); c++) {
    float *to = t->args->d_bias + (size_t)f->batch * b->batch + (size_t)f->head * b->head +
                (size_t)(f->first + panel * TILE_COLS + c) * b->query;
    for (uint32_t s = block.from; s < block.to && s < a->keys; s++) {
      to[(size_t)s * b->key] += d_scores[(s - block.from) * TILE_COLS + c];
    }
  }
}

/* sum[⌈keys/8⌉][width][8] += columnsᵀ · panels over the queries of the tile, the panels turned. */
static void gather_keys(const backward_tile *t, float *sum, const float *columns, size_t width, float *panels,
                        span block) {
  const attention_tile *f = &t->forward;
  const size_t keys = block.to - block.from, squares = (keys + TILE_COLS - 1) / TILE_COLS,
               square = TILE_COLS * TILE_COLS;
  const uint32_t across = tile_panels(f);
  for (uint32_t p = 0; p < across; p++) {
    float *panel = panel_of(t, panels, p);
    panel_zero(panel + keys * TILE_COLS, squares * TILE_COLS - keys);
    for (size_t i = 0; i < squares; i++) panel_turn(t->turned + (i * across + p) * square, panel + i * square);
  }
  for (size_t i = 0; i < squares; i++) {
    tile_gather(sum + (block.from + i * TILE_COLS) * width, columns, f->queries, width, t->turned + i * across * square,
                f->queries);
  }
}

static void block_backward(const backward_tile *t, span block) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  uint32_t keys = block.to - block.from;
  weights_again(t, block);
  /* output = dropped · v */
  tile_product(f, block, t->d_scores, t->values, t->d_output, a->value_width);
  for (uint32_t p = 0; p < tile_panels(f); p++) {
    float *d_scores = panel_of(t, t->d_scores, p), *weights = panel_of(t, t->scores, p);
    if (t->args->d_weights) add_d_weights(t, p, block);
    /* dropped = weights · keep / (1 − p) */
    drop(t, t->d_scores, p, block);
    /* weights = e^(masked − max) / sum */
    softmax_backward(d_scores, weights, keys, t->delta[p]);
    drop(t, t->scores, p, block);
    /* masked = capped + bias, or fill */
    mask_panel(d_scores, t->hide, f->batch, f->head, f->first + p * TILE_COLS, panel_queries(f, p), block.from, keys);
    if (t->args->d_bias) add_d_bias(t, p, block);
    /* capped = cap · tanh(scores / cap) */
    if (a->softcap > 0) cap_backward(d_scores, panel_of(t, t->turned, p), keys);
  }
  gather_keys(t, t->d_value, t->d_output_columns, a->value_width, t->scores, block);
  /* scores = scale · q · kᵀ, the scale at the end */
  gather_keys(t, t->d_key, t->query_columns, a->width, t->d_scores, block);
  for (uint32_t p = 0; p < tile_panels(f); p++) {
    tile_gather(t->d_query + p * a->width * TILE_COLS, t->key_columns + (size_t)block.from * TILE_ROWS, all_keys(a),
                a->width, panel_of(t, t->d_scores, p), keys);
  }
}

static void tile_backward(backward_tile *t) {
  const attention_tile *f = &t->forward;
  const hl_attention_args *a = f->args;
  span all = tile_span(f);
  all.from -= all.from % BLOCK_KEYS;
  begin_tile(t, all);
  panel_zero(t->d_query, (size_t)tile_panels(f) * a->width);
  for (uint32_t from = all.from; from < all.to; from += BLOCK_KEYS) {
    block_backward(t, (span){from, all.to - from < BLOCK_KEYS ? all.to : from + BLOCK_KEYS});
  }
  float *to = head_of(t->args->d_query, &a->query_stride, f->batch, f->head) + (size_t)f->first * a->query_stride.row;
  for (uint32_t p = 0; p < tile_panels(f); p++) {
    float *d_query = t->d_query + p * a->width * TILE_COLS;
    panel_multiply(d_query, a->width, a->scale);
    panel_store(to + (size_t)p * TILE_COLS * a->query_stride.row, a->query_stride.row, d_query, a->width,
                panel_queries(f, p));
  }
}

/* ---- around the tiles ---- */

/* How the work is shared out. A chunk takes some batch entries and key/value heads: one of each, or all that add to
 * the same d_bias. Where these chunks are few, the queries are parted, and the parts of a head's d_key and d_value
 * added up in their order afterwards. The sizes alone decide, so that every number of threads gives the same bits. */
typedef struct {
  uint32_t batches, heads, parts, part_queries;
} sharing;

enum { LEAST_CHUNKS = 8, LEAST_PART = 2 * BACK_QUERIES };

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static sharing sharing_of(const hl_attention_backward_args *g) {
  const hl_attention_args *a = &g->attention;
  const hl_broadcast *b = &a->bias_stride;
  uint64_t heads = (uint64_t)a->batch * a->kv_heads, parts = 1,
           fit = ((uint64_t)a->queries + LEAST_PART - 1) / LEAST_PART;
  if (heads > 0 && !(g->d_bias && b->query == 0)) parts = most((LEAST_CHUNKS + heads - 1) / heads, 1);
  if (parts > fit) parts = most(fit, 1);
  uint64_t queries = ((a->queries + parts - 1) / parts + BACK_QUERIES - 1) / BACK_QUERIES * BACK_QUERIES;
  if (queries > 0) parts = most((a->queries + queries - 1) / queries, 1);
  uint32_t batches = g->d_bias && b->batch == 0 && a->batch ? a->batch : 1;
  return (sharing){batches, g->d_bias && b->head == 0 ? a->kv_heads : 1, (uint32_t)parts, (uint32_t)queries};
}

static uint32_t chunks_of(const hl_attention_args *a, sharing s) {
  return a->batch / s.batches * (a->kv_heads / s.heads) * s.parts;
}

typedef struct {
  const hl_attention_backward_args *args;
  hl_attention_args forward, hide;
  sharing sharing;
  size_t worker_floats;
  float *workers, *parts; /* gradients of heads, [B·G][parts], where there are several parts */
  float *appended;        /* [B][E][G·(D+Dv)] */
} run;

/* Any worker may take any chunk; a single one is the caller's. */
static uint32_t workers_of(const hl_attention_args *a, sharing s) { return chunks_of(a, s) > 1 ? pool_size() : 1; }

/* All of the workspace. */
static double lay_out_run(run *r, const hl_attention_args *a, float *workspace) {
  backward_tile t;
  double worker = lay_out(&t, a, NULL), heads = (double)a->batch * a->kv_heads;
  const part parts[] = {{&r->workers, worker * workers_of(a, r->sharing)},
                        {&r->parts, r->sharing.parts > 1 ? heads * r->sharing.parts * head_floats(a) : 0},
                        {&r->appended, heads * a->appended * ((double)a->width + a->value_width)}};
  double total = block_parts(workspace, parts, COUNT(parts));
  if (workspace) r->worker_floats = (size_t)worker;
  return total;
}

double attention_backward_workspace(const hl_attention_backward_args *args) {
  run r = {.sharing = sharing_of(args)};
  return lay_out_run(&r, &args->attention, NULL);
}

/* Keys S.. of one head, (E, width), from its panels. */
static void store_appended(float *to, size_t stride, const float *panels, const hl_attention_args *a, size_t width) {
  for (size_t e = 0; e < a->appended; e++) {
    size_t key = a->keys + e, lane = key % TILE_COLS;
    for (size_t d = 0; d < width; d++) to[e * stride + d] = panels[(key - lane) * width + d * TILE_COLS + lane];
  }
}

static void store_keys(float *to, size_t stride, float *panels, const hl_attention_args *a, size_t width,
                       float factor) {
  panel_multiply(panels, ((size_t)all_keys(a) + TILE_COLS - 1) / TILE_COLS * width, factor);
  for (size_t s = 0; s < a->keys; s += TILE_COLS) {
    panel_store(to + s * stride, stride, panels + s * width, width, a->keys - s < TILE_COLS ? a->keys - s : TILE_COLS);
  }
}

static void store_head(const run *r, float *d_key, uint32_t batch, uint32_t kv_head) {
  const hl_attention_args *a = &r->forward;
  float *d_value = d_key + (size_t)up(all_keys(a), TILE_COLS) * a->width;
  size_t keys_row = (size_t)a->kv_heads * a->width, row = keys_row + (size_t)a->kv_heads * a->value_width;
  float *appended = r->appended + (size_t)batch * a->appended * row;
  store_keys(head_of(r->args->d_key, &a->key_stride, batch, kv_head), a->key_stride.row, d_key, a, a->width, a->scale);
  store_keys(head_of(r->args->d_value, &a->value_stride, batch, kv_head), a->value_stride.row, d_value, a,
             a->value_width, 1);
  store_appended(appended + (size_t)kv_head * a->width, row, d_key, a, a->width);
  store_appended(appended + keys_row + (size_t)kv_head * a->value_width, row, d_value, a, a->value_width);
}

/* A key that is not finite makes NaN of the weights of whoever sees it, and so of their gradients. Whoever does not
 * must not meet it: 0 · NaN is NaN. */
static void scrub(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!__builtin_isfinite(x[i])) x[i] = 0;
  }
}

static void pack_head(const backward_tile *t, const hl_attention_args *a, uint32_t batch, uint32_t kv_head) {
  const float *key = head_of(a->key, &a->key_stride, batch, kv_head),
              *value = head_of(a->value, &a->value_stride, batch, kv_head);
  uint32_t keys = all_keys(a);
  gemm_pack_rows(t->keys, TILE_ROWS, key, a->key_stride.row, a->keys, a->width, 1);
  gemm_pack_rows(t->values, TILE_ROWS, value, a->value_stride.row, a->keys, a->value_width, 1);
  bool finite = gemm_pack_columns(t->key_columns, keys, 0, key, a->key_stride.row, a->keys, a->width);
  if (a->appended) {
    attention_pack_appended(t->keys, a, a->appended_key, a->width, kv_head);
    attention_pack_appended(t->values, a, a->appended_value, a->value_width, kv_head);
    finite = gemm_pack_columns(t->key_columns, keys, a->keys, a->appended_key + (size_t)kv_head * a->width,
                               (size_t)a->kv_heads * a->width, a->appended, a->width) &&
             finite;
  }
  if (!finite) scrub(t->key_columns, keys * round_up(a->width, TILE_ROWS));
}

/* One key/value head before the queries first..last−1 of each query head of its group. */
static void head_backward(const run *r, float *workspace, uint32_t batch, uint32_t kv_head, uint32_t part) {
  const hl_attention_args *a = &r->forward;
  const sharing *s = &r->sharing;
  uint32_t group = a->heads / a->kv_heads, first = part * s->part_queries;
  uint32_t last = a->queries - first < s->part_queries ? a->queries : first + s->part_queries;
  backward_tile t = {.args = r->args, .hide = &r->hide};
  lay_out(&t, a, workspace);
  if (s->parts > 1)
    t.d_key = r->parts + (((size_t)batch * a->kv_heads + kv_head) * s->parts + part) * (size_t)head_floats(a);
  t.d_value = t.d_key + (size_t)up(all_keys(a), TILE_COLS) * a->width;
  panel_zero(t.d_key, (size_t)head_floats(a) / TILE_COLS);
  pack_head(&t, a, batch, kv_head);
  for (uint32_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
    for (uint32_t q = first; q < last; q += BACK_QUERIES) {
      t.forward = (attention_tile){.args = a,
                                   .batch = batch,
                                   .head = h,
                                   .first = q,
                                   .keys = t.keys,
                                   .query = t.query,
                                   .queries = last - q < BACK_QUERIES ? last - q : BACK_QUERIES,
                                   .base = attention_base(&r->args->attention),
                                   .scores = t.scores,
                                   .score_rows = BLOCK_KEYS};
      tile_backward(&t);
    }
  }
  if (s->parts == 1) store_head(r, t.d_key, batch, kv_head);
}

static void backward_chunk(void *arg, uint32_t chunk, uint32_t worker) {
  const run *r = arg;
  const sharing *s = &r->sharing;
  uint32_t part = chunk % s->parts, group = chunk / s->parts, groups = r->forward.kv_heads / s->heads;
  uint32_t batch = group / groups * s->batches, head = group % groups * s->heads;
  for (uint32_t b = batch; b < batch + s->batches; b++) {
    for (uint32_t g = head; g < head + s->heads; g++) {
      head_backward(r, r->workers + worker * r->worker_floats, b, g, part);
    }
  }
}

static void join_parts(void *arg, uint32_t chunk, uint32_t worker) {
  const run *r = arg;
  size_t floats = (size_t)head_floats(&r->forward);
  float *sum = r->parts + (size_t)chunk * r->sharing.parts * floats;
  (void)worker;
  for (size_t part = 1; part < r->sharing.parts; part++) panel_sum(sum, sum + part * floats, floats / TILE_COLS);
  store_head(r, sum, chunk / r->forward.kv_heads, chunk % r->forward.kv_heads);
}

static void sum_appended(float *to, const run *r, size_t from, size_t width) {
  const hl_attention_args *a = &r->forward;
  size_t row = (size_t)a->kv_heads * ((size_t)a->width + a->value_width);
  for (size_t e = 0; to && e < a->appended; e++) {
    for (size_t i = 0; i < width; i++) {
      float sum = 0;
      for (size_t b = 0; b < a->batch; b++) sum += r->appended[(b * a->appended + e) * row + from + i];
      to[e * width + i] = sum;
    }
  }
}

void attention_backward_run(const hl_attention_backward_args *args, float *workspace) {
  run r = {.args = args, .forward = args->attention, .sharing = sharing_of(args)};
  const hl_attention_args *a = &r.forward;
  r.forward.scores_step = HL_SCORES_NONE;
  r.hide = r.forward;
  r.hide.bias = NULL;
  r.hide.fill = 0;
  lay_out_run(&r, a, workspace);
  double work = 2.0 * a->batch * a->heads * a->queries * all_keys(a) * (3.0 * a->width + 2.0 * a->value_width);
  parallel_for(backward_chunk, &r, chunks_of(a, r.sharing), work);
  if (r.sharing.parts > 1) {
    double sums = (double)a->batch * a->kv_heads * r.sharing.parts * head_floats(a);
    parallel_for(join_parts, &r, a->batch * a->kv_heads, sums);
  }
  sum_appended(args->d_appended_key, &r, 0, (size_t)a->kv_heads * a->width);
  sum_appended(args->d_appended_value, &r, (size_t)a->kv_heads * a->width, (size_t)a->kv_heads * a->value_width);
}

hl_status hl_attention_backward(const hl_attention_backward_args *args) {
  hl_status status = attention_backward_validate(args);
  if (status != HL_OK) return status;
  float *workspace = workspace_alloc(attention_backward_workspace(args));
  if (!workspace) return HL_OUT_OF_MEMORY;
  hl_attention_backward_args settled = *args;
  settled.attention = attention_settled(&args->attention);
  settled.d_query = attention_address(args->d_query);
  settled.d_key = attention_address(args->d_key);
  settled.d_value = attention_address(args->d_value);
  settled.d_output = attention_address(args->d_output);
  attention_backward_run(&settled, workspace);
  workspace_free();
  return HL_OK;
}
