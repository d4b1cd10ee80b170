// The block types of GGUF files, and their conversion to float32. A row is a sequence of blocks, each with its own
// scale. Every product is exact in float32 and every sum is rounded once, so the results have the same bits as
// llama.cpp's.

import { decodeFloats, FLOATS } from '../check/floats.js';
import { allocate } from './bytes.js';
import { decode } from './dtypes.js';

/**
 * Decodes the block at byte `at` to the numbers from `to`.
 * @typedef {(bytes: Uint8Array, at: number, out: Float32Array, to: number) => void} DecodeBlock
 */
/**
 * values: numbers of a block. bytes: of a block. block: undefined for floats and for types that are not decoded.
 * @typedef {{ name: string, values: number, bytes: number, block?: DecodeBlock }} GgufType
 */

/** The values of the 4-bit codes of IQ4_NL and IQ4_XS, and of MXFP4: twice the numbers of FP4. */
const IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
const FP4 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
const Q4 = IQ4.map((_, code) => code - 8);

/** The float32 of every float16. @type {Float32Array | undefined} */
let halves;

/** @param {Uint8Array} bytes @param {number} at */
function half(bytes, at) {
  halves ??= decodeFloats(
    Uint16Array.from({ length: 2 ** 16 }, (_, code) => code),
    FLOATS.F16,
  );
  return halves[bytes[at] | (bytes[at + 1] << 8)];
}

/** @param {Uint8Array} bytes @param {number} at */
const int8 = (bytes, at) => (bytes[at] << 24) >> 24;

/** @type {DecodeBlock} */
function decodeQ8(bytes, at, out, to) {
  const d = half(bytes, at);
  for (let i = 0; i < 32; i++) out[to + i] = d * int8(bytes, at + 2 + i);
}

/**
 * Blocks of 32 codes of 4 bits: the low halves of 16 bytes, then the high halves.
 * @param {Uint8Array} bytes
 * @param {number} at of the codes
 * @param {Float32Array} out
 * @param {number} to
 * @param {number} d
 * @param {readonly number[]} table
 */
function decodeCodes(bytes, at, out, to, d, table) {
  for (let i = 0; i < 16; i++) {
    out[to + i] = d * table[bytes[at + i] & 15];
    out[to + 16 + i] = d * table[bytes[at + i] >> 4];
  }
}

/** @param {readonly number[]} table @returns {DecodeBlock} */
const decodeTable = (table) => (bytes, at, out, to) => decodeCodes(bytes, at + 2, out, to, half(bytes, at), table);

/** @type {DecodeBlock} */
const decodeMxfp4 = (bytes, at, out, to) => decodeCodes(bytes, at + 1, out, to, 2 ** (bytes[at] - 128), FP4);

/** @type {DecodeBlock} */
function decodeQ4Minimum(bytes, at, out, to) {
  const [d, m] = [half(bytes, at), half(bytes, at + 2)];
  for (let i = 0; i < 16; i++) {
    out[to + i] = d * (bytes[at + 4 + i] & 15) + m;
    out[to + 16 + i] = d * (bytes[at + 4 + i] >> 4) + m;
  }
}

/** Value i of a block of 5-bit codes: bit i of the word `high` is its upper bit. @type {DecodeBlock} */
function decodeQ5(bytes, at, out, to) {
  const d = half(bytes, at);
  for (let i = 0; i < 16; i++) {
    const low = bytes[at + 6 + i];
    out[to + i] = d * (((low & 15) | (bitOf(bytes, at + 2, i) << 4)) - 16);
    out[to + 16 + i] = d * (((low >> 4) | (bitOf(bytes, at + 2, 16 + i) << 4)) - 16);
  }
}

/** @type {DecodeBlock} */
function decodeQ5Minimum(bytes, at, out, to) {
  const [d, m] = [half(bytes, at), half(bytes, at + 2)];
  for (let i = 0; i < 16; i++) {
    const low = bytes[at + 8 + i];
    out[to + i] = d * ((low & 15) | (bitOf(bytes, at + 4, i) << 4)) + m;
    out[to + 16 + i] = d * ((low >> 4) | (bitOf(bytes, at + 4, 16 + i) << 4)) + m;
  }
}

/** @param {Uint8Array} bytes @param {number} at @param {number} i */
const bitOf = (bytes, at, i) => (bytes[at + (i >> 3)] >> (i & 7)) & 1;

/** @type {DecodeBlock} */
function decodeQ2K(bytes, at, out, to) {
  const [d, dmin] = [half(bytes, at + 80), half(bytes, at + 82)];
  for (let group = 0; group < 16; group++) {
    const scale = bytes[at + group];
    const [by, minimum] = [d * (scale & 15), dmin * (scale >> 4)];
    const codes = at + 16 + 32 * (group >> 3) + 16 * (group & 1);
    const shift = 2 * ((group >> 1) & 3);
    for (let i = 0; i < 16; i++) out[to + 16 * group + i] = by * ((bytes[codes + i] >> shift) & 3) - minimum;
  }
}

/** @type {DecodeBlock} */
function decodeQ3K(bytes, at, out, to) {
  const d = half(bytes, at + 108);
  const scales = at + 96;
  for (let group = 0; group < 16; group++) {
    const low = bytes[scales + (group & 7)];
    const upper = (bytes[scales + 8 + (group & 3)] >> (2 * (group >> 2))) & 3;
    const by = d * (((group < 8 ? low & 15 : low >> 4) | (upper << 4)) - 32);
    const high = at + 16 * (group & 1);
    const codes = at + 32 + 32 * (group >> 3) + 16 * (group & 1);
    const shift = 2 * ((group >> 1) & 3);
    for (let i = 0; i < 16; i++) {
      const code = ((bytes[codes + i] >> shift) & 3) | (((bytes[high + i] >> (group >> 1)) & 1) << 2);
      out[to + 16 * group + i] = by * (code - 4);
    }
  }
}

/** The 6-bit scale of a group of 32 in Q4_K and Q5_K. @param {Uint8Array} b @param {number} at @param {number} j */
const scaleOf = (b, at, j) => (j < 4 ? b[at + j] & 63 : (b[at + j + 4] & 15) | ((b[at + j - 4] >> 6) << 4));

/** The 6-bit minimum of such a group. @param {Uint8Array} b @param {number} at @param {number} j */
const minimumOf = (b, at, j) => (j < 4 ? b[at + j + 4] & 63 : (b[at + j + 4] >> 4) | ((b[at + j] >> 6) << 4));

/** @type {DecodeBlock} */
function decodeQ4K(bytes, at, out, to) {
  const [d, dmin] = [half(bytes, at), half(bytes, at + 2)];
  for (let group = 0; group < 8; group++) {
    const [by, minimum] = [d * scaleOf(bytes, at + 4, group), dmin * minimumOf(bytes, at + 4, group)];
    const codes = at + 16 + 32 * (group >> 1);
    const shift = 4 * (group & 1);
    for (let i = 0; i < 32; i++) out[to + 32 * group + i] = by * ((bytes[codes + i] >> shift) & 15) - minimum;
  }
}

/** @type {DecodeBlock} */
function decodeQ5K(bytes, at, out, to) {
  const [d, dmin] = [half(bytes, at), half(bytes, at + 2)];
  for (let group = 0; group < 8; group++) {
    const [by, minimum] = [d * scaleOf(bytes, at + 4, group), dmin * minimumOf(bytes, at + 4, group)];
    const codes = at + 48 + 32 * (group >> 1);
    const shift = 4 * (group & 1);
    for (let i = 0; i < 32; i++) {
      const high = (bytes[at + 16 + i] >> group) & 1;
      out[to + 32 * group + i] = by * (((bytes[codes + i] >> shift) & 15) | (high << 4)) - minimum;
    }
  }
}

/** @type {DecodeBlock} */
function decodeQ6K(bytes, at, out, to) {
  const d = half(bytes, at + 208);
  for (let group = 0; group < 16; group++) {
    const by = d * int8(bytes, at + 192 + group);
    const low = at + 64 * (group >> 3) + 16 * (group & 3);
    const high = at + 128 + 32 * (group >> 3) + 16 * (group & 1);
    const [lowShift, highShift] = [group & 4, 2 * ((group >> 1) & 3)];
    for (let i = 0; i < 16; i++) {
      const code = ((bytes[low + i] >> lowShift) & 15) | (((bytes[high + i] >> highShift) & 3) << 4);
      out[to + 16 * group + i] = by * (code - 32);
    }
  }
}

/** @type {DecodeBlock} */
function decodeIq4Xs(bytes, at, out, to) {
  const d = half(bytes, at);
  const upper = bytes[at + 2] | (bytes[at + 3] << 8);
  for (let group = 0; group < 8; group++) {
    const low = (bytes[at + 4 + (group >> 1)] >> (4 * (group & 1))) & 15;
    const by = d * ((low | (((upper >> (2 * group)) & 3) << 4)) - 32);
    decodeCodes(bytes, at + 8 + 16 * group, out, to + 32 * group, by, IQ4);
  }
}

/** By the number in the file. @type {ReadonlyMap<number, GgufType>} */
export const GGUF_TYPES = new Map(
  /** @type {[number, string, number, number, DecodeBlock?][]} */ ([
    [0, 'F32', 1, 4],
    [1, 'F16', 1, 2],
    [2, 'Q4_0', 32, 18, decodeTable(Q4)],
    [3, 'Q4_1', 32, 20, decodeQ4Minimum],
    [6, 'Q5_0', 32, 22, decodeQ5],
    [7, 'Q5_1', 32, 24, decodeQ5Minimum],
    [8, 'Q8_0', 32, 34, decodeQ8],
    [9, 'Q8_1', 32, 36],
    [10, 'Q2_K', 256, 84, decodeQ2K],
    [11, 'Q3_K', 256, 110, decodeQ3K],
    [12, 'Q4_K', 256, 144, decodeQ4K],
    [13, 'Q5_K', 256, 176, decodeQ5K],
    [14, 'Q6_K', 256, 210, decodeQ6K],
    [15, 'Q8_K', 256, 292],
    [16, 'IQ2_XXS', 256, 66],
    [17, 'IQ2_XS', 256, 74],
    [18, 'IQ3_XXS', 256, 98],
    [19, 'IQ1_S', 256, 50],
    [20, 'IQ4_NL', 32, 18, decodeTable(IQ4)],
    [21, 'IQ3_S', 256, 110],
    [22, 'IQ2_S', 256, 82],
    [23, 'IQ4_XS', 256, 136, decodeIq4Xs],
    [24, 'I8', 1, 1],
    [25, 'I16', 1, 2],
    [26, 'I32', 1, 4],
    [27, 'I64', 1, 8],
    [28, 'F64', 1, 8],
    [29, 'IQ1_M', 256, 56],
    [30, 'BF16', 1, 2],
    [34, 'TQ1_0', 256, 54],
    [35, 'TQ2_0', 256, 66],
    [39, 'MXFP4', 32, 17, decodeMxfp4],
    [40, 'NVFP4', 64, 36],
    [41, 'Q1_0', 128, 18],
    [42, 'Q2_0', 64, 18],
  ]).map(([id, name, values, bytes, block]) => [id, { name, values, bytes, block }]),
);

/** Types whose values are floats without a scale. */
const FLOAT_TYPES = /** @type {const} */ (['F32', 'F16', 'BF16']);

/** @param {string} name @returns {name is (typeof FLOAT_TYPES)[number]} */
const isFloat = (name) => FLOAT_TYPES.some((other) => other === name);

const BY_NAME = new Map([...GGUF_TYPES.values()].map((type) => [type.name, type]));

/** The names of the types that Headlight decodes. */
export const DECODED_TYPES = [...BY_NAME.values()]
  .filter(({ name, block }) => block || isFloat(name))
  .map((t) => t.name);

/** The type of this name, if Headlight decodes it. @param {string} name */
export const decodedType = (name) => (DECODED_TYPES.includes(name) ? BY_NAME.get(name) : undefined);

/**
 * The numbers of whole blocks.
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {GgufType} type one that Headlight decodes
 * @returns {Float32Array}
 */
export function dequantize(caller, bytes, { name, values, bytes: size, block }) {
  if (isFloat(name)) return /** @type {Float32Array} */ (decode(caller, bytes, name));
  const count = (bytes.length / size) * values;
  const out = allocate(caller, 4 * count, () => new Float32Array(count));
  for (let at = 0, to = 0; at < bytes.length; at += size, to += values) block?.(bytes, at, out, to);
  return out;
}
