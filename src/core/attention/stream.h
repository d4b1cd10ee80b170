/* Online softmax. It gives the same result as the explicit computation, but stores the scores of only one block of keys
 * at a time. */
#ifndef HL_STREAM_H
#define HL_STREAM_H

#include "attention/tile.h"

/* Keys of a block. The scores of STREAM_KEYS keys and 24 queries stay in the first-level cache. A single query reads
 * each key once, and reads longer streams from memory faster. Both numbers are multiples of both values of
 * TILE_ROWS. */
enum { STREAM_KEYS = 240, SINGLE_QUERY_STREAM_KEYS = 4800 };

void attend_stream(const attention_tile *t);

#endif
