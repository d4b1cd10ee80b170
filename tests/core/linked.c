/* Tests the core in a program that also allocates memory itself. The core must not write into blocks of the program,
 * nor the program into blocks of the core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headlight.h"

enum { BLOCKS = 24, FLOATS = 1000, TOKENS = 24, WIDTH = 16 };

static int fail(const char *what) {
  printf("%s\n", what);
  return 1;
}

static void fill(float *block, int n) {
  for (int i = 0; i < FLOATS; i++) block[i] = (float)n;
}
static int holds(const float *block, int n) {
  for (int i = 0; i < FLOATS; i++) {
    if (block[i] != (float)n) return 0;
  }
  return 1;
}

static float query[TOKENS * WIDTH], output[TOKENS * WIDTH], weights[TOKENS * TOKENS];

/* Makes a call that allocates a workspace. */
static hl_status attend(void) {
  hl_attention_args a = hl_attention_defaults(1, 1, 1, TOKENS, TOKENS, WIDTH);
  a.query = a.key = a.value = query;
  a.output = output;
  a.weights = weights;
  a.weights_mode = HL_WEIGHTS_HEADS;
  return hl_attention(&a);
}

static int blocks_are_kept(void) {
  float *ours[BLOCKS], *theirs[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    ours[i] = malloc(FLOATS * sizeof(float));
    theirs[i] = hl_tensor_alloc(FLOATS);
    if (!ours[i] || !theirs[i] || (uintptr_t)theirs[i] % 64 != 0) return 0;
    fill(ours[i], i);
    fill(theirs[i], -i);
    if (attend() != HL_OK) return 0;
  }
  int kept = 1;
  for (int i = 0; i < BLOCKS; i++) {
    kept = kept && holds(ours[i], i) && holds(theirs[i], -i);
    free(ours[i]);
    if (hl_tensor_free(theirs[i]) != HL_OK) return 0;
  }
  return kept;
}

/* Returns 1 if HL_ATTENTION_DEFAULTS in a nested struct equals hl_attention_defaults. */
static int defaults_agree(void) {
  hl_multihead_args m = {.attention = {HL_ATTENTION_DEFAULTS, .scale = 0.25f, .heads = 1, .kv_heads = 1}};
  hl_attention_args a = hl_attention_defaults(0, 1, 1, 0, 0, WIDTH);
  return m.attention.window_left == a.window_left && m.attention.window_right == a.window_right &&
         m.attention.fill == a.fill && m.attention.scale == a.scale && a.value_width == WIDTH;
}

static int zeros_are_refused(void) {
  hl_attention_args a = {.output = output, .query = query, .key = query, .value = query, .heads = 1, .kv_heads = 1};
  a.batch = a.queries = a.keys = a.width = a.value_width = 1;
  return hl_attention(&a) == HL_BAD_ARGUMENT;
}

static int limit_is_kept(void) {
  hl_memory_set_limit(4096);
  float *within = hl_tensor_alloc(500), *beyond = hl_tensor_alloc(800), *huge = hl_tensor_alloc(4e9);
  int kept = within && !beyond && !huge && hl_memory_used() <= 4096 && hl_memory_reserved() == hl_memory_used();
  hl_tensor_free(within);
  hl_memory_set_limit(HUGE_VAL);
  return kept && hl_memory_limit() == 4294967296.0;
}

int main(void) {
  if (!blocks_are_kept()) return fail("a block was written into");
  if (!defaults_agree()) return fail("the defaults differ");
  if (!zeros_are_refused()) return fail("a struct of zeros was accepted");
  if (!limit_is_kept()) return fail("the limit was exceeded");
  if (hl_tensor_free(NULL) != HL_OK || hl_tensor_free(output + 1) != HL_BAD_POINTER)
    return fail("a wrong address was accepted");
  if (hl_memory_used() != 0) return fail("memory was leaked");
#ifndef __wasm__
  if (hl_version() == 0) return fail("no version");
#endif
  printf("ok\n");
  return 0;
}
