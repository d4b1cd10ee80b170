/* The subset of <wasm_simd128.h> that simd.h uses, for native code. It is written with the vector extensions of gcc and
 * clang, which work on every processor. Names and semantics are those of WebAssembly. */
#ifndef HL_SIMD_PORTABLE_H
#define HL_SIMD_PORTABLE_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Headlight's core needs a processor that stores the low byte first"
#endif

#define LANES(type) type __attribute__((vector_size(16)))
typedef LANES(int32_t) v128_t;
typedef LANES(float) lanes_f32;
typedef LANES(double) lanes_f64;
typedef LANES(int8_t) lanes_i8;
typedef LANES(uint8_t) lanes_u8;
typedef LANES(int16_t) lanes_i16;
typedef LANES(uint16_t) lanes_u16;
typedef LANES(uint32_t) lanes_u32;
typedef LANES(int64_t) lanes_i64;

#define WASM static inline __attribute__((always_inline))

/* ---- memory: addresses may have any alignment ---- */

WASM v128_t wasm_v128_load(const void *p) {
  v128_t x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
WASM void wasm_v128_store(void *p, v128_t x) { __builtin_memcpy(p, &x, sizeof x); }
WASM int32_t load_lane(const void *p) {
  int32_t x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
WASM v128_t wasm_i32x4_splat(int32_t x) { return (v128_t){x, x, x, x}; }
WASM v128_t wasm_f32x4_splat(float x) { return (v128_t)(lanes_f32){x, x, x, x}; }
WASM v128_t wasm_v128_load32_splat(const void *p) { return wasm_i32x4_splat(load_lane(p)); }
WASM v128_t wasm_v128_load32_zero(const void *p) { return (v128_t){load_lane(p), 0, 0, 0}; }
WASM v128_t wasm_v128_load32_lane(const void *p, v128_t x, int lane) {
  x[lane] = load_lane(p);
  return x;
}
WASM void wasm_v128_store64_lane(void *p, v128_t x, int lane) {
  int64_t half = ((lanes_i64)x)[lane];
  __builtin_memcpy(p, &half, sizeof half);
}

/* ---- bits ---- */

WASM v128_t wasm_v128_and(v128_t a, v128_t b) { return a & b; }
WASM v128_t wasm_v128_or(v128_t a, v128_t b) { return a | b; }
WASM v128_t wasm_v128_xor(v128_t a, v128_t b) { return a ^ b; }
WASM v128_t wasm_v128_andnot(v128_t a, v128_t b) { return a & ~b; }
WASM v128_t wasm_v128_bitselect(v128_t yes, v128_t no, v128_t bits) { return (yes & bits) | (no & ~bits); }
WASM int wasm_v128_any_true(v128_t x) { return (((lanes_i64)x)[0] | ((lanes_i64)x)[1]) != 0; }

/* ---- float32 ---- */

WASM v128_t wasm_f32x4_add(v128_t a, v128_t b) { return (v128_t)((lanes_f32)a + (lanes_f32)b); }
WASM v128_t wasm_f32x4_sub(v128_t a, v128_t b) { return (v128_t)((lanes_f32)a - (lanes_f32)b); }
WASM v128_t wasm_f32x4_mul(v128_t a, v128_t b) { return (v128_t)((lanes_f32)a * (lanes_f32)b); }
WASM v128_t wasm_f32x4_div(v128_t a, v128_t b) { return (v128_t)((lanes_f32)a / (lanes_f32)b); }
WASM v128_t wasm_f32x4_abs(v128_t a) { return a & INT32_MAX; }
WASM v128_t wasm_f32x4_eq(v128_t a, v128_t b) { return (lanes_f32)a == (lanes_f32)b; }
WASM v128_t wasm_f32x4_ne(v128_t a, v128_t b) { return (lanes_f32)a != (lanes_f32)b; }
WASM v128_t wasm_f32x4_lt(v128_t a, v128_t b) { return (lanes_f32)a < (lanes_f32)b; }
WASM v128_t wasm_f32x4_pmin(v128_t a, v128_t b) { return wasm_v128_bitselect(b, a, wasm_f32x4_lt(b, a)); }
WASM v128_t wasm_f32x4_pmax(v128_t a, v128_t b) { return wasm_v128_bitselect(b, a, wasm_f32x4_lt(a, b)); }
WASM v128_t wasm_f32x4_convert_i32x4(v128_t a) { return (v128_t) __builtin_convertvector(a, lanes_f32); }

#define EACH_OF_FOUR(f, x) ((v128_t)(lanes_f32){f((x)[0]), f((x)[1]), f((x)[2]), f((x)[3])})
WASM v128_t wasm_f32x4_sqrt(v128_t a) {
  lanes_f32 x = (lanes_f32)a;
  return EACH_OF_FOUR(__builtin_sqrtf, x);
}
WASM v128_t wasm_f32x4_nearest(v128_t a) {
  lanes_f32 x = (lanes_f32)a;
  return EACH_OF_FOUR(__builtin_rintf, x);
}
WASM float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
/* Rounds once, as every processor does on which relaxed SIMD is worth using. */
WASM v128_t wasm_f32x4_relaxed_madd(v128_t a, v128_t b, v128_t c) {
  lanes_f32 x = (lanes_f32)a, y = (lanes_f32)b, z = (lanes_f32)c;
  return (v128_t)(lanes_f32){fused(x[0], y[0], z[0]), fused(x[1], y[1], z[1]), fused(x[2], y[2], z[2]),
                             fused(x[3], y[3], z[3])};
}

/* ---- float64 ---- */

WASM v128_t wasm_f64x2_add(v128_t a, v128_t b) { return (v128_t)((lanes_f64)a + (lanes_f64)b); }
WASM v128_t wasm_f64x2_mul(v128_t a, v128_t b) { return (v128_t)((lanes_f64)a * (lanes_f64)b); }
WASM double wasm_f64x2_extract_lane(v128_t a, int lane) { return ((lanes_f64)a)[lane]; }
WASM v128_t wasm_f64x2_promote_low_f32x4(v128_t a) {
  lanes_f32 x = (lanes_f32)a;
  return (v128_t)(lanes_f64){x[0], x[1]};
}
WASM v128_t wasm_f32x4_demote_f64x2_zero(v128_t a) {
  lanes_f64 x = (lanes_f64)a;
  return (v128_t)(lanes_f32){(float)x[0], (float)x[1], 0, 0};
}

/* ---- integers; signed overflow wraps ---- */

WASM v128_t wasm_i32x4_add(v128_t a, v128_t b) { return (v128_t)((lanes_u32)a + (lanes_u32)b); }
WASM v128_t wasm_i32x4_sub(v128_t a, v128_t b) { return (v128_t)((lanes_u32)a - (lanes_u32)b); }
WASM v128_t wasm_i32x4_mul(v128_t a, v128_t b) { return (v128_t)((lanes_u32)a * (lanes_u32)b); }
WASM v128_t wasm_i32x4_shl(v128_t a, uint32_t n) { return (v128_t)((lanes_u32)a << (n & 31)); }
WASM v128_t wasm_i32x4_shr(v128_t a, uint32_t n) { return a >> (int32_t)(n & 31); }
WASM v128_t wasm_u32x4_shr(v128_t a, uint32_t n) { return (v128_t)((lanes_u32)a >> (n & 31)); }
WASM v128_t wasm_u32x4_lt(v128_t a, v128_t b) { return (v128_t)((lanes_u32)a < (lanes_u32)b); }
WASM v128_t wasm_i16x8_add(v128_t a, v128_t b) { return (v128_t)((lanes_u16)a + (lanes_u16)b); }
WASM v128_t wasm_i16x8_sub(v128_t a, v128_t b) { return (v128_t)((lanes_u16)a - (lanes_u16)b); }
WASM v128_t wasm_i16x8_mul(v128_t a, v128_t b) { return (v128_t)((lanes_u16)a * (lanes_u16)b); }
WASM v128_t wasm_i16x8_shl(v128_t a, uint32_t n) { return (v128_t)((lanes_u16)a << (uint16_t)(n & 15)); }
WASM v128_t wasm_u16x8_shr(v128_t a, uint32_t n) { return (v128_t)((lanes_u16)a >> (uint16_t)(n & 15)); }
WASM v128_t wasm_i16x8_shr(v128_t a, uint32_t n) { return (v128_t)((lanes_i16)a >> (int16_t)(n & 15)); }
WASM v128_t wasm_i8x16_add(v128_t a, v128_t b) { return (v128_t)((lanes_u8)a + (lanes_u8)b); }

/* ---- shuffles ---- */

#ifdef __clang__
#define SHUFFLE(lanes, index, a, b, ...) ((v128_t)__builtin_shufflevector((lanes)(a), (lanes)(b), __VA_ARGS__))
#else
#define SHUFFLE(lanes, index, a, b, ...) ((v128_t)__builtin_shuffle((lanes)(a), (lanes)(b), (index){__VA_ARGS__}))
#endif
#define wasm_i64x2_shuffle(a, b, ...) SHUFFLE(lanes_i64, lanes_i64, a, b, __VA_ARGS__)
#define wasm_i32x4_shuffle(a, b, ...) SHUFFLE(v128_t, v128_t, a, b, __VA_ARGS__)
#define wasm_i16x8_shuffle(a, b, ...) SHUFFLE(lanes_i16, lanes_i16, a, b, __VA_ARGS__)
#define wasm_i8x16_shuffle(a, b, ...) SHUFFLE(lanes_i8, lanes_i8, a, b, __VA_ARGS__)

/* ---- wider and narrower integers ---- */

/* Duplicates each byte into a word, whose upper half is then the byte. */
WASM v128_t bytes_twice_low(v128_t x) {
  return wasm_i8x16_shuffle(x, x, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
}
WASM v128_t bytes_twice_high(v128_t x) {
  return wasm_i8x16_shuffle(x, x, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15);
}
WASM v128_t wasm_i16x8_extend_low_i8x16(v128_t x) { return (v128_t)((lanes_i16)bytes_twice_low(x) >> 8); }
WASM v128_t wasm_i16x8_extend_high_i8x16(v128_t x) { return (v128_t)((lanes_i16)bytes_twice_high(x) >> 8); }
WASM v128_t wasm_u16x8_extend_low_u8x16(v128_t x) { return (v128_t)((lanes_u16)bytes_twice_low(x) >> 8); }
WASM v128_t wasm_u16x8_extend_high_u8x16(v128_t x) { return (v128_t)((lanes_u16)bytes_twice_high(x) >> 8); }

WASM v128_t wasm_i16x8_load8x8(const void *p) {
  lanes_i64 bytes = {0, 0};
  __builtin_memcpy(&bytes, p, sizeof bytes / 2);
  return wasm_i16x8_extend_low_i8x16((v128_t)bytes);
}
WASM v128_t wasm_i32x4_extend_low_i16x8(v128_t x) {
  return (v128_t)((v128_t)wasm_i16x8_shuffle(x, x, 0, 0, 1, 1, 2, 2, 3, 3) >> 16);
}
WASM v128_t wasm_i32x4_extend_high_i16x8(v128_t x) {
  return (v128_t)((v128_t)wasm_i16x8_shuffle(x, x, 4, 4, 5, 5, 6, 6, 7, 7) >> 16);
}

WASM v128_t clamp_lanes(v128_t x, int32_t min, int32_t max) {
  v128_t low = wasm_i32x4_splat(min), high = wasm_i32x4_splat(max);
  x = wasm_v128_bitselect(low, x, x < low);
  return wasm_v128_bitselect(high, x, x > high);
}
WASM v128_t clamp_words(v128_t x, int16_t min, int16_t max) {
  lanes_i16 low = {min, min, min, min, min, min, min, min};
  lanes_i16 high = {max, max, max, max, max, max, max, max};
  x = wasm_v128_bitselect((v128_t)low, x, (v128_t)((lanes_i16)x < low));
  return wasm_v128_bitselect((v128_t)high, x, (v128_t)((lanes_i16)x > high));
}
/* Returns the lower half of each lane of a, then of each lane of b. */
WASM v128_t lower_words(v128_t a, v128_t b) { return wasm_i16x8_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
WASM v128_t lower_bytes(v128_t a, v128_t b) {
  return wasm_i8x16_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
WASM v128_t wasm_i16x8_narrow_i32x4(v128_t a, v128_t b) {
  return lower_words(clamp_lanes(a, INT16_MIN, INT16_MAX), clamp_lanes(b, INT16_MIN, INT16_MAX));
}
WASM v128_t wasm_u16x8_narrow_i32x4(v128_t a, v128_t b) {
  return lower_words(clamp_lanes(a, 0, UINT16_MAX), clamp_lanes(b, 0, UINT16_MAX));
}
WASM v128_t wasm_i8x16_narrow_i16x8(v128_t a, v128_t b) {
  return lower_bytes(clamp_words(a, INT8_MIN, INT8_MAX), clamp_words(b, INT8_MIN, INT8_MAX));
}
WASM v128_t wasm_u8x16_narrow_i16x8(v128_t a, v128_t b) {
  return lower_bytes(clamp_words(a, 0, UINT8_MAX), clamp_words(b, 0, UINT8_MAX));
}

/* Lane i = a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁, a and b vectors of words. */
WASM v128_t wasm_i32x4_dot_i16x8(v128_t a, v128_t b) {
  v128_t even = wasm_i32x4_mul(wasm_i32x4_shl(a, 16) >> 16, wasm_i32x4_shl(b, 16) >> 16);
  return wasm_i32x4_add(even, wasm_i32x4_mul(a >> 16, b >> 16));
}

#undef LANES
#undef WASM
#undef EACH_OF_FOUR

#endif
