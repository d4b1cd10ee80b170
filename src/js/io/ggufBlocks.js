// Rounds float32 numbers to the types of GGUF files that Headlight writes: floats, and blocks of 32 numbers with one
// float16 scale. Each code is the nearest code for the stored scale, while llama.cpp uses the scale before it is
// rounded to float16. The scale of Q8_0 is the largest number / 127. The scale of Q4_0 is that of llama.cpp, the
// largest number / −8, or another scale if it gives a smaller sum of squared errors.

import { decodeFloats, encodeFloats, FLOATS } from '../check/floats.js';
import { toHalves } from './halves.js';

/** @typedef {'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0'} WrittenType */

/** Number of values of a block. */
const LENGTH = 32;
/**
 * Candidates for the code of the largest number of a block. For Q4_0 each gives a scale, and the best scale is used.
 * The first code is that of llama.cpp.
 */
const LEVELS = [-8, -7, -7.5, -8.5, -9];

/** Rounds half away from zero, like C. @param {number} x */
const roundAway = (x) => (x + (x < 0 ? -0.5 : 0.5)) | 0;

/** @param {Float32Array} scales @returns {[codes: Uint16Array, rounded: Float32Array]} */
function halvesOf(scales) {
  const codes = toHalves(scales);
  return [codes, decodeFloats(codes, FLOATS.F16)];
}

/** @param {Float32Array} x @param {Uint8Array} out */
function writeQ8(x, out) {
  const scales = new Float32Array(x.length / LENGTH);
  for (let b = 0; b < scales.length; b++) {
    let most = 0;
    for (let i = b * LENGTH; i < (b + 1) * LENGTH; i++) most = Math.max(most, Math.abs(x[i]));
    scales[b] = most / 127;
  }
  const halves = toHalves(scales);
  // A subnormal float16 may be rounded down so far that the largest number would be more than half a scale above 127.
  decodeFloats(halves, FLOATS.F16).forEach((scale, b) => void (scale * 127.5 < scales[b] * 127 && halves[b]++));
  const rounded = decodeFloats(halves, FLOATS.F16);
  for (let b = 0, to = 0; b < scales.length; b++) {
    out[to++] = halves[b];
    out[to++] = halves[b] >> 8;
    const scale = rounded[b];
    for (let i = b * LENGTH; i < (b + 1) * LENGTH; i++)
      out[to++] = scale === 0 ? 0 : Math.max(-127, Math.min(127, roundAway(x[i] / scale)));
  }
}

/** Returns the nearest code of 4 bits, from −8 to 7. @param {number} x in units of the scale */
function nearest(x) {
  // The operand of | 0 is not negative, so that it is rounded down.
  return x <= -8 ? -8 : x >= 7 ? 7 : ((x + 8.5) | 0) - 8;
}

/** Returns the number with the largest absolute value. @param {Float32Array} x @param {number} begin */
function largestOf(x, begin) {
  let most = 0;
  for (let i = begin; i < begin + LENGTH; i++) if (Math.abs(x[i]) > Math.abs(most)) most = x[i];
  return most;
}

/**
 * Returns the scale with the smallest sum of squared errors. For the codes of each level, the best scale is computed.
 * @param {Float32Array} x
 * @param {number} begin of the block
 * @param {number} most the number with the largest absolute value, not 0
 */
function bestScale(x, begin, most) {
  let [best, scale] = [0, 0];
  for (const level of LEVELS) {
    const inverse = level / most;
    let [product, square] = [0, 0];
    for (let i = begin; i < begin + LENGTH; i++) {
      const code = nearest(x[i] * inverse);
      product += x[i] * code;
      square += code * code;
    }
    // With the best scale for these codes, the sum of squared errors is Σ x² − product² / square.
    if (product * product > best * square) [best, scale] = [(product * product) / square, product / square];
  }
  return scale;
}

/**
 * Returns the sum of the squared errors of a block with a scale.
 * @param {Float32Array} x
 * @param {number} begin
 * @param {number} scale
 */
function errorOf(x, begin, scale) {
  let sum = 0;
  for (let i = begin; i < begin + LENGTH; i++) sum += (x[i] - (scale === 0 ? 0 : scale * nearest(x[i] / scale))) ** 2;
  return sum;
}

/** @param {Float32Array} x @param {Uint8Array} out */
function writeQ4(x, out) {
  const blocks = x.length / LENGTH;
  const [plain, best] = [new Float32Array(blocks), new Float32Array(blocks)];
  for (let b = 0; b < blocks; b++) {
    const most = largestOf(x, b * LENGTH);
    plain[b] = most === 0 ? 0 : most / -8;
    best[b] = most === 0 ? 0 : bestScale(x, b * LENGTH, most);
  }
  const [plainCodes, plainScales] = halvesOf(plain);
  const [bestCodes, bestScales] = halvesOf(best);
  for (let b = 0, to = 0; b < blocks; b++, to += 18) {
    const begin = b * LENGTH;
    const isBetter = errorOf(x, begin, bestScales[b]) < errorOf(x, begin, plainScales[b]);
    const [half, scale] = isBetter ? [bestCodes[b], bestScales[b]] : [plainCodes[b], plainScales[b]];
    out[to] = half;
    out[to + 1] = half >> 8;
    const code = (/** @type {number} */ i) => (scale === 0 ? 8 : nearest(x[begin + i] / scale) + 8);
    for (let i = 0; i < 16; i++) out[to + 2 + i] = code(i) | (code(16 + i) << 4);
  }
}

/** Rounds to bfloat16, ties to even. @param {Float32Array} x */
function toUpperHalves(x) {
  const wide = new Uint32Array(x.buffer, x.byteOffset, x.length);
  const codes = new Uint16Array(x.length);
  for (let i = 0; i < codes.length; i++) {
    const isNumber = (wide[i] & 0x7fffffff) <= 0x7f800000;
    if (isNumber) codes[i] = (wide[i] + 0x7fff + ((wide[i] >>> 16) & 1)) >>> 16;
    else encodeFloats(x.subarray(i, i + 1), FLOATS.BF16, codes.subarray(i, i + 1));
  }
  return codes;
}

/** @param {Uint16Array} codes @param {Uint8Array} out */
const copyHalves = (codes, out) => out.set(new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength));

/**
 * Functions that write rows, by the name of the type.
 * @type {Record<WrittenType, (x: Float32Array, out: Uint8Array) => void>}
 */
const WRITERS = {
  F32: (x, out) => out.set(new Uint8Array(x.buffer, x.byteOffset, x.byteLength)),
  F16: (x, out) => copyHalves(toHalves(x), out),
  BF16: (x, out) => copyHalves(toUpperHalves(x), out),
  Q8_0: writeQ8,
  Q4_0: writeQ4,
};

export const WRITTEN_TYPES = /** @type {WrittenType[]} */ (Object.keys(WRITERS));

/** The largest number that a type can hold. The scale of a block is a float16. @type {Record<WrittenType, number>} */
const LARGEST = { F32: Infinity, F16: 65519, BF16: 3.3961e38, Q8_0: 127 * 65504, Q4_0: 7 * 65504 };

/**
 * Returns false if a number would become infinite, or if a block contains NaN or an infinite number, so that it has no
 * scale.
 * @param {Float32Array} x
 * @param {WrittenType} type
 */
export function isInRange(x, type) {
  if (type === 'F32') return true;
  const [most, inBlocks] = [LARGEST[type], type === 'Q8_0' || type === 'Q4_0'];
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i]);
    if (!(size <= most) && (inBlocks || size < Infinity)) return false;
  }
  return true;
}

/**
 * Writes whole rows of a tensor.
 * @param {WrittenType} type
 * @param {Float32Array} x the numbers; for types with blocks a multiple of 32
 * @param {Uint8Array} out
 */
export const writeRows = (type, x, out) => WRITERS[type](x, out);
