// The block types of GGUF files: blocks of one or several groups of 16 or 32 codes with a scale and, for some types, a
// minimum: value = scale · code + minimum. Scales and minimums are exact in float32 and every value is rounded once, so
// the results have the same bits as in llama.cpp.

import { decodeFloats, FLOATS } from '../check/floats.ts';
import { type BlockForm, blockRowBytes, BLOCK_FORMS as FORMS, fromBlockRows } from './blockRows.ts';
import { allocate } from './bytes.ts';
import { decode } from './dtypes.ts';

export type Groups = { codes: Uint8Array; scales: Float32Array; minimums: Float32Array };
/** Reads the block at byte `at`: codes to index `to`, scales and minimums to index `group`. */
export type ReadBlock = (bytes: Uint8Array, at: number, groups: Groups, to: number, group: number) => void;
/** values, bytes: of a block. form and block: undefined for floats and for types that are not decoded. */
export type GgufType = { name: string; values: number; bytes: number; form?: BlockForm; block?: ReadBlock };

export type BlockType = GgufType & { form: BlockForm };

/** Values of the 4-bit codes of IQ4_NL and IQ4_XS (IQ4) and of MXFP4 (FP4, doubled to be integers). */
const IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
const FP4 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
const SAME = IQ4.map((_, code) => code);

let halves: Float32Array | undefined;

function half(bytes: Uint8Array, at: number) {
  halves ??= decodeFloats(
    Uint16Array.from({ length: 2 ** 16 }, (_, code) => code),
    FLOATS.F16,
  );
  return halves[bytes[at] | (bytes[at + 1] << 8)];
}

const int8 = (bytes: Uint8Array, at: number) => (bytes[at] << 24) >> 24;

function readQ8(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
  scales[group] = half(bytes, at);
  for (let i = 0; i < 32; i++) codes[to + i] = bytes[at + 2 + i];
}

/** Reads 32 codes of 4 bits, which are the low halves of 16 bytes, then their high halves. */
function readNibbles(bytes: Uint8Array, at: number, codes: Uint8Array, to: number, table: readonly number[]) {
  for (let i = 0; i < 16; i++) {
    codes[to + i] = table[bytes[at + i] & 15];
    codes[to + 16 + i] = table[bytes[at + i] >> 4];
  }
}

const readTable =
  (table: readonly number[]): ReadBlock =>
  (bytes, at, { codes, scales }, to, group) => {
    scales[group] = half(bytes, at);
    readNibbles(bytes, at + 2, codes, to, table);
  };

function readMxfp4(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
  scales[group] = 2 ** (bytes[at] - 128);
  readNibbles(bytes, at + 1, codes, to, FP4);
}

function readQ4Minimum(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales, minimums }: Groups,
  to: number,
  group: number,
): void {
  scales[group] = half(bytes, at);
  minimums[group] = half(bytes, at + 2);
  readNibbles(bytes, at + 4, codes, to, SAME);
}

/**
 * Reads 32 codes of 5 bits and subtracts an offset. Bit i of the 32-bit word at byte `high` is the upper bit of code i.
 */
function readFives(bytes: Uint8Array, high: number, low: number, codes: Uint8Array, to: number, offset: number) {
  for (let i = 0; i < 16; i++) {
    codes[to + i] = ((bytes[low + i] & 15) | (bitOf(bytes, high, i) << 4)) - offset;
    codes[to + 16 + i] = ((bytes[low + i] >> 4) | (bitOf(bytes, high, 16 + i) << 4)) - offset;
  }
}

const bitOf = (bytes: Uint8Array, at: number, i: number) => (bytes[at + (i >> 3)] >> (i & 7)) & 1;

function readQ5(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
  scales[group] = half(bytes, at);
  readFives(bytes, at + 2, at + 6, codes, to, 16);
}

function readQ5Minimum(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales, minimums }: Groups,
  to: number,
  group: number,
): void {
  scales[group] = half(bytes, at);
  minimums[group] = half(bytes, at + 2);
  readFives(bytes, at + 4, at + 8, codes, to, 0);
}

function readQ2K(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales, minimums }: Groups,
  to: number,
  group: number,
): void {
  const [d, dmin] = [half(bytes, at + 80), half(bytes, at + 82)];
  for (let g = 0; g < 16; g++) {
    scales[group + g] = d * (bytes[at + g] & 15);
    minimums[group + g] = -dmin * (bytes[at + g] >> 4);
    const from = at + 16 + 32 * (g >> 3) + 16 * (g & 1);
    const shift = 2 * ((g >> 1) & 3);
    for (let i = 0; i < 16; i++) codes[to + 16 * g + i] = (bytes[from + i] >> shift) & 3;
  }
}

function readQ3K(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
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

/** Returns the 6-bit scale of a group of 32 in Q4_K and Q5_K. */
const scaleOf = (b: Uint8Array, at: number, j: number) =>
  j < 4 ? b[at + j] & 63 : (b[at + j + 4] & 15) | ((b[at + j - 4] >> 6) << 4);

const minimumOf = (b: Uint8Array, at: number, j: number) =>
  j < 4 ? b[at + j + 4] & 63 : (b[at + j + 4] >> 4) | ((b[at + j] >> 6) << 4);

/** Reads eight groups of Q4_K or Q5_K: lower four bits from `low`, fifth bits of Q5_K from `high`. */
function readK(
  bytes: Uint8Array,
  at: number,
  { codes, scales, minimums }: Groups,
  to: number,
  group: number,
  low: number,
  high: number | undefined,
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

const readQ4K: ReadBlock = (bytes, at, groups, to, group) => readK(bytes, at, groups, to, group, at + 16, undefined);
const readQ5K: ReadBlock = (bytes, at, groups, to, group) => readK(bytes, at, groups, to, group, at + 48, at + 16);

function readQ6K(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
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

function readIq4Xs(
  bytes: Uint8Array<ArrayBufferLike>,
  at: number,
  { codes, scales }: Groups,
  to: number,
  group: number,
): void {
  const d = half(bytes, at);
  const upper = bytes[at + 2] | (bytes[at + 3] << 8);
  for (let g = 0; g < 8; g++) {
    const low = (bytes[at + 4 + (g >> 1)] >> (4 * (g & 1))) & 15;
    scales[group + g] = d * ((low | (((upper >> (2 * g)) & 3) << 4)) - 32);
    readNibbles(bytes, at + 8 + 16 * g, codes, to + 32 * g, IQ4);
  }
}

export const GGUF_TYPES: ReadonlyMap<number, GgufType> = new Map(
  (
    [
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
    ] as [number, string, number, number, BlockForm?, ReadBlock?][]
  ).map(([id, name, values, bytes, form, block]) => [id, { name, values, bytes, form, block }]),
);

const FLOAT_TYPES = ['F32', 'F16', 'BF16'] as const;

const isFloat = (name: string): name is (typeof FLOAT_TYPES)[number] => FLOAT_TYPES.some((other) => other === name);

const BY_NAME = new Map([...GGUF_TYPES.values()].map((type) => [type.name, type]));

export const DECODED_TYPES = [...BY_NAME.values()]
  .filter(({ name, block }) => block || isFloat(name))
  .map((t) => t.name);

/** Returns the type of this name, or undefined if Headlight does not decode it. */
export const decodedType = (name: string) => (DECODED_TYPES.includes(name) ? BY_NAME.get(name) : undefined);

function readGroups(caller: string, bytes: Uint8Array, { values, bytes: size, form, block }: BlockType) {
  const count = (bytes.length / size) * values;
  const codes = allocate(caller, count, () => new Uint8Array(count));
  const [scales, minimums] = [new Float32Array(count / form.length), new Float32Array(count / form.length)];
  const groups = { codes, scales, minimums };
  const perBlock = values / form.length;
  for (let at = 0, to = 0, group = 0; at < bytes.length; at += size, to += values, group += perBlock)
    block?.(bytes, at, groups, to, group);
  return groups;
}

export const isInBlocks = (type: GgufType): type is BlockType => type.form !== undefined;

/** Converts whole rows to the layout of the core: scales of a row's groups, their minimums if any, then its codes. */
export function toBlockRows(caller: string, bytes: Uint8Array, type: BlockType, width: number) {
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

/** Dequantizes whole blocks. type: a type that Headlight decodes. */
export function dequantize(caller: string, bytes: Uint8Array, type: GgufType): Float32Array {
  if (isFloat(type.name)) return decode(caller, bytes, type.name) as Float32Array;
  if (!isInBlocks(type)) throw new TypeError(type.name);
  return fromBlockRows(toBlockRows(caller, bytes, type, type.values), type.form, type.values);
}
