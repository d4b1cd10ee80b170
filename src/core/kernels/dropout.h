/* Counter-based dropout of attention weights. A weight is dropped depending only on the seed and on its row and column
 * in the weights (B,H,T,S), so the mask is the same for any order of work and in the backward pass. */
#ifndef HL_DROPOUT_H
#define HL_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  float probability;   /* probability that a weight is dropped, in [0, 1] */
  uint32_t seed[2];    /* low word first */
  const uint8_t *keep; /* (B,H,T,S+E), 0 drops the weight; replaces the seed; or NULL */
  size_t keys;         /* length of a row, S+E */
} dropout;

/* Multiplies panel[keys][8] by 1/(1−p) where a weight is kept and by 0 where it is dropped. The columns of the panel
 * are the rows row..row+queries−1 of the weights; its rows are the keys key..key+keys−1. Call it only if p > 0 or
 * `keep` is not NULL. */
void dropout_panel(float *panel, const dropout *d, size_t row, uint32_t queries, size_t key, size_t keys);

#endif
