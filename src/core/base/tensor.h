/* Blocks of linear memory. hl_tensor_alloc and hl_tensor_free allocate the same blocks. */
#ifndef HL_TENSOR_H
#define HL_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "headlight.h"

/* One of the parts of a block: where its address is stored, and how many floats it takes. Sizes are counted in double
 * precision, as hl_tensor_alloc takes them: there no sum or product of sizes wraps. */
typedef struct {
  float **at;
  double floats;
} part;

/* What so many floats take in a block, whose parts lie on boundaries of 64 bytes. */
double block_floats(double floats);

/* Places the parts one after the other; without a block it only counts. Returns the
 * floats of all of them. */
double block_parts(float *block, const part *parts, size_t count);

/* What a call of the core needs while it runs: one block, or NULL where there is no memory. */
float *workspace_alloc(double floats);
void workspace_free(void);

/* The same, with these parts: false where there is no memory. */
bool workspace_parts(const part *parts, size_t count);

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
