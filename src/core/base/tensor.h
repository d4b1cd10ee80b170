/* Blocks of linear memory. hl_tensor_alloc and hl_tensor_free are the face of the same blocks. */
#ifndef HL_TENSOR_H
#define HL_TENSOR_H

#include "headlight.h"

/* Workspace: as hl_tensor_alloc. The sizes are 64-bit so that sums of products cannot wrap on the way in. */
static inline float *workspace_alloc(uint64_t floats) { return hl_tensor_alloc((double)floats); }
static inline void workspace_free(float *block) { (void)hl_tensor_free(block); }

#endif
