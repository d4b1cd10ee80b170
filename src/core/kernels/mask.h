/* Which keys the queries of one head may see: causal, window, lengths, mask, padding; and the bias. */
#ifndef HL_MASK_H
#define HL_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t from, to;
} span;

/* Of one head. A pointer is NULL where nothing is hidden by it; steps are in elements, 0 where it repeats. */
typedef struct {
  const uint8_t *mask;    /* [query][key], 0 hides */
  const uint8_t *padding; /* [key], 0 hides */
  const int32_t *lengths; /* [query], hides keys from the length on */
  const float *bias;      /* [query][key], added to the score; −∞ hides */
  size_t mask_query, mask_key, padding_key, lengths_query, bias_query, bias_key;
  float slope;             /* −slope · |place of the query − key| is added to the score */
  int64_t offset;          /* the place of query 0 among the keys */
  int64_t left, right;     /* keys before place − left and after place + right are hidden; −1: no bound */
  uint32_t keys, appended; /* the first `keys` can be hidden, those appended after them cannot */
  float fill;              /* the score of a hidden key, but of one that the bias hides */
  bool all;                /* no key is hidden, and no bias added: then the fields above `keys` are not read */
} visibility;

/* Keys outside it are hidden from every one of `queries` queries from `first` on, whatever the mask says,
 * and need not be looked at. A finite fill gives hidden keys a weight, so then it is all the keys. */
span mask_span(const visibility *v, uint32_t first, uint32_t queries);

/* Whether any key may be hidden from any of the first `queries` queries. */
bool mask_hides(const visibility *v, uint32_t queries);

bool mask_sees(const visibility *v, uint32_t query, uint32_t key);

/* Adds the biases and fills what is hidden, in panel[keys][8] whose columns are queries from `first` on and whose rows
 * are keys from `key` on. */
void mask_panel(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys);

/* In reverse: the gradient of a hidden score is 0. */
void mask_backward(float *panel, const visibility *v, uint32_t first, uint32_t queries, uint32_t key, uint32_t keys);

#endif
