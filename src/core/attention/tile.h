/* A tile: some queries of one head before the keys and values of their key/value head. And what every way of reading
 * them shares. Scores are kept transposed, panel[key][8 queries]. */
#ifndef HL_TILE_H
#define HL_TILE_H

#include "headlight.h"
#include "kernels/dropout.h"
#include "kernels/gemm.h"
#include "kernels/mask.h"
#include "kernels/softmax.h"

/* Up to three panels of eight queries share each pass over the keys. */
enum { TILE_PANELS = 3, TILE_QUERIES = TILE_PANELS * TILE_COLS };

/* Depth of one pass of the value product: half of it would cost 2%, twice as much half of the exactness. */
enum { VALUE_DEPTH = 120 };

typedef struct attention_tile attention_tile;

/* How queries, keys and values are read: chosen once for a head. Each works on a span of the keys, whose start is a
 * multiple of TILE_ROWS, and score row 0 is its first. */
typedef struct attention_path {
  /* Makes the queries ready. */
  void (*queries)(const attention_tile *t);
  /* scores = scale · q · kᵀ */
  void (*scores)(const attention_tile *t, span keys);
  /* heads = weights · v; with a factor for every query of every panel, heads · factor + weights · v. */
  void (*values)(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]);
  /* output(queries, Dv) = the heads of a panel, each query times its factor; NULL is 1. False where a number of them
   * may be NaN or infinite. */
  bool (*output)(const attention_tile *t, uint32_t panel, const float *factor);
} attention_path;

struct attention_tile {
  const hl_attention_args *args;
  const attention_path *path;
  attention_path own;                   /* where the path is put together for this tile */
  uint32_t batch, head, first, queries; /* queries first..first+queries−1 of this head */
  visibility visible;
  dropout drop;
  const float *keys;   /* as the path reads them: packed rows [⌈S/TILE_ROWS⌉][D][TILE_ROWS], or where they were given */
  const float *values; /* packed columns [⌈Dv/TILE_ROWS⌉][S][TILE_ROWS], or where they were given */
  float *query;        /* packed rows [panel][D][8] */
  softmax_base base;   /* of 2 where the queries carry log₂ e as well */
  float sink;          /* which does so, too; −∞: none */
  float *scores;       /* [panel][score_rows][8] */
  float *heads;        /* [panel][Dv][8]: Σ weight · value, transposed */
  size_t score_rows;
};

VERB uint32_t all_keys(const hl_attention_args *args) { return args->keys + args->appended; }

/* Where a head of a tensor begins. */
static inline float *head_of(const float *tensor, const hl_stride *stride, uint32_t batch, uint32_t head) {
  return (float *)tensor + (size_t)batch * stride->batch + (size_t)head * stride->head;
}

VERB uint32_t tile_panels(const attention_tile *t) { return (t->queries + TILE_COLS - 1) / TILE_COLS; }

VERB uint32_t panel_queries(const attention_tile *t, uint32_t panel) {
  uint32_t left = t->queries - panel * TILE_COLS;
  return left < TILE_COLS ? left : TILE_COLS;
}

/* The first query of a panel among those of the head, */
VERB uint32_t panel_first(const attention_tile *t, uint32_t panel) { return t->first + panel * TILE_COLS; }

/* and its row among the B·H·T, or without heads among the B·T. */
static inline size_t tile_row(const attention_tile *t, uint32_t panel, bool per_head) {
  size_t head = per_head ? (size_t)t->batch * t->args->heads + t->head : t->batch;
  return head * t->args->queries + panel_first(t, panel);
}

VERB float *panel_scores(const attention_tile *t, uint32_t panel) {
  return t->scores + panel * t->score_rows * TILE_COLS;
}

VERB float *panel_heads(const attention_tile *t, uint32_t panel) {
  return t->heads + panel * t->args->value_width * TILE_COLS;
}

/* The tile's queries as they were given, and where the output of a panel's first query goes. */
static inline const float *tile_from(const attention_tile *t) {
  const hl_stride *stride = &t->args->query_stride;
  return head_of(t->args->query, stride, t->batch, t->head) + (size_t)t->first * stride->row;
}
static inline float *tile_to(const attention_tile *t, uint32_t panel) {
  const hl_stride *stride = &t->args->output_stride;
  return head_of(t->args->output, stride, t->batch, t->head) + (size_t)panel_first(t, panel) * stride->row;
}

/* Sets what hangs on the head, not on the queries: what its keys hide, its dropout, the base of its scores. */
void tile_set_head(attention_tile *t, const hl_attention_args *args, uint32_t batch, uint32_t head);
void tile_visibility(visibility *v, const hl_attention_args *args, uint32_t batch, uint32_t head);

/* The keys that the tile must look at, from a multiple of TILE_ROWS on. */
span tile_span(const attention_tile *t);

/* What is on the queries when they are packed. */
float tile_scale(const attention_tile *t);

/* The steps between scores and weights, of the tile's scores; and of a panel of weights. */
void tile_softcap(const attention_tile *t, span keys);
void tile_mask(const attention_tile *t, span keys);
void tile_dropout(const attention_tile *t, float *weights, uint32_t panel, span keys);

/* Stores the max and 1/sum of every row of the panel, where they are asked for. */
void tile_statistics(const attention_tile *t, uint32_t panel, const float max[TILE_COLS],
                     const float inverse[TILE_COLS]);

/* Zeros the heads of a panel, or multiplies them by the factor; and stores them as output. */
void tile_begin_heads(const attention_tile *t, uint32_t panel, const float *factor);
bool tile_output(const attention_tile *t, uint32_t panel, const float *factor);

#endif
