/* Tensors allocated by the program that the core is linked into, with malloc and free. */
#include "base/tensor.h"

#ifndef HL_OWN_MEMORY

#include <stdlib.h>

enum { LINE = 64 };
static const double MAX_BYTES = 4294967296.0;

/* Stored directly before the caller's data, which starts on a 64-byte boundary. */
typedef struct {
  void *block; /* the address returned by malloc */
  size_t bytes;
} header;

static struct {
  size_t used;
  double limit;
} heap = {.limit = 4294967296.0};

/* Atomic, because several threads may allocate at once. */
static size_t used_add(size_t bytes) { return __atomic_add_fetch(&heap.used, bytes, __ATOMIC_RELAXED); }
static size_t used_subtract(size_t bytes) { return __atomic_sub_fetch(&heap.used, bytes, __ATOMIC_RELAXED); }

float *hl_tensor_alloc(double count) {
  if (!(count >= 0 && count * sizeof(float) < MAX_BYTES)) return NULL;
  double padded = count * sizeof(float) + sizeof(header) + LINE - 1;
  if (padded > (double)SIZE_MAX) return NULL;
  size_t bytes = (size_t)padded;
  bool fits = (double)used_add(bytes) <= heap.limit;
  uint8_t *block = fits ? malloc(bytes) : NULL;
  if (!block) {
    used_subtract(bytes);
    return NULL;
  }
  uint8_t *content = block + sizeof(header);
  content += (LINE - (uintptr_t)content % LINE) % LINE;
  ((header *)(void *)content)[-1] = (header){block, bytes};
  return (float *)(void *)content;
}

hl_status hl_tensor_free(float *pointer) {
  if (!pointer) return HL_OK;
  if ((uintptr_t)pointer % LINE != 0) return HL_BAD_POINTER;
  header h = ((header *)(void *)pointer)[-1];
  used_subtract(h.bytes);
  free(h.block);
  return HL_OK;
}

double hl_memory_used(void) { return (double)__atomic_load_n(&heap.used, __ATOMIC_RELAXED); }
double hl_memory_reserved(void) { return hl_memory_used(); }
double hl_memory_limit(void) { return heap.limit; }
void hl_memory_set_limit(double bytes) { heap.limit = bytes < MAX_BYTES ? bytes : MAX_BYTES; }

#endif
