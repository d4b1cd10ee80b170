// Rounds float32 to the types that Headlight writes: floats, and blocks of 32 numbers with one float16 scale. Each code
// is the nearest for the stored scale (llama.cpp uses the scale before rounding). Q8_0 has llama.cpp's scale, the
// largest number / 127; Q4_0 the largest / −8, or another with a smaller sum of squared errors.

import { decodeFloats, encodeFloats, FLOATS } from '../check/floats.ts';
import { toHalves } from './halves.ts';

export type WrittenType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0';

const LENGTH = 32;
/** Candidates for the code of a block's largest number, whose best scale Q4_0 uses. llama.cpp has only the first. */
const LEVELS = [-8, -7, -7.5, -8.5, -9];

/** Rounds half away from zero, like C. */
const roundAway = (x: number) => (x + (x < 0 ? -0.5 : 0.5)) | 0;

function halvesOf(scales: Float32Array): [codes: Uint16Array, rounded: Float32Array] {
  const codes = toHalves(scales);
  return [codes, decodeFloats(codes, FLOATS.F16)];
}

function writeQ8(x: Float32Array, out: Uint8Array) {
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

/** Returns the nearest code of 4 bits, from −8 to 7. x: in units of the scale. */
function nearest(x: number) {
  // The operand of | 0 is not negative, so that it is rounded down.
  return x <= -8 ? -8 : x >= 7 ? 7 : ((x + 8.5) | 0) - 8;
}

function largestOf(x: Float32Array, begin: number) {
  let most = 0;
  for (let i = begin; i < begin + LENGTH; i++) if (Math.abs(x[i]) > Math.abs(most)) most = x[i];
  return most;
}

/**
 * Returns the scale with the least squared error, of the best scales for the codes of each level. most: the number with
 * the largest absolute value, not 0.
 */
function bestScale(x: Float32Array, begin: number, most: number) {
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

function errorOf(x: Float32Array, begin: number, scale: number) {
  let sum = 0;
  for (let i = begin; i < begin + LENGTH; i++) sum += (x[i] - (scale === 0 ? 0 : scale * nearest(x[i] / scale))) ** 2;
  return sum;
}

function writeQ4(x: Float32Array, out: Uint8Array) {
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
    const code = (i: number) => (scale === 0 ? 8 : nearest(x[begin + i] / scale) + 8);
    for (let i = 0; i < 16; i++) out[to + 2 + i] = code(i) | (code(16 + i) << 4);
  }
}

function toUpperHalves(x: Float32Array) {
  const wide = new Uint32Array(x.buffer, x.byteOffset, x.length);
  const codes = new Uint16Array(x.length);
  for (let i = 0; i < codes.length; i++) {
    const isNumber = (wide[i] & 0x7fffffff) <= 0x7f800000;
    if (isNumber) codes[i] = (wide[i] + 0x7fff + ((wide[i] >>> 16) & 1)) >>> 16;
    else encodeFloats(x.subarray(i, i + 1), FLOATS.BF16, codes.subarray(i, i + 1));
  }
  return codes;
}

const copyHalves = (codes: Uint16Array, out: Uint8Array) =>
  out.set(new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength));

const WRITERS: Record<WrittenType, (x: Float32Array, out: Uint8Array) => void> = {
  F32: (x, out) => out.set(new Uint8Array(x.buffer, x.byteOffset, x.byteLength)),
  F16: (x, out) => copyHalves(toHalves(x), out),
  BF16: (x, out) => copyHalves(toUpperHalves(x), out),
  Q8_0: writeQ8,
  Q4_0: writeQ4,
};

export const WRITTEN_TYPES = Object.keys(WRITERS) as WrittenType[];

/** The largest number that a type can hold. The scale of a block is a float16. */
const LARGEST: Record<WrittenType, number> = {
  F32: Infinity,
  F16: 65519,
  BF16: 3.3961e38,
  Q8_0: 127 * 65504,
  Q4_0: 7 * 65504,
};

/** False if a number would become infinite, or a block has no scale because it contains NaN or an infinite number. */
export function isInRange(x: Float32Array, type: WrittenType) {
  if (type === 'F32') return true;
  const [most, inBlocks] = [LARGEST[type], type === 'Q8_0' || type === 'Q4_0'];
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i]);
    if (!(size <= most) && (inBlocks || size < Infinity)) return false;
  }
  return true;
}

/** Writes whole rows of a tensor. x: the numbers; for types with blocks a multiple of 32. */
export const writeRows = (type: WrittenType, x: Float32Array, out: Uint8Array) => WRITERS[type](x, out);
