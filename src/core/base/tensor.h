/* Blocks of linear memory, which hl_tensor_alloc and hl_tensor_free allocate and free. */
#ifndef HL_TENSOR_H
#define HL_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* One part of a block: the variable that receives the address of the part, and the size of the part in floats. Sizes
 * are doubles, as in hl_tensor_alloc, so that no sum or product of sizes wraps. */
typedef struct {
  float **at;
  double floats;
} part;

/* Rounds the floats of a part up to a multiple of 64 bytes, because each part is aligned to 64 bytes. */
double block_floats(double floats);

/* Divides a block into parts that follow one another: stores the address of each part, and returns the total size in
 * floats. If block is NULL, it only computes the size. */
double block_parts(float *block, const part *parts, size_t count);

/* Allocates the workspace of one call of the core, a single block. Returns NULL if there is not enough memory. */
float *workspace_alloc(double floats);
void workspace_free(void);

/* Allocates the workspace and divides it into these parts. Returns false if there is not enough memory. */
bool workspace_parts(const part *parts, size_t count);

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
