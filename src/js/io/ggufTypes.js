// The block types of GGUF files. A row is a sequence of blocks. A block has one or several groups of 16 or 32 codes
// with a scale and, for some types, a minimum: value = scale · code + minimum. Scales and minimums are exact in float32
// and every value is rounded once, so the results have the same bits as those of llama.cpp.

import { decodeFloats, FLOATS } from '../check/floats.js';
import { blockRowBytes, BLOCK_FORMS as FORMS, fromBlockRows } from './blockRows.js';
import { allocate } from './bytes.js';
import { decode } from './dtypes.js';

/** @import { BlockForm } from './blockRows.js' */

/**
 * The codes of some blocks, one byte each, and the scale and the minimum of each of their groups.
 * @typedef {{ codes: Uint8Array, scales: Float32Array, minimums: Float32Array }} Groups
 */
/**
 * Reads the block at byte `at`. Writes the codes starting at index `to`, the scales and minimums starting at index
 * `group`.
 * @typedef {(bytes: Uint8Array, at: number, groups: Groups, to: number, group: number) => void} ReadBlock
 */
/**
 * A type of tensors. values: number of values of a block. bytes: size of a block. form and block: undefined for floats
 * and for types that are not decoded.
 * @typedef {{ name: string, values: number, bytes: number, form?: BlockForm, block?: ReadBlock }} GgufType
 */

/** @typedef {GgufType & { form: BlockForm }} BlockType */

/**
 * Values of the 4-bit codes of IQ4_NL and IQ4_XS (IQ4) and of MXFP4 (FP4). The values of FP4 are doubled to be
 * integers.
 */
const IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
const FP4 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
const SAME = IQ4.map((_, code) => code);

/** The value of every float16 code, made at the first use. @type {Float32Array | undefined} */
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

/** @type {ReadBlock} */
function readQ8(bytes, at, { codes, scales }, to, group) {
  scales[group] = half(bytes, at);
  for (let i = 0; i < 32; i++) codes[to + i] = bytes[at + 2 + i];
}

/**
 * Reads 32 codes of 4 bits, which are the low halves of 16 bytes, then their high halves.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {Uint8Array} codes
 * @param {number} to
 * @param {readonly number[]} table
 */
function readNibbles(bytes, at, codes, to, table) {
  for (let i = 0; i < 16; i++) {
    codes[to + i] = table[bytes[at + i] & 15];
    codes[to + 16 + i] = table[bytes[at + i] >> 4];
  }
}

/** @param {readonly number[]} table @returns {ReadBlock} */
const readTable =
  (table) =>
  (bytes, at, { codes, scales }, to, group) => {
    scales[group] = half(bytes, at);
    readNibbles(bytes, at + 2, codes, to, table);
  };

/** @type {ReadBlock} */
function readMxfp4(bytes, at, { codes, scales }, to, group) {
  scales[group] = 2 ** (bytes[at] - 128);
  readNibbles(bytes, at + 1, codes, to, FP4);
}

/** @type {ReadBlock} */
function readQ4Minimum(bytes, at, { codes, scales, minimums }, to, group) {
  scales[group] = half(bytes, at);
  minimums[group] = half(bytes, at + 2);
  readNibbles(bytes, at + 4, codes, to, SAME);
}

/**
 * Reads 32 codes of 5 bits and subtracts an offset. Bit i of the 32-bit word at byte `high` is the upper bit of code i.
 * @param {Uint8Array} bytes
 * @param {number} high
 * @param {number} low
 * @param {Uint8Array} codes
 * @param {number} to
 * @param {number} offset
 */
function readFives(bytes, high, low, codes, to, offset) {
  for (let i = 0; i < 16; i++) {
    codes[to + i] = ((bytes[low + i] & 15) | (bitOf(bytes, high, i) << 4)) - offset;
    codes[to + 16 + i] = ((bytes[low + i] >> 4) | (bitOf(bytes, high, 16 + i) << 4)) - offset;
  }
}

/** @param {Uint8Array} bytes @param {number} at @param {number} i */
const bitOf = (bytes, at, i) => (bytes[at + (i >> 3)] >> (i & 7)) & 1;

/** @type {ReadBlock} */
function readQ5(bytes, at, { codes, scales }, to, group) {
  scales[group] = half(bytes, at);
  readFives(bytes, at + 2, at + 6, codes, to, 16);
}

/** @type {ReadBlock} */
function readQ5Minimum(bytes, at, { codes, scales, minimums }, to, group) {
  scales[group] = half(bytes, at);
  minimums[group] = half(bytes, at + 2);
  readFives(bytes, at + 4, at + 8, codes, to, 0);
}

/** @type {ReadBlock} */
function readQ2K(bytes, at, { codes, scales, minimums }, to, group) {
  const [d, dmin] = [half(bytes, at + 80), half(bytes, at + 82)];
  for (let g = 0; g < 16; g++) {
    scales[group + g] = d * (bytes[at + g] & 15);
    minimums[group + g] = -dmin * (bytes[at + g] >> 4);
    const from = at + 16 + 32 * (g >> 3) + 16 * (g & 1);
    const shift = 2 * ((g >> 1) & 3);
    for (let i = 0; i < 16; i++) codes[to + 16 * g + i] = (bytes[from + i] >> shift) & 3;
  }
}

/** @type {ReadBlock} */
function readQ3K(bytes, at, { codes, scales }, to, group) {
  const d = half(bytes, at + 108);
  for (let g = 0; g < 16; g++) {
    const low = bytes[at + 96 + (g & 7)];
    const upper = (bytes[at + 104 + (g & 3)] >> (2 * (g >> 2))) & 3;
    scales[group + g] = d * (((g < 8 ? low & 15 : low >> 4) | (upper << 4)) - 32);
    const high = at + 16 * (g & 1);
    const from = at + 32 + 32 * (g >> 3) + 16 * (g & 1);
    const shift = 2 * ((g >> 1) & 3);
    for (let i = 0; i < 16; i++) {
      const code = ((bytes[from + i] >> shift) & 3) | (((bytes[high + i] >> (g >> 1)) & 1) << 2);
      codes[to + 16 * g + i] = code - 4;
    }
  }
}

/**
 * Returns the 6-bit scale of a group of 32 in Q4_K and Q5_K.
 * @param {Uint8Array} b
 * @param {number} at
 * @param {number} j
 */
const scaleOf = (b, at, j) => (j < 4 ? b[at + j] & 63 : (b[at + j + 4] & 15) | ((b[at + j - 4] >> 6) << 4));

/**
 * Returns the 6-bit minimum of a group of 32 in Q4_K and Q5_K.
 * @param {Uint8Array} b
 * @param {number} at
 * @param {number} j
 */
const minimumOf = (b, at, j) => (j < 4 ? b[at + j + 4] & 63 : (b[at + j + 4] >> 4) | ((b[at + j] >> 6) << 4));

/**
 * Reads the eight groups of a block of Q4_K or Q5_K: the lower four bits from `low`, and the fifth bits of Q5_K from
 * `high`.
 */
function readK(
  /** @type {Uint8Array} */ bytes,
  /** @type {number} */ at,
  /** @type {Groups} */ { codes, scales, minimums },
  /** @type {number} */ to,
  /** @type {number} */ group,
  /** @type {number} */ low,
  /** @type {number | undefined} */ high,
) {
  const [d, dmin] = [half(bytes, at), half(bytes, at + 2)];
  for (let g = 0; g < 8; g++) {
    scales[group + g] = d * scaleOf(bytes, at + 4, g);
    minimums[group + g] = -dmin * minimumOf(bytes, at + 4, g);
    const from = low + 32 * (g >> 1);
    const shift = 4 * (g & 1);
    for (let i = 0; i < 32; i++) {
      const fifth = high === undefined ? 0 : (bytes[high + i] >> g) & 1;
      codes[to + 32 * g + i] = ((bytes[from + i] >> shift) & 15) | (fifth << 4);
    }
  }
}

/** @type {ReadBlock} */
const readQ4K = (bytes, at, groups, to, group) => readK(bytes, at, groups, to, group, at + 16, undefined);
/** @type {ReadBlock} */
const readQ5K = (bytes, at, groups, to, group) => readK(bytes, at, groups, to, group, at + 48, at + 16);

/** @type {ReadBlock} */
function readQ6K(bytes, at, { codes, scales }, to, group) {
  const d = half(bytes, at + 208);
  for (let g = 0; g < 16; g++) {
    scales[group + g] = d * int8(bytes, at + 192 + g);
    const low = at + 64 * (g >> 3) + 16 * (g & 3);
    const high = at + 128 + 32 * (g >> 3) + 16 * (g & 1);
    const [lowShift, highShift] = [g & 4, 2 * ((g >> 1) & 3)];
    for (let i = 0; i < 16; i++) {
      const code = ((bytes[low + i] >> lowShift) & 15) | (((bytes[high + i] >> highShift) & 3) << 4);
      codes[to + 16 * g + i] = code - 32;
    }
  }
}

/** @type {ReadBlock} */
function readIq4Xs(bytes, at, { codes, scales }, to, group) {
  const d = half(bytes, at);
  const upper = bytes[at + 2] | (bytes[at + 3] << 8);
  for (let g = 0; g < 8; g++) {
    const low = (bytes[at + 4 + (g >> 1)] >> (4 * (g & 1))) & 15;
    scales[group + g] = d * ((low | (((upper >> (2 * g)) & 3) << 4)) - 32);
    readNibbles(bytes, at + 8 + 16 * g, codes, to + 32 * g, IQ4);
  }
}

/** The types by their number in the file. @type {ReadonlyMap<number, GgufType>} */
export const GGUF_TYPES = new Map(
  /** @type {[number, string, number, number, BlockForm?, ReadBlock?][]} */ ([
    [0, 'F32', 1, 4],
    [1, 'F16', 1, 2],
    [2, 'Q4_0', 32, 18, FORMS.nibbles, readTable(SAME)],
    [3, 'Q4_1', 32, 20, FORMS.raisedNibbles, readQ4Minimum],
    [6, 'Q5_0', 32, 22, FORMS.bytes, readQ5],
    [7, 'Q5_1', 32, 24, FORMS.raisedBytes, readQ5Minimum],
    [8, 'Q8_0', 32, 34, FORMS.bytes, readQ8],
    [9, 'Q8_1', 32, 36],
    [10, 'Q2_K', 256, 84, FORMS.raisedHalves, readQ2K],
    [11, 'Q3_K', 256, 110, FORMS.halves, readQ3K],
    [12, 'Q4_K', 256, 144, FORMS.raisedNibbles, readQ4K],
    [13, 'Q5_K', 256, 176, FORMS.raisedBytes, readQ5K],
    [14, 'Q6_K', 256, 210, FORMS.halves, readQ6K],
    [15, 'Q8_K', 256, 292],
    [16, 'IQ2_XXS', 256, 66],
    [17, 'IQ2_XS', 256, 74],
    [18, 'IQ3_XXS', 256, 98],
    [19, 'IQ1_S', 256, 50],
    [20, 'IQ4_NL', 32, 18, FORMS.bytes, readTable(IQ4)],
    [21, 'IQ3_S', 256, 110],
    [22, 'IQ2_S', 256, 82],
    [23, 'IQ4_XS', 256, 136, FORMS.bytes, readIq4Xs],
    [24, 'I8', 1, 1],
    [25, 'I16', 1, 2],
    [26, 'I32', 1, 4],
    [27, 'I64', 1, 8],
    [28, 'F64', 1, 8],
    [29, 'IQ1_M', 256, 56],
    [30, 'BF16', 1, 2],
    [34, 'TQ1_0', 256, 54],
    [35, 'TQ2_0', 256, 66],
    [39, 'MXFP4', 32, 17, FORMS.bytes, readMxfp4],
    [40, 'NVFP4', 64, 36],
    [41, 'Q1_0', 128, 18],
    [42, 'Q2_0', 64, 18],
  ]).map(([id, name, values, bytes, form, block]) => [id, { name, values, bytes, form, block }]),
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

/** Returns the type of this name, or undefined if Headlight does not decode it. @param {string} name */
export const decodedType = (name) => (DECODED_TYPES.includes(name) ? BY_NAME.get(name) : undefined);

/**
 * Reads the codes, scales and minimums of whole blocks.
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {BlockType} type
 */
function readGroups(caller, bytes, { values, bytes: size, form, block }) {
  const count = (bytes.length / size) * values;
  const codes = allocate(caller, count, () => new Uint8Array(count));
  const [scales, minimums] = [new Float32Array(count / form.length), new Float32Array(count / form.length)];
  const groups = { codes, scales, minimums };
  const perBlock = values / form.length;
  for (let at = 0, to = 0, group = 0; at < bytes.length; at += size, to += values, group += perBlock)
    block?.(bytes, at, groups, to, group);
  return groups;
}

/** @param {GgufType} type @returns {type is BlockType} */
export const isInBlocks = (type) => type.form !== undefined;

/**
 * Converts rows to the layout of the core: the scales of the groups of a row, their minimums if there are any, then its
 * codes.
 * @param {string} caller
 * @param {Uint8Array} bytes whole rows
 * @param {BlockType} type
 * @param {number} width of a row
 */
export function toBlockRows(caller, bytes, type, width) {
  const { form } = type;
  const { codes, scales, minimums } = readGroups(caller, bytes, type);
  const [rows, perRow, rowBytes] = [codes.length / width, width / form.length, blockRowBytes(form, width)];
  const out = allocate(caller, rows * rowBytes, () => new Uint8Array(rows * rowBytes));
  const floats = new Float32Array(out.buffer);
  for (let row = 0; row < rows; row++) {
    const at = (row * rowBytes) / 4;
    floats.set(scales.subarray(row * perRow, (row + 1) * perRow), at);
    if (form.hasMinimums) floats.set(minimums.subarray(row * perRow, (row + 1) * perRow), at + perRow);
    out.set(codes.subarray(row * width, (row + 1) * width), (row + 1) * rowBytes - width);
  }
  return out;
}

/**
 * Dequantizes whole blocks.
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {GgufType} type a type that Headlight decodes
 * @returns {Float32Array}
 */
export function dequantize(caller, bytes, type) {
  if (isFloat(type.name)) return /** @type {Float32Array} */ (decode(caller, bytes, type.name));
  if (!isInBlocks(type)) throw new TypeError(type.name);
  return fromBlockRows(toBlockRows(caller, bytes, type, type.values), type.form, type.values);
}
