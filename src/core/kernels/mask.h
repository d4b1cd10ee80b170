/* Which keys a query may see: causal, window, lengths, mask, padding; and the bias. The one place. */
#ifndef HL_MASK_H
#define HL_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

typedef struct {
  uint32_t from, to;
} span;

/* Keys outside it are hidden from every one of `queries` queries on from `first`, whatever the mask says,
 * and need not be looked at. A finite fill gives hidden keys a weight, so then it is all the keys. */
span mask_span(const hl_attention_args *args, uint32_t batch, uint32_t first, uint32_t queries);

/* Whether any key may be hidden from anyone. */
bool mask_hides(const hl_attention_args *args);

/* May query (batch, head, query) see this key? */
bool mask_sees(const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t query, uint32_t key);

/* Adds the bias and fills what is hidden, in panel[keys][8] whose columns are queries first.. and whose
 * rows are keys key.. */
void mask_panel(float *panel, const hl_attention_args *args, uint32_t batch, uint32_t head, uint32_t first,
                uint32_t queries, uint32_t key, uint32_t keys);

#endif
