/* The same result as by the explicit way, with only a block of the scores at a time: online softmax. */
#ifndef HL_STREAM_H
#define HL_STREAM_H

#include "attention/tile.h"

/* Keys of a block: with 24 queries it stays in the first-level cache. A multiple of every TILE_ROWS. */
enum { STREAM_KEYS = 240 };

void attend_stream(const attention_tile *t);

#endif
