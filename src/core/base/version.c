/* Version numbers of the binary, so that a loader can refuse a binary that does not match. */
#include "base/simd.h"
#include "headlight.h"

/* Defined by the build (dist/abi/abi.flags). */
#ifndef HL_ABI
#define HL_ABI 0
#endif
#ifndef HL_VERSION
#define HL_VERSION 0
#endif

uint32_t hl_simd(void) { return HL_SIMD_RELAXED; }
uint32_t hl_abi(void) { return HL_ABI; }
uint32_t hl_version(void) { return HL_VERSION; }
