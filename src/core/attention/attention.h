/* Attention in pieces: for the layer, which brings its own workspace; and what the two paths share, a tile
 * of queries before one packed key/value head. */
#ifndef HL_ATTENTION_H
#define HL_ATTENTION_H

#include "kernels/gemm.h"
#include "kernels/mask.h"
#include "kernels/softmax.h"

double attention_workspace(const hl_attention_args *args); /* floats */
void attention_run(const hl_attention_args *args, float *workspace);

/* The arguments with an address and strides for tensors without elements. */
hl_attention_args attention_settled(const hl_attention_args *args);
static inline float *attention_address(const float *tensor) { return (float *)(tensor ? tensor : gemm_zeros); }

double attention_backward_workspace(const hl_attention_backward_args *args);
void attention_backward_run(const hl_attention_backward_args *args, float *workspace);

/* Up to three panels of eight queries share each pass over the keys. */
enum { TILE_PANELS = 3, TILE_QUERIES = TILE_PANELS * TILE_COLS };

/* Depth of one pass of the value product: half of it would cost 2%, twice as much half of the exactness. */
enum { VALUE_DEPTH = 120 };

typedef struct {
  const hl_attention_args *args;
  uint32_t batch, head, first, queries; /* queries first..first+queries−1 of this head */
  const float *keys;                    /* packed rows:    [⌈S/TILE_ROWS⌉][D][TILE_ROWS] */
  const float *values;                  /* packed columns: [⌈Dv/TILE_ROWS⌉][S][TILE_ROWS] */
  bool direct;       /* keys and values are not packed but as they were given, by the strides of args */
  bool few;          /* so are queries, keys and values, and the output takes what heads would */
  bool finite;       /* no NaN or infinity among the packed values */
  float *query;      /* packed rows:    [panel][D][8], the scale on them but where raw scores are asked for */
  softmax_base base; /* of 2 where the queries carry log₂ e as well */
  float *scores;     /* [panel][score_rows][8]: transposed, a query is a column */
  float *heads;      /* [panel][Dv][8]: Σ weight · value, transposed */
  size_t score_rows;
} attention_tile;

static inline uint32_t all_keys(const hl_attention_args *args) { return args->keys + args->appended; }

static inline uint32_t tile_panels(const attention_tile *t) { return (t->queries + TILE_COLS - 1) / TILE_COLS; }

static inline uint32_t panel_queries(const attention_tile *t, uint32_t panel) {
  uint32_t left = t->queries - panel * TILE_COLS;
  return left < TILE_COLS ? left : TILE_COLS;
}

/* The first row of a panel among the B·H·T, or without heads among the B·T. */
static inline size_t tile_row(const attention_tile *t, uint32_t panel, bool per_head) {
  size_t head = per_head ? (size_t)t->batch * t->args->heads + t->head : t->batch;
  return head * t->args->queries + t->first + panel * TILE_COLS;
}

static inline float *panel_scores(const attention_tile *t, uint32_t panel) {
  return t->scores + panel * t->score_rows * TILE_COLS;
}

static inline float *panel_heads(const attention_tile *t, uint32_t panel) {
  return t->heads + panel * t->args->value_width * TILE_COLS;
}

/* scores = q · kᵀ of the keys in the span, which starts at a multiple of TILE_ROWS; score row 0 is its first. */
void tile_scores(const attention_tile *t, span keys);

/* scores = softcap · tanh(scores / softcap); nothing where there is no softcap. */
void tile_softcap(const attention_tile *t, uint32_t panel, size_t keys);

/* heads = weights · v of the keys in the span; with a factor for every query of every panel,
 * heads · factor + weights · v. */
void tile_values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]);

/* Where the output of the panel's first query goes. */
static inline float *tile_to(const attention_tile *t, uint32_t panel) {
  const hl_stride *stride = &t->args->output_stride;
  return t->args->output + (size_t)t->batch * stride->batch + (size_t)t->head * stride->head +
         (size_t)(t->first + panel * TILE_COLS) * stride->row;
}

/* output(queries, Dv) = the panel's heads, each query times its factor; NULL is 1. */
void tile_output(const attention_tile *t, uint32_t panel, const float *factor);

/* Where the tile's queries lie as they were given, and what is to be on them when they are packed. */
static inline const float *tile_from(const attention_tile *t) {
  const hl_stride *stride = &t->args->query_stride;
  return t->args->query + (size_t)t->batch * stride->batch + (size_t)t->head * stride->head +
         (size_t)t->first * stride->row;
}
float tile_scale(const attention_tile *t);

/* Packs the queries of the tile, with the scale. */
void tile_pack_query(const attention_tile *t);

/* Gives the max and 1/sum of every row of the panel, where they are asked for. */
void tile_statistics(const attention_tile *t, uint32_t panel, const float max[TILE_COLS],
                     const float inverse[TILE_COLS]);

/* panels(keys, queries) = left · right of packed rows: `left` those of the keys from key 0 on, `right` those of the
 * tile's queries. */
void tile_product(const attention_tile *t, span keys, float *panels, const float *left, const float *right,
                  size_t width);

/* sum(width, 8) += columnsᵀ · panel(depth, 8), the columns as gemm_pack_columns makes them. */
void tile_gather(float *sum, const float *columns, size_t capacity, size_t width, const float *panel, size_t depth);

/* tile_scores and tile_values for a single query before keys and values as they are given: packing would cost more than
 * it saves. */
void row_scores(const attention_tile *t, span keys);
void row_values(const attention_tile *t, span keys);

/* tile_scores, tile_values and the factor of tile_output for few queries, of whose values none may be NaN or infinite
 * where a key can be hidden. */
bool few_queries(const hl_attention_args *args);
bool few_finite(const hl_attention_args *args, const float *value);
void few_scores(const attention_tile *t, span keys);
void few_values(const attention_tile *t, span keys, const float (*factor)[TILE_COLS]);
void few_scale(const attention_tile *t, uint32_t panel, const float factor[TILE_COLS]);

/* The span of keys that the tile must look at, its start rounded down to a panel of keys. */
span tile_span(const attention_tile *t);

/* Whatever looks at the scores before softmax does must find them as they are. */
softmax_base attention_base(const hl_attention_args *args);

/* Key rows S..S+E−1 of keys or values packed by rows of TILE_ROWS. */
void attention_pack_appended(float *packed, const hl_attention_args *args, const float *appended, size_t width,
                             uint32_t kv_head);

void attend_explicit(const attention_tile *t);
void attend_stream(const attention_tile *t);

#endif
