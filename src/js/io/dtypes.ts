// Decodes the element types of files to typed arrays, and encodes typed arrays to them.

import { decodeFloats, encodeFloats, FLOATS, type FloatFormat } from '../check/floats.ts';
import { quote } from '../check/quote.ts';
import type { NumberArray } from '../check/tensorlike.ts';
import { A_SHAPE, allocate, countElements, formatError, isShape } from './bytes.ts';

export type KnownDType =
  | 'BOOL'
  | 'U8'
  | 'I8'
  | 'U16'
  | 'I16'
  | 'U32'
  | 'I32'
  | 'U64'
  | 'I64'
  | 'F8_E4M3'
  | 'F8_E5M2'
  | 'F16'
  | 'BF16'
  | 'F32'
  | 'F64';
/** a tensor of another type than KnownDType is listed, but access to its data throws */
export type DType = KnownDType | (string & {});
export type StoredTensor = {
  dtype: DType;
  shape: number[];
  /** F8, F16, BF16: Float32Array; BOOL: Uint8Array of 0 and 1; other than KnownDType: throws a FORMAT error */
  data: NumberArray;
};
export type WritableTensor = { data: NumberArray; shape: readonly number[]; dtype?: DType };

export type Kind = {
  bytes: number;
  array: any;
  float?: FloatFormat;
  range?: [number | bigint, number | bigint];
  npy?: string;
};

/** The known element types. range: smallest and largest integer. npy: type letter and size in NumPy. */
export const KINDS: Record<KnownDType, Kind> = {
  F64: { bytes: 8, array: Float64Array, npy: 'f8' },
  I64: { bytes: 8, array: BigInt64Array, range: [-(2n ** 63n), 2n ** 63n - 1n], npy: 'i8' },
  U64: { bytes: 8, array: BigUint64Array, range: [0n, 2n ** 64n - 1n], npy: 'u8' },
  F32: { bytes: 4, array: Float32Array, npy: 'f4' },
  I32: { bytes: 4, array: Int32Array, range: [-(2 ** 31), 2 ** 31 - 1], npy: 'i4' },
  U32: { bytes: 4, array: Uint32Array, range: [0, 2 ** 32 - 1], npy: 'u4' },
  F16: { bytes: 2, array: Uint16Array, float: FLOATS.F16, npy: 'f2' },
  BF16: { bytes: 2, array: Uint16Array, float: FLOATS.BF16 },
  I16: { bytes: 2, array: Int16Array, range: [-32768, 32767], npy: 'i2' },
  U16: { bytes: 2, array: Uint16Array, range: [0, 65535], npy: 'u2' },
  F8_E4M3: { bytes: 1, array: Uint8Array, float: FLOATS.F8_E4M3 },
  F8_E5M2: { bytes: 1, array: Uint8Array, float: FLOATS.F8_E5M2 },
  I8: { bytes: 1, array: Int8Array, range: [-128, 127], npy: 'i1' },
  U8: { bytes: 1, array: Uint8Array, range: [0, 255], npy: 'u1' },
  BOOL: { bytes: 1, array: Uint8Array, range: [0, 1], npy: 'b1' },
};
const NAMES = Object.keys(KINDS).join(', ');

/** Element type of each class of typed arrays. */
const DTYPES: Record<string, KnownDType> = {
  Float64Array: 'F64',
  Float32Array: 'F32',
  Float16Array: 'F16',
  BigInt64Array: 'I64',
  BigUint64Array: 'U64',
  Int32Array: 'I32',
  Uint32Array: 'U32',
  Int16Array: 'I16',
  Uint16Array: 'U16',
  Int8Array: 'I8',
  Uint8Array: 'U8',
  Uint8ClampedArray: 'U8',
};

export const isKnown = (dtype: unknown): dtype is KnownDType =>
  typeof dtype === 'string' && Object.hasOwn(KINDS, dtype);

export function decode(caller: string, bytes: Uint8Array, dtype: KnownDType, bigEndian = false): NumberArray {
  const { array, float, bytes: size } = KINDS[dtype];
  const copy = allocate(caller, bytes.length, () => bytes.slice());
  if (bigEndian) reverseEach(copy, size);
  const raw = new array(copy.buffer);
  if (dtype === 'BOOL') for (let i = 0; i < raw.length; i++) raw[i] = raw[i] === 0 ? 0 : 1;
  return float ? allocate(caller, 4 * raw.length, () => decodeFloats(raw, float)) : raw;
}

function reverseEach(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) {
    for (let [a, b] = [start, start + size - 1]; a < b; a++, b--) [bytes[a], bytes[b]] = [bytes[b], bytes[a]];
  }
}

/**
 * Makes a tensor of an unknown type. Only access to its data throws, so that the other tensors of the file can be read.
 */
export const undecoded = (dtype: string, shape: number[], refuse: () => Error): StoredTensor => ({
  dtype,
  shape,
  get data(): NumberArray {
    throw refuse();
  },
});

export const unknownDType = (caller: string, name: string, dtype: string) =>
  formatError(caller, `tensor ${quote(name)} has dtype ${quote(dtype)}, which is not decoded, only ${NAMES}`, {
    parameter: name,
    expected: Object.keys(KINDS),
    got: dtype,
  });

/** Encodes a tensor to its bytes in a file. name: of the tensor in errors. */
export function encode(
  caller: string,
  name: string,
  value: unknown,
): { dtype: KnownDType; shape: number[]; bytes: Uint8Array } {
  const fail = (reason: string, expected: unknown, got: unknown) =>
    formatError(caller, `${name} ${reason}`, { parameter: name, expected, got });
  if (typeof value !== 'object' || value === null)
    throw fail(`is ${quote(value)}, expected { data, shape }`, '{ data, shape }', value);
  // Each property is read only once, because it may be a getter.
  const { data, shape: given, dtype: asked } = value as WritableTensor;
  const own = ArrayBuffer.isView(data) ? DTYPES[tagOf(data)] : undefined;
  if (!own) throw fail(`needs data in a typed array, got ${quote(data)}`, 'a typed array', data);
  const dtype = asked ?? own;
  if (!isKnown(dtype)) throw fail(`has dtype ${quote(dtype)}, expected a dtype among ${NAMES}`, NAMES, dtype);
  const shape = Array.isArray(given) ? [...given] : given;
  if (!isShape(shape)) throw fail(`has shape ${quote(shape)}, expected ${A_SHAPE}`, A_SHAPE, shape);
  if (countElements(shape) !== data.length) {
    throw fail(
      `has ${data.length} elements, expected the ${countElements(shape)} of its shape ${quote(shape)}`,
      countElements(shape),
      data.length,
    );
  }
  return { dtype, shape, bytes: encodeData(caller, data, own, dtype, fail) };
}

/** Returns the name of the built-in class of an array, even if the array is of a subclass or of another realm. */
const tagOf: (array: NumberArray) => string = (array) => tag.call(array);
const tag = (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) as { get(): string }
).get;

/** own: type of the array; dtype: the type to write */
function encodeData(
  caller: string,
  data: NumberArray,
  own: KnownDType,
  dtype: KnownDType,
  fail: (reason: string, expected: unknown, got: unknown) => Error,
) {
  const { array, float, range, bytes: size } = KINDS[dtype];
  if (data.length === 0) return new Uint8Array(0);
  if (own === dtype && !float) return allocate(caller, data.byteLength, () => bytesOf(data).slice());
  const out = allocate(caller, data.length * size, () => new array(data.length));
  if (range) encodeIntegers(data, dtype, range, out, fail);
  else if (own === 'I64' || own === 'U64')
    throw fail(`has 64-bit integers as data, expected numbers for ${dtype}: convert them first`, 'numbers', own);
  else if (float) encodeFloats(data as ArrayLike<number>, float, out);
  else out.set(data);
  return bytesOf(out);
}

const bytesOf = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function encodeIntegers(
  data: NumberArray,
  dtype: KnownDType,
  [low, high]: [number | bigint, number | bigint],
  out: NumberArray,
  fail: (reason: string, expected: unknown, got: unknown) => Error,
) {
  const convert = typeof low === 'bigint' ? BigInt : Number;
  for (let i = 0; i < data.length; i++) {
    const x = data[i];
    if (!(x >= low && x <= high) || (typeof x === 'number' && !Number.isInteger(x))) {
      const expected = `integers from ${low} to ${high} for ${dtype}`;
      throw fail(`holds ${x} at index ${i}, expected ${expected}`, expected, x);
    }
    out[i] = convert(x);
  }
}
