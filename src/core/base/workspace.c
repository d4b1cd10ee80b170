/* Blocks of several parts, and the workspace block that a call of the core allocates while it runs. */
#include "base/pool.h"
#include "base/tensor.h"

/* Floats in 64 bytes. */
enum { ALIGNED_FLOATS = 16 };

double block_floats(double floats) { return __builtin_ceil(floats / ALIGNED_FLOATS) * ALIGNED_FLOATS; }

double block_parts(float *block, const part *parts, size_t count) {
  double total = 0;
  for (size_t i = 0; i < count; i++) {
    if (block) *parts[i].at = block + (size_t)total;
    total += block_floats(parts[i].floats);
  }
  return total;
}

/* In a native program several threads may call the core, so each thread has a workspace. In the .wasm only one thread
 * calls the core, and the threads of the pool run parts of its call. */
#ifdef HL_OWN_MEMORY
#define PER_THREAD
#else
#define PER_THREAD _Thread_local
#endif

static PER_THREAD float *workspace;

float *workspace_alloc(double floats) { return workspace = hl_tensor_alloc(floats); }

bool workspace_parts(const part *parts, size_t count) {
  if (!workspace_alloc(block_parts(NULL, parts, count))) return false;
  block_parts(workspace, parts, count);
  return true;
}

void workspace_free(void) {
  hl_tensor_free(workspace);
  workspace = NULL;
}

void hl_recover(void) {
  pool_recover();
  workspace_free();
}
