/* Online softmax: the same result as the explicit computation, with the scores of only one block of keys at a time. */
#ifndef HL_STREAM_H
#define HL_STREAM_H

#include "attention/tile.h"

/* Keys of a block. With 24 queries, STREAM_KEYS keys stay in the first-level cache. A single query reads each key once,
 * and longer streams from memory are faster. Both are multiples of both values of TILE_ROWS. */
enum { STREAM_KEYS = 240, SINGLE_QUERY_STREAM_KEYS = 4800 };

void attend_stream(const attention_tile *t);

#endif
