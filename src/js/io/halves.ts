// Converts float32 to float16.

import { encodeFloats, FLOATS } from '../check/floats.ts';

/** Rounds float32 to float16, as encodeFloats does but faster. */
export function toHalves(data: Float32Array) {
  const wide = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const out = new Uint16Array(data.length);
  for (let i = 0; i < out.length; i++) {
    const [sign, size] = [(wide[i] >>> 16) & 0x8000, wide[i] & 0x7fffffff];
    // Below 2 ** -14 float16 is subnormal; adding 2 ** 52 rounds to an integer, ties to even. Above, rounding may carry
    // into the exponent, which is correct.
    if (size < 0x38800000) out[i] = sign | (Math.abs(data[i]) * 2 ** 24 + 2 ** 52 - 2 ** 52);
    else if (size < 0x47800000) out[i] = sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
    else encodeFloats(data.subarray(i, i + 1), FLOATS.F16, out.subarray(i, i + 1));
  }
  return out;
}
