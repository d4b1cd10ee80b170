#include <math.h>

#include "entries.h"
#include "input.h"

enum { BLOCKS = 24 };

static const double odd_counts[] = {-1, NAN, INFINITY, -INFINITY, 4294967296.0, 1073741824.0, 1e300, -0.0, 0.5};
enum { ODD = sizeof odd_counts / sizeof *odd_counts };

/* A block. It is filled with its number, and must not change as long as it is allocated. */
typedef struct {
  float *at;
  size_t count;
} block;

static void allocate(block *b, float number) {
  const double count = one_in(8) ? odd_counts[below(ODD)] : below(one_in(8) ? 20000 : 200);
  b->at = hl_tensor_alloc(count);
  if (!b->at) return;
  if ((uintptr_t)b->at % 64 != 0 || !(count >= 0 && count < 1073741824.0)) fail("a wrong block");
  b->count = (size_t)count;
  for (size_t i = 0; i < b->count; i++) b->at[i] = number;
}

static void release(block *b, float number) {
  enum { INSIDE = 16 }; /* offset of an aligned address, at which a block could start */
  for (size_t i = 0; i < b->count; i++) {
    if (b->at[i] != number) fail("a block was written by another");
  }
  if (b->count >= INSIDE && hl_tensor_free(b->at + INSIDE) != HL_BAD_POINTER)
    fail("an address inside a block was freed");
  if (b->count > 0 && hl_tensor_free(b->at + 1) != HL_BAD_POINTER) fail("an address that is not aligned was freed");
  if (hl_tensor_free(b->at) != HL_OK) fail("a block was not freed");
  if (hl_tensor_free(b->at) != HL_BAD_POINTER) fail("a block was freed twice");
  *b = (block){NULL, 0};
}

void fuzz_blocks(void) {
  block blocks[BLOCKS] = {{NULL, 0}};
  float none[16];
  for (uint32_t step = 0, steps = below(64); step < steps; step++) {
    const uint32_t i = below(BLOCKS);
    if (blocks[i].at) release(&blocks[i], (float)i);
    else allocate(&blocks[i], (float)i);
    if (hl_memory_used() > hl_memory_reserved()) fail("more memory is in use than reserved");
  }
  if (hl_tensor_free(NULL) != HL_OK || hl_tensor_free(none) != HL_BAD_POINTER)
    fail("an address that is not a block was freed");
  for (uint32_t i = 0; i < BLOCKS; i++) {
    if (blocks[i].at) release(&blocks[i], (float)i);
  }
}

void fuzz_limit(void) {
  const double reserved = hl_memory_reserved(), limits[] = {0, reserved, reserved + 65536, NAN, -1, 1e300};
  hl_memory_set_limit(limits[below(6)]);
  const double limit = hl_memory_limit();
  if (!(limit <= 4294967296.0)) fail("the limit exceeds 4 GiB");
  float *block = hl_tensor_alloc(below(65536) * 64.0);
  if (hl_memory_reserved() > reserved && hl_memory_reserved() > limit) fail("more than the limit was reserved");
  if (hl_tensor_free(block) != HL_OK) fail("a block was not freed");
}
