/* Masking of keys for the queries of one head: causal, window, lengths, mask and padding. Also the bias. */
#ifndef HL_MASK_H
#define HL_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t from, to;
} span;

/* Conditions for one head. A pointer is NULL if it is not used. Steps are in elements; a step of 0 broadcasts. */
typedef struct {
  const uint8_t *mask;    /* (T,S), 0 masks the key */
  const uint8_t *padding; /* (S), 0 masks the key */
  const int32_t *lengths; /* (T), masks keys at or beyond the length */
  const float *bias;      /* (T,S), added to the score; −∞ masks the key */
  size_t mask_query, mask_key, padding_key, lengths_query, bias_query, bias_key;
  float slope;             /* ALiBi: −slope · |position of the query − key| is added to the score */
  int64_t offset;          /* position of query 0 among the keys */
  int64_t left, right;     /* keys before position − left and after position + right are masked; −1: no bound */
  uint32_t keys, appended; /* S keys, which can be masked, then E appended keys, which cannot */
  float fill;              /* score of a masked key, except where the bias masks it */
  bool none_hidden;        /* no key is masked and there is no bias; then all fields before `keys` are undefined */
} visibility;

/* Returns a span of keys. Keys outside of the span are masked for all queries first..first+queries−1, whatever the mask
 * contains, and can be skipped. With a finite fill, masked keys have a weight, so the span contains all keys. */
span mask_span(const visibility *v, uint32_t first, uint32_t queries);

/* True if any key may be masked for any of the first `queries` queries. */
bool mask_may_hide(const visibility *v, uint32_t queries);

bool mask_is_visible(const visibility *v, uint32_t query, uint32_t key);

/* Adds the biases and replaces the scores of masked keys by `fill` in panel[keys][8]. The columns of the panel are
 * queries, starting at `first`; its rows are keys, starting at `key`. */
void mask_panel(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys);

/* Sets the gradients of the scores of masked keys to 0. */
void mask_backward(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys);

#endif
