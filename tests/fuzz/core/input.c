#include "input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 64, MAX_TENSOR_BYTES = 1 << 17, LIMIT = 1 << 25, FILL_BYTES = 1 << 14, ROUNDS = 3 };
/* Larger inputs do not fit into the WebAssembly memory. */
static const double MAX_ADDRESSED_BYTES = 4294967296.0;

/* Layout of an output whose rows have gaps between them. */
typedef struct {
  uint32_t batch, heads, rows, width;
  hl_stride stride;
} row_layout;

typedef struct {
  uint8_t *data, *copies; /* copy of `data` before the call, and copy of the result of the first successful call */
  size_t bytes;
  bool written;
  row_layout layout;
} tensor;

static struct {
  const uint8_t *at, *end;
  uint64_t random;
  bool wild;    /* invalid arguments are allowed */
  bool special; /* tensors contain NaN, infinity and so on */
  bool scarce;  /* the first round has little memory */
  bool extreme; /* a size is so large that the call may fail */
  bool large;   /* a tensor is smaller than it should be, or the call would take too long */
  bool unread;  /* tensors that a call reads during validation are incomplete */
  bool refuse;
  bool done; /* a round has succeeded */
  int round;
  double used;
  float *exhausting_block;
  tensor tensors[TENSORS];
  size_t count;
} state;

_Noreturn void fail(const char *what) {
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* ---- choices --------------------------------------------------------------------------------------------------- */

static uint32_t next_random(void) {
  state.random = state.random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state.random >> 32);
}

static uint32_t next_byte(void) { return state.at < state.end ? *state.at++ : next_random() & 255; }

uint32_t below(uint32_t n) {
  const uint32_t byte = next_byte();
  return (n > 256 ? byte << 8 | next_byte() : byte) % n;
}
bool one_in(uint32_t n) { return below(n) == n - 1; }

void input_start(const uint8_t *bytes, size_t count) {
  memset(&state, 0, sizeof state);
  state.at = bytes;
  state.end = bytes + count;
  state.random = below(65536);
  state.wild = one_in(4);
  state.special = one_in(8);
  state.scarce = one_in(8);
  hl_memory_set_limit(LIMIT);
  state.used = hl_memory_used();
}

void input_end(void) {
  for (size_t i = 0; i < state.count; i++) free(state.tensors[i].data), free(state.tensors[i].copies);
  if (hl_memory_used() != state.used) fail("memory was leaked");
}

void must_refuse(bool wrong) { state.refuse = state.refuse || wrong; }
bool make_invalid(void) {
  const bool wrong = state.wild && one_in(32);
  must_refuse(wrong);
  return wrong;
}

static uint32_t extreme_size(void) {
  static const uint32_t sizes[] = {0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x40000001, 0x40000000,
                                   0xAAAAAAAB, 0xFFFFFFF0, 0x10001,    0x10000,    1000};
  state.extreme = true;
  return sizes[below(sizeof sizes / sizeof *sizes)];
}

uint32_t maybe_extreme(uint32_t value) { return state.wild && one_in(16) ? extreme_size() : value; }

uint32_t size_of(uint32_t max) {
  /* Sizes near those of the core: tiles of 4 to 8 and 24, chunks of 64, blocks of 96, 120 and 240, groups of 128, parts
   * of 192. */
  static const uint32_t edges[] = {12, 13,  15,  16,  17,  23,  24,  25,  48,  49,  63,  64,  65, 95,
                                   97, 119, 120, 121, 127, 128, 129, 193, 239, 240, 241, 257, 300};
  uint32_t size = below(10);
  if (one_in(4)) size = edges[below(sizeof edges / sizeof *edges)];
  return maybe_extreme(size < max ? size : max);
}

uint32_t positive_size(uint32_t max) { return state.wild && one_in(8) ? size_of(max) : 1 + below(max); }

uint32_t choice(uint32_t max) {
  if (make_invalid()) return one_in(2) ? max + 1 : 0xFFFFFFFF;
  return below(max + 1);
}

static float special_number(uint32_t i) {
  static const float numbers[] = {NAN,   INFINITY,  -INFINITY, 3e38f, -3e38f, 1e-45f,
                                  1e30f, -1.2e-38f, -0.0f,     1e20f, 1e-30f, -1e9f};
  return numbers[i % (sizeof numbers / sizeof *numbers)];
}

float number(void) {
  if (state.wild && one_in(8)) {
    state.special = true;
    return special_number(next_byte());
  }
  return ((float)next_byte() - 128) / 128;
}

float finite(float value) {
  must_refuse(!isfinite(value));
  return value;
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

static bool fits(double bytes) { return bytes <= MAX_TENSOR_BYTES; }
bool is_allocated(double count) { return fits(count * sizeof(float)); }

void takes_long(void) { state.large = true; }

static tensor *new_tensor(double count, size_t size, bool written) {
  if (state.count == TENSORS) fail("too many tensors");
  tensor *t = &state.tensors[state.count++];
  const double bytes = count * (double)size;
  must_refuse(bytes > MAX_ADDRESSED_BYTES);
  if (!fits(bytes)) state.large = true;
  t->bytes = fits(bytes) ? (size_t)bytes : size;
  t->data = malloc(t->bytes);
  t->copies = malloc(2 * t->bytes);
  t->written = written;
  return t;
}

static bool is_missing(double count) { return count == 0 ? one_in(2) : make_invalid(); }

static float *floats(double count, bool written) {
  const tensor *t = new_tensor(count, sizeof(float), written);
  float *x = (float *)(void *)t->data;
  for (size_t i = 0; i < t->bytes / sizeof *x; i++) {
    const uint32_t r = next_random();
    x[i] = state.special && r % 16 == 0 ? special_number(r >> 8) : (float)(r >> 16) / 32768 - 1;
  }
  return x;
}

float *required_input(double count) { return floats(count, false); }
float *required_output(double count) { return floats(count, true); }
float *own_numbers(double count) {
  const bool refuse = state.refuse;
  float *x = floats(count, false);
  state.refuse = refuse;
  return x;
}
float *input(double count) { return is_missing(count) ? NULL : floats(count, false); }
float *output(double count) { return is_missing(count) ? NULL : floats(count, true); }
float *optional_input(double count) { return one_in(2) ? floats(count, false) : NULL; }
float *optional_output(double count) { return one_in(2) ? floats(count, true) : NULL; }
float *if_(bool condition, float *make(double count), double count) { return condition ? make(count) : NULL; }

uint8_t *optional_flags(double count) {
  if (one_in(2)) return NULL;
  const tensor *t = new_tensor(count, 1, false);
  const uint32_t some = 1 + below(4);
  for (size_t i = 0; i < t->bytes; i++) t->data[i] = next_random() % some == 0;
  return t->data;
}

static int32_t *integers(double count, int32_t from, int32_t to, bool written) {
  const tensor *t = new_tensor(count, sizeof(int32_t), written);
  int32_t *x = (int32_t *)(void *)t->data;
  for (size_t i = 0; i < t->bytes / sizeof *x; i++) x[i] = (int32_t)(from + next_random() % ((int64_t)to - from + 1));
  return x;
}

int32_t *labels(double count, uint32_t below) {
  if (is_missing(count)) return NULL;
  if (!is_allocated(count) && count * sizeof(int32_t) <= MAX_ADDRESSED_BYTES) state.unread = true;
  int32_t *x = integers(count, 0, below > 0 && below < 1000 ? (int32_t)below - 1 : 0, false);
  if (count > 0 && make_invalid()) x[next_random() % (state.tensors[state.count - 1].bytes / sizeof *x)] = -1;
  return x;
}
int32_t *optional_positions(double count, int32_t from, int32_t to) {
  return one_in(2) ? integers(count, from, to, false) : NULL;
}
int32_t *output_labels(double count) { return is_missing(count) ? NULL : integers(count, 0, 9, true); }

double rows_extent(double batch, double heads, double rows, double width, const hl_stride *s) {
  if (batch * heads * rows * width == 0) return 0;
  return (batch - 1) * s->batch + (heads - 1) * s->head + (rows - 1) * s->row + width;
}

double stored_floats(double count, uint32_t stored) { return ceil(count * (stored == HL_STORED_F32 ? 1 : 0.5)); }

float *input_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *s) {
  must_refuse((double)batch * heads * rows * width > 1073741824.0);
  return input(rows_extent(batch, heads, rows, width, s));
}

float *output_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *s) {
  float *x = input_rows(batch, heads, rows, width, s);
  if (!x) return NULL;
  tensor *t = &state.tensors[state.count - 1];
  t->written = true;
  if (rows_extent(batch, heads, rows, width, s) > 0) t->layout = (row_layout){batch, heads, rows, width, *s};
  return x;
}

void outputs_become_inputs(void) {
  for (size_t i = 0; i < state.count; i++) state.tensors[i].written = false;
  state.round = 0;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Fills free memory, so that the workspaces of calls begin with this value. */
static void fill_free_memory(int value) {
  float *block = hl_tensor_alloc(FILL_BYTES / sizeof(float));
  if (block) memset(block, value, FILL_BYTES);
  hl_tensor_free(block);
}

/* Allocates all memory except some cache lines, and prevents growth. */
static void exhaust_memory(void) {
  hl_memory_set_limit(hl_memory_reserved());
  double count = (hl_memory_reserved() - hl_memory_used()) / sizeof(float) - 16 * below(one_in(2) ? 64 : 1024);
  while (count >= 0 && !(state.exhausting_block = hl_tensor_alloc(count))) count -= 16;
}

static void release_memory(void) {
  hl_tensor_free(state.exhausting_block);
  state.exhausting_block = NULL;
  hl_memory_set_limit(LIMIT);
}

bool next_round(void) {
  if (state.round == ROUNDS || state.unread || (state.large && !state.refuse)) return false;
  for (size_t i = 0; i < state.count; i++) {
    const tensor *t = &state.tensors[i];
    if (state.round == 0) memcpy(t->copies, t->data, t->bytes);
    else memcpy(t->data, t->copies, t->bytes);
  }
  if (state.round == 0) state.done = false;
  if (state.round == 0 && !state.scarce) state.round++;
  fill_free_memory(state.round % 2 ? 0xFF : 0x41);
  if (state.round == 0) exhaust_memory();
  state.round++;
  return true;
}

/* Checks that the gaps between the rows have not changed. */
static void check_gaps(const tensor *t) {
  const row_layout *p = &t->layout;
  uint8_t *written = calloc(t->bytes, 1);
  for (size_t b = 0; b < p->batch; b++) {
    for (size_t h = 0; h < p->heads; h++) {
      for (size_t r = 0; r < p->rows; r++) {
        const size_t at = b * p->stride.batch + h * p->stride.head + r * p->stride.row;
        memset(written + at * sizeof(float), 1, p->width * sizeof(float));
      }
    }
  }
  for (size_t i = 0; i < t->bytes; i++) {
    if (!written[i] && t->data[i] != t->copies[i]) fail("the call has written between the rows");
  }
  free(written);
}

static void check_tensor(const tensor *t, hl_status status) {
  const bool same = memcmp(t->data, t->copies, t->bytes) == 0;
  if (!t->written && !same) fail("an input was written");
  if (status != HL_OK && !same) fail("a refused call has written an output");
  if (!t->written || status != HL_OK) return;
  uint8_t *first = t->copies + t->bytes;
  if (state.done && memcmp(t->data, first, t->bytes) != 0) fail("the same call gave other bits");
  memcpy(first, t->data, t->bytes);
  if (t->layout.width > 0) check_gaps(t);
}

void returned(hl_status status) {
  const bool scarce = state.exhausting_block != NULL;
  release_memory();
  if (status > HL_BAD_ARGUMENT) fail("an unexpected status");
  if (state.refuse && (status == HL_OK || status == HL_OUT_OF_MEMORY)) fail("an invalid call was accepted");
  if (status == HL_OUT_OF_MEMORY && !scarce && !state.extreme) fail("there was enough memory");
  if (status != HL_OK && status != HL_OUT_OF_MEMORY && !state.refuse && !state.extreme)
    fail("a valid call was refused");
  for (size_t i = 0; i < state.count; i++) check_tensor(&state.tensors[i], status);
  if (hl_memory_used() != state.used) fail("workspace was leaked");
  state.done = status == HL_OK;
}

bool is_moderate(void) { return state.done && !state.special && !state.extreme; }

const float *before(const float *output) {
  for (size_t i = 0; i < state.count; i++) {
    const tensor *t = &state.tensors[i];
    if (output && t->data == (const uint8_t *)output) return (const float *)(const void *)t->copies;
  }
  return NULL;
}

void near(const char *what, double got, double expected) {
  if (got == expected || fabs(got - expected) <= 1e-3 * (1 + fabs(expected))) return;
  fprintf(stderr, "%s: %.9g, expected %.9g\n", what, got, expected);
  fail("a wrong number");
}
