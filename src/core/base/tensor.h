/* Blocks of linear memory. hl_tensor_alloc and hl_tensor_free allocate the same blocks. */
#ifndef HL_TENSOR_H
#define HL_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* One part of a block: where to store its address, and its size in floats. Sizes are doubles, as in hl_tensor_alloc, so
 * that no sum or product of sizes wraps. */
typedef struct {
  float **at;
  double floats;
} part;

/* Floats of a part rounded up to a multiple of 64 bytes: parts are aligned to 64 bytes. */
double block_floats(double floats);

/* Stores the address of each part, one after the other, and returns their total size in floats. If block is NULL it
 * only computes the size. */
double block_parts(float *block, const part *parts, size_t count);

/* The workspace of one call of the core: a single block, or NULL if there is not enough memory. */
float *workspace_alloc(double floats);
void workspace_free(void);

/* The same, divided into these parts; false if there is not enough memory. */
bool workspace_parts(const part *parts, size_t count);

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
