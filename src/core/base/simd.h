/* Vector operations on four floats. Only this file and simd_portable.h use intrinsics and the compiler's macros for
 * flavours. */
#ifndef HL_SIMD_H
#define HL_SIMD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __wasm__
#include <wasm_simd128.h>
#else
#include "base/simd_portable.h"
#endif

/* The loop pragmas are hints for clang, which compiles the .wasm; gcc ignores them. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

typedef v128_t vec;

/* The register tile of the matrix kernel is TILE_ROWS × 8. In the relaxed flavour, six rows of two accumulators leave
 * one register for the splat. Without a fused multiply-add the product needs another register, so there are five
 * rows. */
#ifdef __wasm_relaxed_simd__
#define TILE_ROWS 6
enum { HL_SIMD_RELAXED = 1, TILE_COLS = 8 };
#else
#define TILE_ROWS 5
enum { HL_SIMD_RELAXED = 0, TILE_COLS = 8 };
#endif

#define INLINE static inline __attribute__((always_inline))
/* A hot loop has a function of its own, because the engine would run out of registers if it were part of a larger
 * function. */
#define KERNEL __attribute__((noinline))

INLINE vec vec_splat(float x) { return wasm_f32x4_splat(x); }
INLINE vec vec_load(const float *p) { return wasm_v128_load(p); }
INLINE vec vec_load_splat(const float *p) { return wasm_v128_load32_splat(p); }
INLINE vec vec_load_each(const float *a, const float *b, const float *c, const float *d) {
  return wasm_v128_load32_lane(d, wasm_v128_load32_lane(c, wasm_v128_load32_lane(b, wasm_v128_load32_zero(a), 1), 2),
                               3);
}
INLINE void vec_store(float *p, vec x) { wasm_v128_store(p, x); }
INLINE void vec_store_half(float *p, vec x) { wasm_v128_store64_lane(p, x, 0); }

INLINE vec vec_add(vec a, vec b) { return wasm_f32x4_add(a, b); }
INLINE vec vec_sub(vec a, vec b) { return wasm_f32x4_sub(a, b); }
INLINE vec vec_mul(vec a, vec b) { return wasm_f32x4_mul(a, b); }
INLINE vec vec_div(vec a, vec b) { return wasm_f32x4_div(a, b); }
INLINE vec vec_abs(vec a) { return wasm_f32x4_abs(a); }
INLINE vec vec_sqrt(vec a) { return wasm_f32x4_sqrt(a); }

/* vec_min (vec_max) returns b if b is smaller (greater) than a, else a; if either is NaN, a. */
INLINE vec vec_min(vec a, vec b) { return wasm_f32x4_pmin(a, b); }
INLINE vec vec_max(vec a, vec b) { return wasm_f32x4_pmax(a, b); }

/* a · b + c. It is rounded once or twice, depending on the flavour and the processor. */
INLINE vec vec_fma(vec a, vec b, vec c) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

/* ORs the bits of x · 0 into `seen`. The product is ±0 for every finite x and NaN otherwise, so the bits show whether
 * any x was not finite. */
INLINE vec vec_nan_unless_finite(vec seen, vec x) { return wasm_v128_or(seen, wasm_f32x4_mul(x, vec_splat(0))); }

/* Comparisons return all ones or all zeros in each lane. */
INLINE vec vec_equal(vec a, vec b) { return wasm_f32x4_eq(a, b); }
INLINE vec vec_less(vec a, vec b) { return wasm_f32x4_lt(a, b); }
INLINE vec vec_zero_where(vec lanes, vec x) { return wasm_v128_andnot(x, lanes); }
INLINE vec vec_select(vec lanes, vec yes, vec no) { return wasm_v128_bitselect(yes, no, lanes); }
INLINE vec vec_copy_sign(vec x, vec sign) {
  return wasm_v128_bitselect(sign, x, wasm_i32x4_splat((int32_t)0x80000000));
}
INLINE int vec_all_zero(vec x) { return !wasm_v128_any_true(wasm_f32x4_ne(x, wasm_f32x4_splat(0))); }

/* Converts the lower or the upper half of four floats to two lanes of double precision, for sums that need the
 * precision. */
INLINE vec doubles_low(vec x) { return wasm_f64x2_promote_low_f32x4(x); }
INLINE vec doubles_high(vec x) { return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 1)); }
INLINE vec doubles_narrow(vec low, vec high) {
  return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 2);
}
INLINE vec doubles_add(vec a, vec b) { return wasm_f64x2_add(a, b); }
INLINE vec doubles_mul(vec a, vec b) { return wasm_f64x2_mul(a, b); }
INLINE double doubles_sum(vec x) { return wasm_f64x2_extract_lane(x, 0) + wasm_f64x2_extract_lane(x, 1); }

/* Lanes as unsigned 32-bit integers. */
INLINE vec bits_splat(uint32_t x) { return wasm_i32x4_splat((int32_t)x); }
INLINE vec bits_load(const uint32_t *p) { return wasm_v128_load(p); }
INLINE vec bits_add(vec a, vec b) { return wasm_i32x4_add(a, b); }
INLINE vec bits_mul(vec a, vec b) { return wasm_i32x4_mul(a, b); }
INLINE vec bits_and(vec a, vec b) { return wasm_v128_and(a, b); }
INLINE vec bits_or(vec a, vec b) { return wasm_v128_or(a, b); }
INLINE int bits_any(vec a) { return wasm_v128_any_true(a); }
INLINE vec bits_xor(vec a, vec b) { return wasm_v128_xor(a, b); }
INLINE vec bits_shift_left(vec a, uint32_t n) { return wasm_i32x4_shl(a, n); }
INLINE vec bits_shift_right(vec a, uint32_t n) { return wasm_u32x4_shr(a, n); }
INLINE vec bits_shift_right_signed(vec a, uint32_t n) { return wasm_i32x4_shr(a, n); }
INLINE vec bits_less(vec a, vec b) { return wasm_u32x4_lt(a, b); }
INLINE void bits_store(uint32_t *p, vec x) { wasm_v128_store(p, x); }

/* Integers: four lanes of 32 bits, eight words of 16 bits or sixteen bytes. Conversions to narrower types saturate. */
INLINE vec vec_nearest(vec x) { return wasm_f32x4_nearest(x); }
/* Nearest integer for |x| < 2²². Adding a large constant rounds the fraction away. */
INLINE vec vec_round(vec x) {
  const float digits = 0x1.8p23f;
  return wasm_i32x4_sub(wasm_f32x4_add(x, wasm_f32x4_splat(digits)), wasm_f32x4_splat(digits));
}
/* words_load_bytes loads eight signed bytes as words; words_widen_low and words_widen_high convert four signed words to
 * integers. */
INLINE vec words_load_bytes(const int8_t *p) { return wasm_i16x8_load8x8(p); }
INLINE vec words_widen_low(vec words) { return wasm_i32x4_extend_low_i16x8(words); }
INLINE vec words_widen_high(vec words) { return wasm_i32x4_extend_high_i16x8(words); }
INLINE vec vec_from_integers(vec x) { return wasm_f32x4_convert_i32x4(x); }
INLINE vec words_narrow(vec a, vec b) { return wasm_i16x8_narrow_i32x4(a, b); }
INLINE vec bytes_narrow(vec a, vec b) { return wasm_i8x16_narrow_i16x8(a, b); }
/* Does the same as bytes_narrow, but with unsigned results. */
INLINE vec bytes_narrow_unsigned(vec a, vec b) { return wasm_u8x16_narrow_i16x8(a, b); }
INLINE vec bytes_load(const uint8_t *p) { return wasm_v128_load(p); }
INLINE void bytes_store(uint8_t *p, vec x) { wasm_v128_store(p, x); }
INLINE vec bytes_add(vec a, vec b) { return wasm_i8x16_add(a, b); }
INLINE vec words_add(vec a, vec b) { return wasm_i16x8_add(a, b); }
INLINE vec words_sub(vec a, vec b) { return wasm_i16x8_sub(a, b); }
INLINE vec words_mul(vec a, vec b) { return wasm_i16x8_mul(a, b); }
INLINE vec words_shift_left(vec a, uint32_t n) { return wasm_i16x8_shl(a, n); }
INLINE vec words_shift_right(vec a, uint32_t n) { return wasm_u16x8_shr(a, n); }
INLINE vec words_shift_right_signed(vec a, uint32_t n) { return wasm_i16x8_shr(a, n); }

/* Interleaves the words of `low` and `high` into 32-bit lanes: the first four of each, or the last four. */
INLINE vec words_interleave_low(vec low, vec high) { return wasm_i16x8_shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11); }
INLINE vec words_interleave_high(vec low, vec high) {
  return wasm_i16x8_shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* Interleaves the bytes of `low` and `high` into words: the first eight of each, or the last eight. */
INLINE vec bytes_interleave_low(vec low, vec high) {
  return wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE vec bytes_interleave_high(vec low, vec high) {
  return wasm_i8x16_shuffle(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/* Unsigned words from two vectors of 32-bit lanes below 2¹⁶. */
INLINE vec halves_narrow(vec a, vec b) { return wasm_u16x8_narrow_i32x4(a, b); }
INLINE vec halves_load(const uint16_t *p) { return wasm_v128_load(p); }
INLINE void halves_store(uint16_t *p, vec x) { wasm_v128_store(p, x); }

/* Lane i = a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁, a and b vectors of words. */
INLINE vec words_dot(vec a, vec b) { return wasm_i32x4_dot_i16x8(a, b); }

/* Lane i = sum + Σ x·w over the four bytes of the lane, x signed, w unsigned. For w > 127 the result depends on the
 * processor. The plain flavour has no instruction for this product. */
INLINE vec bytes_dot(vec x, vec w, vec sum) {
#if defined(__wasm_relaxed_simd__) && defined(__wasm__)
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(x, w, sum);
#else
  vec low = wasm_i32x4_dot_i16x8(wasm_i16x8_extend_low_i8x16(x), wasm_u16x8_extend_low_u8x16(w));
  vec high = wasm_i32x4_dot_i16x8(wasm_i16x8_extend_high_i8x16(x), wasm_u16x8_extend_high_u8x16(w));
  return bits_add(sum, bits_add(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), wasm_i32x4_shuffle(low, high, 1, 3, 5, 7)));
#endif
}

/* bytes_dot_words returns words, each the sum of two products x·w; for w ≤ 15 the result is the same on every
 * processor. words_add_pairs adds neighbouring words. Only the relaxed flavour has instructions for them. */
#if defined(__wasm_relaxed_simd__) && defined(__wasm__)
#define HL_SIMD_RELAXED_BYTES 1
INLINE vec bytes_dot_words(vec x, vec w) { return wasm_i16x8_relaxed_dot_i8x16_i7x16(x, w); }
INLINE vec words_add_pairs(vec x) { return wasm_i32x4_extadd_pairwise_i16x8(x); }
#else
#define HL_SIMD_RELAXED_BYTES 0
#endif

/* vec_unzip splits four pairs into their first and their second elements; vec_zip is the reverse. */
INLINE void vec_unzip(vec *a, vec *b) {
  const vec first = wasm_i32x4_shuffle(*a, *b, 0, 2, 4, 6);
  *b = wasm_i32x4_shuffle(*a, *b, 1, 3, 5, 7);
  *a = first;
}
INLINE void vec_zip(vec *a, vec *b) {
  const vec first = wasm_i32x4_shuffle(*a, *b, 0, 4, 1, 5);
  *b = wasm_i32x4_shuffle(*a, *b, 2, 6, 3, 7);
  *a = first;
}

/* Transposes a 4×4 matrix. */
INLINE void vec_transpose(vec row[4]) {
  vec a = wasm_i32x4_shuffle(row[0], row[1], 0, 4, 1, 5), b = wasm_i32x4_shuffle(row[2], row[3], 0, 4, 1, 5);
  vec c = wasm_i32x4_shuffle(row[0], row[1], 2, 6, 3, 7), d = wasm_i32x4_shuffle(row[2], row[3], 2, 6, 3, 7);
  row[0] = wasm_i64x2_shuffle(a, b, 0, 2);
  row[1] = wasm_i64x2_shuffle(a, b, 1, 3);
  row[2] = wasm_i64x2_shuffle(c, d, 0, 2);
  row[3] = wasm_i64x2_shuffle(c, d, 1, 3);
}

#endif
