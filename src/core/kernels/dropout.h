/* Dropout of attention weights by a counter: whether a weight is kept depends on the seed and on its row and column
 * among the weights (B,H,T,S) alone, so that any order of work, and the backward pass, sees the same mask. */
#ifndef HL_DROPOUT_H
#define HL_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  float probability;   /* that a weight is dropped, in [0, 1] */
  uint32_t seed[2];    /* low word first */
  const uint8_t *keep; /* [row][key], 0 drops; used instead of the seed, or NULL */
  size_t keys;         /* of a row */
} dropout;

/* Multiplies panel[keys][8] by 1/(1−p) where kept and 0 where not. Its columns are `queries` rows of the weights from
 * `row` on, its rows are keys from `key` on. To be called where p > 0 or `keep` is given. */
void dropout_panel(float *panel, const dropout *d, size_t row, uint32_t queries, size_t key, size_t keys);

#endif
