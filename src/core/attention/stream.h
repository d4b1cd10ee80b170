/* The same result as by the explicit way, with only a block of the scores at a time: online softmax. */
#ifndef HL_STREAM_H
#define HL_STREAM_H

#include "attention/tile.h"

/* Keys of a block: with 24 queries it stays in the first-level cache. A single query reads nothing twice, and memory
 * gives long streams faster. Multiples of every TILE_ROWS. */
enum { STREAM_KEYS = 240, ROW_STREAM_KEYS = 4800 };

void attend_stream(const attention_tile *t);

#endif
