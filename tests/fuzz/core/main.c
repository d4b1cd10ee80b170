/* Target of libFuzzer. The first byte selects the entry of headlight.h, the other bytes the arguments. */
#include <string.h>

#include "entries.h"
#include "input.h"

enum { WIDTH = 7, ROWS = 5, HEADS = 2, FLOATS = ROWS * HEADS * WIDTH };

/* Makes a call whose result must have the same bits after any previous calls. */
static void fixed_call(float output[FLOATS]) {
  float x[3][FLOATS];
  for (uint32_t i = 0; i < 3 * FLOATS; i++) x[i / FLOATS][i % FLOATS] = (float)(i * 37 % 101) / 50 - 1;
  const hl_stride stride = {0, WIDTH, HEADS * WIDTH};
  const hl_attention_args a = {.output = output,
                               .query = x[0],
                               .key = x[1],
                               .value = x[2],
                               .output_stride = stride,
                               .query_stride = stride,
                               .key_stride = stride,
                               .value_stride = stride,
                               .batch = 1,
                               .heads = HEADS,
                               .kv_heads = HEADS,
                               .queries = ROWS,
                               .keys = ROWS,
                               .width = WIDTH,
                               .value_width = WIDTH,
                               .causal = 1,
                               .window_left = -1,
                               .window_right = -1,
                               .seed = {1, 2},
                               .scale = 0.5f,
                               .softcap = 3,
                               .fill = -__builtin_inff(),
                               .dropout = 0.2f};
  if (hl_attention(&a) != HL_OK) fail("the fixed call was refused");
}

static void check_fixed(void) {
  static float first[FLOATS];
  static bool called;
  float output[FLOATS];
  fixed_call(called ? output : first);
  if (called && memcmp(output, first, sizeof output) != 0) fail("the fixed call gave other bits");
  called = true;
}

static void fuzz_about(void) {
  hl_recover();
  if (hl_simd() > 1 || hl_version() > 0xFFFFFF || hl_abi() != hl_abi()) fail("about");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static void (*const entries[])(void) = {fuzz_attention,
                                          fuzz_attention,
                                          fuzz_attention,
                                          fuzz_multihead,
                                          fuzz_multihead,
                                          fuzz_multihead,
                                          fuzz_cache,
                                          fuzz_cache_rows,
                                          fuzz_packing,
                                          fuzz_packing_rows,
                                          fuzz_stored_load,
                                          fuzz_quantized,
                                          fuzz_blocks,
                                          fuzz_limit,
                                          fuzz_linear_forward,
                                          fuzz_linear_stored,
                                          fuzz_linear_backward,
                                          fuzz_embedding_forward,
                                          fuzz_embedding_backward,
                                          fuzz_norm_forward,
                                          fuzz_norm_backward,
                                          fuzz_activation,
                                          fuzz_gated,
                                          fuzz_softcap,
                                          fuzz_rotary,
                                          fuzz_relative,
                                          fuzz_add,
                                          fuzz_scale,
                                          fuzz_loss,
                                          fuzz_squared_error,
                                          fuzz_sgd,
                                          fuzz_adam,
                                          fuzz_about};
  check_fixed();
  if (count == 0) return -1;
  input_start(bytes + 1, count - 1);
  entries[bytes[0] % (sizeof entries / sizeof *entries)]();
  input_end();
  return 0;
}
