#include "kernels/gemm_int8.h"

/* ---- which form ---------------------------------------------------------------------------------------------- */

/* The relaxed dot product is one instruction where it neither saturates on the way nor loses the eighth bit of x;
 * elsewhere it is five, and pairs are as fast. What it does shows in what it gives. */
static bool dots_are(const uint8_t x[16], const int8_t w[16], bool as_unsigned) {
  int32_t got[4];
  bool same = true;
  bits_store((uint32_t *)got, bytes_dot(bits_load((const uint32_t *)x), bits_load((const uint32_t *)w), bits_splat(7)));
  for (int lane = 0; lane < 4; lane++) {
    int32_t sum = 7;
    for (int i = 4 * lane; i < 4 * lane + 4; i++) sum += w[i] * (as_unsigned ? (int32_t)x[i] : (int32_t)(int8_t)x[i]);
    same = same && got[lane] == sum;
  }
  return same;
}

int8_form gemm_int8_form(void) {
  /* Not constants: what the compiler makes of them need not be what the processor does. */
  static volatile uint8_t x[16] = {255, 255, 255, 255, 200, 1, 255, 127, 128, 0, 3, 129, 7, 250, 90, 255};
  static volatile int8_t w[16] = {127, 127, 127, 127, -127, -1, -127, 5, 127, 9, -100, 127, 1, 2, 3, -127};
  uint8_t some_x[16];
  int8_t some_w[16];
  for (int i = 0; i < 16; i++) {
    some_x[i] = x[i];
    some_w[i] = w[i];
  }
  if (!HL_SIMD_RELAXED) return INT8_PAIRS;
  return dots_are(some_x, some_w, true)    ? INT8_UNSIGNED_QUADS
         : dots_are(some_x, some_w, false) ? INT8_SIGNED_QUADS
                                           : INT8_PAIRS;
}

/* Integers in a 32-bit lane, and steps of that many in a row. */
static size_t group(int8_form form) { return form == INT8_PAIRS ? 2 : 4; }
static size_t steps(size_t in, int8_form form) { return (in + group(form) - 1) / group(form); }

/* ---- packing ------------------------------------------------------------------------------------------------- */

/* The largest magnitude of a row; NaN where one of its numbers is not finite. */
static float magnitude(const float *row, size_t n) {
  vec most = vec_splat(0), zero_or_nan = vec_splat(0);
  float lanes[8], result = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    vec x = vec_load(row + i);
    most = vec_max(most, vec_abs(x));
    zero_or_nan = vec_fma(x, vec_splat(0), zero_or_nan);
  }
  vec_store(lanes, most);
  vec_store(lanes + 4, zero_or_nan);
  for (int lane = 0; lane < 4; lane++) {
    if (lanes[lane] > result) result = lanes[lane];
  }
  float finite = lanes[4] + lanes[5] + lanes[6] + lanes[7];
  for (; i < n; i++) {
    float x = __builtin_fabsf(row[i]);
    if (x > result) result = x;
    finite += x * 0;
  }
  return result + finite;
}

/* Sixteen numbers, of which those from n on are 0, times the factor and rounded, as 16-bit integers. */
static void round_16(vec words[2], const float *x, size_t n, vec factor) {
  float some[16] = {0};
  vec whole[4];
  if (n < 16) {
    for (size_t i = 0; i < n; i++) some[i] = x[i];
    x = some;
  }
  for (int i = 0; i < 4; i++) whole[i] = vec_round(vec_mul(vec_load(x + 4 * i), factor));
  for (int i = 0; i < 2; i++) words[i] = words_of(whole[2 * i], whole[2 * i + 1]);
}

static int32_t levels(size_t in, int8_form form) {
  size_t room = (size_t)INT32_MAX / 127 / (in ? in : 1), most = form == INT8_PAIRS ? 32767 : 127;
  return (int32_t)(room < most ? room : most);
}

static float inverse(float scale) { return scale > 0 ? 1 / scale : 0; }

size_t gemm_int8_left_row(size_t in) { return steps(in, INT8_PAIRS) + 1; }

/* A panel is scales[width], then lanes[steps][width]. */
void gemm_int8_pack_left(float *panels, size_t width, const float *x, size_t rows, size_t in, int8_form form) {
  const vec flip = bits_splat(form == INT8_UNSIGNED_QUADS ? 0x80808080 : 0);
  const size_t per_16 = 16 / group(form), all = steps(in, form);
  for (size_t r = 0; r < round_up(rows, width); r++) {
    float *panel = panels + (r - r % width) * gemm_int8_left_row(in) + r % width;
    uint32_t *to = (uint32_t *)(panel + width), lanes[8];
    float scale = r < rows ? magnitude(x + r * in, in) / (float)levels(in, form) : 0;
    panel[0] = scale;
    for (size_t step = 0; step < all; step += per_16) {
      size_t k = step * group(form);
      vec words[2] = {bits_splat(0), bits_splat(0)};
      if (r < rows) round_16(words, x + r * in + k, in - k < 16 ? in - k : 16, vec_splat(inverse(scale)));
      if (form != INT8_PAIRS) words[0] = bits_xor(bytes_of(words[0], words[1]), flip);
      bits_store(lanes, words[0]);
      bits_store(lanes + 4, words[1]);
      for (size_t i = 0; i < per_16 && step + i < all; i++) to[(step + i) * width] = lanes[i];
    }
  }
}

/* A packed weight: its form; the scale of every column and where its sum starts, −128 · Σ w to undo what is added
 * to an unsigned x; panels[columns / TILE_COLS][steps][TILE_COLS][group] of bytes. */
typedef struct {
  float *scales;
  int32_t *starts;
  int8_t *panels;
} weight_parts;

enum { HEADER = 4 };

static weight_parts parts(const float *packed, size_t out) {
  float *scales = (float *)packed + HEADER, *starts = scales + round_up(out, TILE_COLS);
  return (weight_parts){scales, (int32_t *)starts, (int8_t *)(starts + round_up(out, TILE_COLS))};
}

uint64_t gemm_int8_packed_weight(uint32_t out, uint32_t in) {
  uint64_t columns = ((uint64_t)out + TILE_COLS - 1) / TILE_COLS * TILE_COLS;
  return HEADER + columns * (2 + ((uint64_t)in + 3) / 4);
}

int8_form gemm_int8_form_of(const float *packed_weight) { return (int8_form)packed_weight[0]; }

void gemm_int8_pack_weight(float *packed, const float *weight, uint32_t out, uint32_t in, int8_form form) {
  weight_parts p = parts(packed, out);
  size_t all = steps(in, form), lane = group(form);
  packed[0] = (float)form;
  for (size_t j = 0; j < round_up(out, TILE_COLS); j++) {
    const float *row = weight + j * in;
    int8_t *to = p.panels + (j - j % TILE_COLS) * all * lane + j % TILE_COLS * lane;
    float scale = j < out ? magnitude(row, in) / 127 : 0;
    int32_t sum = 0;
    for (size_t k = 0; k < all * lane; k++) {
      int8_t q = j < out && k < in && scale > 0 ? (int8_t)__builtin_nearbyintf(row[k] * inverse(scale)) : 0;
      to[k / lane * TILE_COLS * lane + k % lane] = q;
      sum += q;
    }
    p.scales[j] = scale;
    p.starts[j] = form == INT8_UNSIGNED_QUADS ? -128 * sum : 0;
  }
}

/* ---- multiplying --------------------------------------------------------------------------------------------- */

typedef struct {
  const float *scales;
  const int32_t *starts;
  const int8_t *bytes;
} right_panel;

/* As the float kernel: `rows` by 8 of c. */
VERB void multiply(int rows, bool quads, float *c, size_t stride, const float *base, const float *a, size_t width,
                   const right_panel *b, size_t steps) {
  const uint32_t *x = (const uint32_t *)(a + width);
  const int8_t *w = b->bytes;
  vec acc[INT8_TILE_ROWS][2];
  for (int r = 0; r < rows; r++) {
    acc[r][0] = bits_load((const uint32_t *)b->starts);
    acc[r][1] = bits_load((const uint32_t *)b->starts + 4);
  }
  for (size_t k = steps; k > 0; k--) {
    vec w0 = quads ? bytes_load(w) : words_load_bytes(w);
    vec w1 = quads ? bytes_load(w + 16) : words_load_bytes(w + 8);
    for (int r = 0; r < rows; r++) {
      vec xr = bits_load_splat(x + r);
      acc[r][0] = quads ? bytes_dot(xr, w0, acc[r][0]) : bits_add(acc[r][0], words_dot(xr, w0));
      acc[r][1] = quads ? bytes_dot(xr, w1, acc[r][1]) : bits_add(acc[r][1], words_dot(xr, w1));
    }
    x += width;
    w += quads ? 32 : 16;
  }
  for (int r = 0; r < rows; r++) {
    vec scale = vec_load_splat(a + r);
    for (int half = 0; half < 2; half++) {
      vec factor = vec_mul(scale, vec_load(b->scales + 4 * half));
      vec_store(c + (size_t)r * stride + 4 * half,
                vec_fma(vec_of_bits(acc[r][half]), factor, vec_load(base + 4 * half)));
    }
  }
}

typedef void tile(float *c, size_t stride, const float *base, const float *a, size_t width, const right_panel *b,
                  size_t steps);

#define TILE(n, form, quads)                                                                                           \
  KERNEL static void form##_##n(float *c, size_t stride, const float *base, const float *a, size_t width,              \
                                const right_panel *b, size_t steps) {                                                  \
    multiply(n, quads, c, stride, base, a, width, b, steps);                                                           \
  }
#define TILES(form, quads)                                                                                             \
  TILE(1, form, quads) TILE(2, form, quads) TILE(3, form, quads) TILE(4, form, quads) TILE(5, form, quads)
TILES(pairs, false)
TILES(quads, true)

static tile *const pairs[] = {pairs_1, pairs_2, pairs_3, pairs_4, pairs_5};
static tile *const quads[] = {quads_1, quads_2, quads_3, quads_4, quads_5};

void gemm_int8_range(const gemm_product *p, const gemm_left *x, size_t first, size_t last, size_t from, size_t to) {
  int8_form form = gemm_int8_form_of(p->weight);
  weight_parts w = parts(p->weight, p->out);
  size_t all = steps(x->in, form);
  for (size_t j = from; j < to; j += TILE_COLS) {
    const right_panel b = {w.scales + j, w.starts + j, w.panels + j * all * group(form)};
    size_t columns = to - j < TILE_COLS ? to - j : TILE_COLS;
    float base[TILE_COLS] = {0}, whole[INT8_TILE_ROWS * TILE_COLS];
    for (size_t i = 0; p->bias && i < columns; i++) base[i] = p->bias[j + i];
    for (size_t r = first; r < last; r += x->width) {
      size_t rows = last - r < x->width ? last - r : x->width;
      float *c = p->y + r * p->out + j;
      const float *a = x->panels + r * gemm_int8_left_row(x->in);
      tile *run = (HL_SIMD_RELAXED && form != INT8_PAIRS ? quads : pairs)[rows - 1];
      if (columns == TILE_COLS) run(c, p->out, base, a, x->width, &b, all);
      else {
        run(whole, TILE_COLS, base, a, x->width, &b, all);
        for (size_t i = 0; i < rows * columns; i++)
          c[i / columns * p->out + i % columns] = whole[i / columns * TILE_COLS + i % columns];
      }
    }
  }
}
