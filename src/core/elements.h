/* What is done to each float by itself, shared out in chunks; and sums over floats. */
#ifndef HL_ELEMENTS_H
#define HL_ELEMENTS_H

#include <stdbool.h>

#include "pool.h"
#include "simd.h"

/* About what a chunk should hold: some microseconds of work, and a first-level cache of floats. */
enum { CHUNK_FLOATS = 8192 };

/* The task for every chunk of `count` floats; `work` as of parallel_for, for one float. */
void elements_share(pool_task *task, void *arg, size_t count, double work);
VERB size_t chunk_start(uint32_t chunk) { return (size_t)chunk * CHUNK_FLOATS; }
VERB size_t chunk_end(uint32_t chunk, size_t count) {
  return count - chunk_start(chunk) < CHUNK_FLOATS ? count : chunk_start(chunk) + CHUNK_FLOATS;
}

/* Rows of `width` that make up a chunk, at least one. */
VERB size_t chunk_rows(size_t width) { return width < CHUNK_FLOATS ? CHUNK_FLOATS / (width + !width) : 1; }

/* Σ (x − origin), or of the squares: in double precision, in an order that depends on the count alone. */
double elements_sum(const float *x, size_t count, float origin, bool squares);

#endif
