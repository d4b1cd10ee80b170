/* A tile: some queries of one head with the keys and values of its key/value head. Also the steps that all paths share.
 * Scores are stored transposed, panel[key][8 queries]. */
#ifndef HL_TILE_H
#define HL_TILE_H

#include "headlight.h"
#include "kernels/dropout.h"
#include "kernels/gemm.h"
#include "kernels/mask.h"
#include "kernels/softmax.h"

/* Up to three panels of eight queries share each pass over the keys. */
enum { TILE_PANELS = 3, TILE_QUERIES = TILE_PANELS * TILE_COLS };

/* Depth of one pass of the value product. Half of it would cost 2% of the speed; twice as much would halve the
 * accuracy. */
enum { VALUE_DEPTH = 120 };

typedef struct attention_tile attention_tile;

/* A path is a way to read queries, keys and values; it is chosen once for each head. The functions of a path process a
 * span of keys that starts at a multiple of TILE_ROWS. Row 0 of the scores is the first key of the span. */
typedef struct attention_path {
  /* Packs the queries, if necessary. */
  void (*queries)(const attention_tile *t);
  /* scores = scale · q · kᵀ */
  void (*scores)(const attention_tile *t, span keys);
  /* heads = weights · v. If `factor` is not NULL, heads = heads · factor + weights · v, with a factor for every query
   * of every panel. */
  void (*values)(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]);
  /* output(queries, Dv) = heads · factor for one panel, with a factor for each query; NULL means 1. Returns false if a
   * number of the output may be NaN or infinite. */
  bool (*output)(const attention_tile *t, uint32_t panel, const float *factor);
} attention_path;

struct attention_tile {
  const hl_attention_args *args;
  const attention_path *path;
  attention_path custom_path;           /* storage for a path that is composed for this tile */
  uint32_t batch, head, first, queries; /* queries first..first+queries−1 of this head */
  visibility visible;
  dropout drop;
  const float *keys; /* packed rows [⌈(S+E)/TILE_ROWS⌉][D][TILE_ROWS], or the caller's (S,D), depending on the path;
                        * cache rows for narrow_keys_path */
  const float *values; /* packed columns [⌈Dv/TILE_ROWS⌉][S+E][TILE_ROWS], or the caller's (S,Dv) */
  float *query;        /* packed rows [panel][D][8] */
  softmax_base base;   /* base 2 if the queries are scaled by log₂ e */
  float sink;          /* the sink, scaled by log₂ e if the base is 2; −∞: none */
  float *scores;       /* [panel][score_rows][8] */
  float *heads;        /* [panel][Dv][8]: Σ weight · value, transposed */
  size_t score_rows;
};

INLINE uint32_t total_keys(const hl_attention_args *args) { return args->keys + args->appended; }

/* Address of a head of a strided tensor. */
static inline float *head_start(const float *tensor, const hl_stride *stride, uint32_t batch, uint32_t head) {
  return (float *)tensor + (size_t)batch * stride->batch + (size_t)head * stride->head;
}

INLINE uint32_t tile_panel_count(const attention_tile *t) { return (t->queries + TILE_COLS - 1) / TILE_COLS; }

INLINE uint32_t panel_queries(const attention_tile *t, uint32_t panel) {
  uint32_t remaining = t->queries - panel * TILE_COLS;
  return remaining < TILE_COLS ? remaining : TILE_COLS;
}

/* Index of the first query of a panel among the queries of the head. */
INLINE uint32_t panel_first(const attention_tile *t, uint32_t panel) { return t->first + panel * TILE_COLS; }

/* Row of the first query of a panel in a tensor (B,H,T,…), or in a tensor (B,T,…) if per_head is false. */
static inline size_t tile_row(const attention_tile *t, uint32_t panel, bool per_head) {
  size_t head = per_head ? (size_t)t->batch * t->args->heads + t->head : t->batch;
  return head * t->args->queries + panel_first(t, panel);
}

INLINE float *panel_scores(const attention_tile *t, uint32_t panel) {
  return t->scores + panel * t->score_rows * TILE_COLS;
}

INLINE float *panel_heads(const attention_tile *t, uint32_t panel) {
  return t->heads + panel * t->args->value_width * TILE_COLS;
}

/* tile_query_rows is the address of the tile's queries in the caller's tensor, tile_output_rows the address of the
 * output of a panel's first query. */
static inline const float *tile_query_rows(const attention_tile *t) {
  const hl_stride *stride = &t->args->query_stride;
  return head_start(t->args->query, stride, t->batch, t->head) + (size_t)t->first * stride->row;
}
static inline float *tile_output_rows(const attention_tile *t, uint32_t panel) {
  const hl_stride *stride = &t->args->output_stride;
  return head_start(t->args->output, stride, t->batch, t->head) + (size_t)panel_first(t, panel) * stride->row;
}

/* Sets the fields that depend on the head but not on the queries: visibility, dropout and the base of the softmax. */
void tile_set_head(attention_tile *t, const hl_attention_args *args, uint32_t batch, uint32_t head);
void tile_visibility(visibility *v, const hl_attention_args *args, uint32_t batch, uint32_t head);

/* The span of keys that the tile must process; it starts at a multiple of TILE_ROWS. */
span tile_span(const attention_tile *t);

/* Factor applied to the queries when they are packed. */
float tile_scale(const attention_tile *t);

/* The steps between scores and weights. Soft cap and mask apply to all panels of the tile, dropout to one panel of
 * weights. */
void tile_softcap(const attention_tile *t, span keys);
void tile_mask(const attention_tile *t, span keys);
void tile_dropout(const attention_tile *t, float *weights, uint32_t panel, span keys);

/* Stores the max and 1/sum of every row of the panel, if the caller requests them. */
void tile_statistics(const attention_tile *t, uint32_t panel, const float max[TILE_COLS],
                     const float inverse[TILE_COLS]);

/* tile_begin_heads sets the heads of a panel to 0 or, if `factor` is not NULL, multiplies them by the factor.
 * tile_output multiplies the heads by the factor, if there is one, and stores them as output. */
void tile_begin_heads(const attention_tile *t, uint32_t panel, const float *factor);
bool tile_output(const attention_tile *t, uint32_t panel, const float *factor);

#endif
