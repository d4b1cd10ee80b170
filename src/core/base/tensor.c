/* A good-fit allocator over linear memory that belongs to the core alone (HL_OWN_MEMORY).
 *
 * Memory is divided into lines of 64 bytes. A block is a sequence of adjacent lines: a header of 16 bytes, then the
 * caller's data, which starts on a 64-byte boundary. Free blocks are in linked lists by size, eight size classes for
 * each power of two; a bitmap marks the lists that are not empty. A freed block is merged with its free neighbours at
 * once, so two free blocks are never adjacent. */
#include "base/tensor.h"

#ifdef HL_OWN_MEMORY

#include <stdbool.h>
#include <stddef.h>

enum { LINE = 64, HEADER = 16, PAGE = 65536, GROW_PAGES = 16, SIZES = 8, LISTS = 32 * SIZES };
static const double MAX_BYTES = 4294967296.0;

/* Positions and sizes are counted in lines. Line 0 is never a block, so 0 means "none". */
typedef struct {
  uint32_t lines;
  uint32_t before; /* the block that ends at the start of this one */
  uint32_t next;   /* next in the list of free blocks; USED in a live block */
  uint32_t previous;
} block;

static const uint32_t USED = 0xFFFFFFFF;

static struct {
  uint8_t *base; /* address of line 0, 16 bytes before a 64-byte boundary */
  uint32_t end;  /* the first line beyond the memory of the heap */
  uint32_t last; /* the block that ends at `end` */
  double used, limit;
  uint32_t list[LISTS], occupied[LISTS / 32];
} heap = {.limit = 4294967296.0};

#ifdef __wasm__
extern uint8_t __heap_base;
static uint8_t *arena_start(void) { return &__heap_base; }
static uint64_t arena_bytes(void) { return (uint64_t)__builtin_wasm_memory_size(0) * PAGE; }
static uint64_t arena_address(void) { return (uint64_t)(uintptr_t)heap.base; }
static bool arena_grow(uint64_t pages) { return __builtin_wasm_memory_grow(0, (size_t)pages) != (size_t)-1; }
#else
static uint8_t arena[1 << 28] __attribute__((aligned(PAGE)));
static uint64_t arena_taken = PAGE;
static uint8_t *arena_start(void) { return arena; }
static uint64_t arena_bytes(void) { return arena_taken; }
static uint64_t arena_address(void) { return (uint64_t)(heap.base - arena); }
static bool arena_grow(uint64_t pages) {
  if (arena_taken + pages * PAGE > sizeof arena) return false;
  arena_taken += pages * PAGE;
  return true;
}
#endif

/* Under clang's AddressSanitizer, code outside this file may access only the bytes that a caller has requested. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define GUARDED
#endif
#endif
#ifdef GUARDED
#include <sanitizer/asan_interface.h>
#pragma clang attribute push(__attribute__((no_sanitize("address"))), apply_to = function)
#define FORBID(address, bytes) ASAN_POISON_MEMORY_REGION(address, bytes)
#define PERMIT(address, bytes) ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#else
#define FORBID(address, bytes) ((void)0)
#define PERMIT(address, bytes) ((void)0)
#endif

static block *block_at(uint32_t line) { return (block *)(void *)(heap.base + (size_t)line * LINE); }
static float *content(uint32_t line) { return (float *)(void *)(heap.base + (size_t)line * LINE + HEADER); }

/* Returns the list for blocks of this size. Each size below 16 lines has a list of its own; larger sizes have eight
 * lists for each power of two. */
static uint32_t list_index(uint32_t lines) {
  if (lines < SIZES) return lines;
  uint32_t power = 31 - (uint32_t)__builtin_clz(lines);
  return (power - 2) * SIZES + ((lines >> (power - 3)) - SIZES);
}

static void list_insert(uint32_t line) {
  uint32_t list = list_index(block_at(line)->lines), next = heap.list[list];
  block_at(line)->next = next;
  block_at(line)->previous = 0;
  if (next) block_at(next)->previous = line;
  heap.list[list] = line;
  heap.occupied[list / 32] |= 1u << list % 32;
}

static void list_remove(uint32_t line) {
  uint32_t next = block_at(line)->next, previous = block_at(line)->previous, list = list_index(block_at(line)->lines);
  if (next) block_at(next)->previous = previous;
  if (previous) {
    block_at(previous)->next = next;
  } else {
    heap.list[list] = next;
    if (!next) heap.occupied[list / 32] &= ~(1u << list % 32);
  }
}

/* Removes a free block of at least `lines` lines from its list and returns it; 0 if there is none. The list of this
 * size class also holds smaller blocks, so it is searched; in any later list every block fits. */
static uint32_t list_pop(uint32_t lines) {
  uint32_t list = list_index(lines), line = heap.list[list];
  while (line && block_at(line)->lines < lines) line = block_at(line)->next;
  for (uint32_t word = (list + 1) / 32; !line && word < LISTS / 32; word++) {
    uint32_t later = heap.occupied[word];
    if (word == (list + 1) / 32) later &= ~0u << (list + 1) % 32;
    if (later) line = heap.list[word * 32 + (uint32_t)__builtin_ctz(later)];
  }
  if (line) list_remove(line);
  return line;
}

static void block_init(uint32_t line, uint32_t lines, uint32_t before) {
  block *b = block_at(line);
  b->lines = lines;
  b->before = before;
  b->next = USED;
  if (line + lines == heap.end) heap.last = line;
  else block_at(line + lines)->before = line;
}

/* Grows the memory until the last block of the heap has at least `lines` lines, and returns that block; 0 if the memory
 * cannot grow so far. */
static uint32_t heap_extend(uint32_t lines) {
  if (!heap.base) {
    uintptr_t start = (uintptr_t)arena_start() + HEADER;
    heap.base = arena_start() + HEADER + ((LINE - start % LINE) % LINE) - HEADER;
    heap.end = 1;
  }
  bool merge = heap.last && block_at(heap.last)->next != USED;
  uint32_t first = merge ? heap.last : heap.end;
  uint64_t need = arena_address() + ((uint64_t)first + lines) * LINE;
  uint64_t have = arena_bytes();
  if (need > have) {
    uint64_t pages = (need - have + PAGE - 1) / PAGE;
    if (pages < GROW_PAGES && (double)(have + (uint64_t)GROW_PAGES * PAGE) <= heap.limit) pages = GROW_PAGES;
    if ((double)(have + pages * PAGE) > heap.limit || !arena_grow(pages)) return 0;
    have = arena_bytes();
  }
  uint32_t before = merge ? block_at(first)->before : heap.last;
  if (merge) list_remove(first);
  heap.end = (uint32_t)((have - arena_address()) / LINE);
  FORBID(block_at(first), (size_t)(heap.end - first) * LINE);
  block_init(first, heap.end - first, before);
  return first;
}

float *hl_tensor_alloc(double count) {
  if (!(count >= 0 && count * sizeof(float) < MAX_BYTES)) return NULL;
  uint32_t lines = (uint32_t)(((uint64_t)count * sizeof(float) + HEADER + LINE - 1) / LINE);
  uint32_t line = list_pop(lines);
  if (!line) line = heap_extend(lines);
  if (!line) return NULL;
  uint32_t rest = block_at(line)->lines - lines;
  if (rest) {
    uint32_t cut = line + lines;
    block_init(cut, rest, line);
    list_insert(cut);
  }
  block_at(line)->lines = lines;
  block_at(line)->next = USED;
  PERMIT(content(line), (size_t)count * sizeof(float));
  heap.used += (double)lines * LINE;
  return content(line);
}

/* Returns the line of a live block, or 0 if the pointer is not a live block. It reads only where a header can be, and
 * checks the header against those of the blocks before and after it. */
static uint32_t find_live_block(const float *pointer) {
  uintptr_t address = (uintptr_t)pointer, first = (uintptr_t)heap.base + LINE + HEADER;
  if (!heap.base || address < first || (address - first) % LINE != 0) return 0;
  uintptr_t line = (address - first) / LINE + 1;
  if (line >= heap.end) return 0;
  const block *b = block_at((uint32_t)line);
  if (b->next != USED || b->lines == 0 || b->lines > heap.end - line) return 0;
  uint32_t after = (uint32_t)line + b->lines;
  bool known = after == heap.end ? heap.last == line : block_at(after)->before == line;
  return known && (b->before == 0 ? line == 1 : b->before < line && b->before + block_at(b->before)->lines == line)
             ? (uint32_t)line
             : 0;
}

hl_status hl_tensor_free(float *pointer) {
  if (!pointer) return HL_OK;
  uint32_t line = find_live_block(pointer);
  if (!line) return HL_BAD_POINTER;
  uint32_t lines = block_at(line)->lines, before = block_at(line)->before, after = line + lines;
  heap.used -= (double)lines * LINE;
  FORBID(pointer, (size_t)lines * LINE - HEADER);
  if (after != heap.end && block_at(after)->next != USED) {
    list_remove(after);
    lines += block_at(after)->lines;
  }
  if (before && block_at(before)->next != USED) {
    list_remove(before);
    lines += block_at(before)->lines;
    line = before;
    before = block_at(before)->before;
  }
  block_init(line, lines, before);
  list_insert(line);
  return HL_OK;
}

double hl_memory_used(void) { return heap.used; }
double hl_memory_reserved(void) { return (double)arena_bytes(); }
double hl_memory_limit(void) { return heap.limit; }
void hl_memory_set_limit(double bytes) { heap.limit = bytes < MAX_BYTES ? bytes : MAX_BYTES; }

#ifdef GUARDED
#pragma clang attribute pop
#endif

#endif
