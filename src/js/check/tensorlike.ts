// Reads array arguments of all supported forms, once, so that no getter or proxy trap of the caller can run afterwards.

import { readShape } from './arguments.ts';
import { argumentError, HeadlightError, shapeError } from './errors.ts';
import { decodeFloats, FLOATS } from './floats.ts';
import { quote } from './quote.ts';
import { elementCount, formatShape, MAX_AXES, MAX_ELEMENTS } from './shape.ts';

export type NestedList = { readonly length: number; readonly every: Function; readonly [index: number]: NestedArray };
/** a number, or arrays of equal length to any depth */
export type NestedArray = number | boolean | bigint | NestedList;
export type NumberArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;
/**
 * An array and its shape, such as a Tensor. A Uint16Array needs a dtype: 'F16' or 'float16', 'BF16' or 'bfloat16', or
 * for integers 'U16' or 'uint16'.
 */
export type ShapedArray = {
  readonly data: ArrayLike<number | boolean | bigint>;
  readonly shape: readonly number[];
  readonly dtype?: string;
};
/** a tensor of onnxruntime or transformers.js */
export type DimsArray = { readonly data: unknown; readonly dims: readonly number[]; readonly type?: string };
/** a tensor of TensorFlow.js */
export type SyncArray = { readonly shape: readonly number[]; dataSync(): ArrayLike<unknown> };
/** a Tensor, nested arrays, a typed array, { data, shape }, or a tensor of another library */
export type TensorLike = NestedArray | NumberArray | ShapedArray | DimsArray | SyncArray;

const FORMS = 'a Tensor, nested arrays, a typed array, or { data, shape }';
const HALF = {
  F16: 'F16',
  float16: 'F16',
  BF16: 'BF16',
  bfloat16: 'BF16',
} as Readonly<Record<string, keyof typeof FLOATS>>;
const INTEGERS = ['U16', 'uint16'];

// These are the getters of the built-in prototype, because own properties of a typed array may hide the real values.
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const intrinsic = (name: string | symbol): ((array: NumberArray) => any) => {
  const get = Object.getOwnPropertyDescriptor(typedArray, name)?.get as () => unknown;
  return (array) => get.call(array);
};
const nameOf = intrinsic(Symbol.toStringTag);
const bufferOf = intrinsic('buffer');
const offsetOf = intrinsic('byteOffset');
const lengthOf = intrinsic('length');

/**
 * True after the WebAssembly memory has grown or the buffer was transferred. keys() throws only for a detached array.
 */
function isDetached(array: NumberArray) {
  if (lengthOf(array) > 0) return false;
  try {
    typedArray.keys.call(array);
    return false;
  } catch {
    return true;
  }
}

const isNumberArray = (value: unknown): value is NumberArray =>
  ArrayBuffer.isView(value) && !(value instanceof DataView);

const isList = (value: unknown): value is readonly unknown[] | NumberArray =>
  Array.isArray(value) || isNumberArray(value);

const isNumeric = (x: unknown): x is number | boolean | bigint =>
  typeof x === 'number' || typeof x === 'boolean' || typeof x === 'bigint';

/** Numbers in row-major order, and their shape. */
export class Source {
  declare shape: number[];
  /** Number of elements according to the shape. */
  declare count: number;

  #data: NumberArray;
  #caller: string;
  #parameter: string;
  #ambiguous: boolean;

  /** ambiguous: a Uint16Array without dtype may contain integers or 16-bit floats */
  constructor(caller: string, parameter: string, data: NumberArray, shape: number[], ambiguous = false) {
    this.#caller = caller;
    this.#parameter = parameter;
    this.#data = data;
    this.#ambiguous = ambiguous;
    this.shape = shape;
    this.count = elementCount(shape);
  }

  /** The numbers. Throws if the buffer has been detached while other arguments were read. */
  get data() {
    const length = lengthOf(this.#data);
    if (length === this.count) return this.#data;
    throw lengthError(this.#caller, this.#parameter, this.#data, length, this.shape);
  }

  floats() {
    const { data } = this;
    if (data instanceof Float32Array) return data;
    if (this.#ambiguous) {
      const expected = "{ data, shape, dtype } with dtype 'F16' or 'BF16' for 16-bit floats, 'U16' for integers";
      throw argumentError(this.#caller, this.#parameter, data, expected);
    }
    if (nameOf(data).startsWith('Big')) return Float32Array.from(data, Number);
    return new Float32Array(data as Float64Array);
  }

  /** Copies the numbers if they are in this buffer, because memory growth would detach it. */
  apartFrom(buffer: ArrayBufferLike) {
    if (bufferOf(this.#data) === buffer) this.#data = typedArray.slice.call(this.#data);
    return this;
  }
}

/** asShape: shape that replaces the shape of the value */
export function readTensorLike(value: unknown, caller: string, parameter: string, asShape?: readonly number[]): Source {
  if (value instanceof Source) return value;
  const source = readSource(value, caller, parameter);
  if (asShape === undefined) return source;
  const shape = readShape(asShape, caller, 'shape');
  if (elementCount(shape) !== source.count)
    throw shapeError(caller, parameter, source.shape, `${elementCount(shape)} elements for ${formatShape(shape)}`);
  source.shape = shape;
  return source;
}

function readSource(value: unknown, caller: string, parameter: string): Source {
  if (typeof value === 'number' || typeof value === 'boolean')
    return new Source(caller, parameter, Float64Array.of(Number(value)), []);
  if (isNumberArray(value)) return fromNumbers(caller, parameter, value, [lengthOf(value)], undefined);
  if (Array.isArray(value)) return fromNested(caller, parameter, value);
  if (value === null || typeof value !== 'object') throw argumentError(caller, parameter, value, FORMS);
  return fromRecord(caller, parameter, value as Record<string, any>);
}

function fromRecord(caller: string, parameter: string, record: Record<string, any>) {
  const { data: given, shape: sizes = record.dims } = record;
  // In a tensor of TensorFlow.js, `data` is a method that returns a promise.
  const data = typeof given === 'function' && typeof record.dataSync === 'function' ? record.dataSync() : given;
  if (sizes === undefined) throw argumentError(caller, parameter, record, FORMS);
  const shape = readShape(sizes, caller, `${parameter}.shape`);
  if (data instanceof Float32Array) return fromNumbers(caller, parameter, data, shape, undefined);
  if (isNumberArray(data)) {
    const dtype = nameOf(data).startsWith('Float') ? undefined : (record.dtype ?? record.type);
    return fromNumbers(caller, parameter, data, shape, dtype);
  }
  if (!Array.isArray(data))
    throw argumentError(caller, `${parameter}.data`, data, 'a typed array or an array of numbers');
  return new Source(caller, parameter, copyNumbers(caller, parameter, data, shape), shape);
}

function fromNumbers(caller: string, parameter: string, data: NumberArray, shape: number[], dtype: unknown) {
  const length = lengthOf(data);
  if (length !== elementCount(shape) || isDetached(data)) throw lengthError(caller, parameter, data, length, shape);
  if (data instanceof Float32Array) return new Source(caller, parameter, data, shape);
  const half = typeof dtype === 'string' && Object.hasOwn(HALF, dtype) ? HALF[dtype] : undefined;
  const short = nameOf(data) === 'Uint16Array';
  if (half && !short)
    throw argumentError(caller, `${parameter}.data`, data, `a Uint16Array, because its dtype is ${dtype}`);
  if (half) {
    const bits = new Uint16Array(bufferOf(data), offsetOf(data), length);
    return new Source(caller, parameter, decodeFloats(bits, FLOATS[half]), shape);
  }
  return new Source(caller, parameter, data, shape, short && !INTEGERS.includes(dtype as string));
}

function lengthError(
  caller: string,
  parameter: string,
  data: NumberArray | readonly unknown[],
  length: number,
  shape: readonly number[],
) {
  const expected = elementCount(shape);
  const hint =
    isNumberArray(data) && isDetached(data)
      ? '; its buffer is detached: memory growth invalidates the data of a tensor, pass the tensor or read data again'
      : '';
  return new HeadlightError(
    'SHAPE',
    `${caller}: ${parameter}.data has ${length} elements, expected ${expected} for shape ${formatShape(shape)}${hint}`,
    { parameter, expected, got: length },
  );
}

function makeNumbers(caller: string, parameter: string, count: number) {
  if (count <= MAX_ELEMENTS) return new Float64Array(count);
  const text = `${caller}: out of memory: ${parameter} has ${count} elements, expected at most ${MAX_ELEMENTS}`;
  throw new HeadlightError('OUT_OF_MEMORY', text, { parameter, expected: MAX_ELEMENTS, got: count });
}

function copyNumbers(caller: string, parameter: string, list: readonly unknown[], shape: readonly number[]) {
  const { length } = list;
  if (length !== elementCount(shape)) throw lengthError(caller, parameter, list, length, shape);
  const numbers = makeNumbers(caller, parameter, length);
  for (let i = 0; i < length; i++) {
    const x = list[i];
    if (!isNumeric(x)) throw argumentError(caller, `${parameter}.data[${i}]`, x, 'a number');
    numbers[i] = Number(x);
  }
  return numbers;
}

/** Reads nested arrays in order. The lengths of the arrays on the path to the first number are the shape. */
function fromNested(caller: string, parameter: string, list: readonly unknown[]) {
  const shape: number[] = [];
  let numbers: Float64Array | null = null;
  let count = 0;
  let ambiguous = false;
  const index: number[] = [];
  const path = (axis: number) =>
    `${parameter}${index
      .slice(0, axis)
      .map((i) => `[${i}]`)
      .join('')}`;
  const irregular = (axis: number, got: string, expected: string) => {
    const text = `${caller}: ${path(axis)} ${got}, expected ${expected}: nested arrays must be regular`;
    return new HeadlightError('SHAPE', text, { parameter, expected, got });
  };
  const walk = (part: readonly unknown[] | NumberArray, axis: number) => {
    const length = isNumberArray(part) ? lengthOf(part) : part.length;
    if (isNumberArray(part) && isDetached(part)) throw irregular(axis, 'is detached', 'an array of numbers');
    ambiguous ||= isNumberArray(part) && nameOf(part) === 'Uint16Array';
    if (numbers === null) {
      if (axis === MAX_AXES) throw irregular(0, `is nested more than ${MAX_AXES} deep`, `at most ${MAX_AXES} axes`);
      shape.push(length);
      if (length === 0) numbers = makeNumbers(caller, parameter, 0);
    } else if (axis === shape.length) throw irregular(axis, `has length ${length}`, 'a number');
    if (length !== shape[axis]) throw irregular(axis, `has length ${length}`, `length ${shape[axis]}`);
    for (let i = 0; i < length; i++) {
      index[axis] = i;
      const item = part[i];
      if (isList(item)) walk(item, axis + 1);
      else put(item, axis + 1);
    }
  };
  const put = (item: unknown, axis: number) => {
    if (numbers !== null && axis !== shape.length) throw irregular(axis, `is ${quote(item)}`, `length ${shape[axis]}`);
    if (!isNumeric(item)) throw argumentError(caller, path(axis), item, 'a number');
    numbers ??= makeNumbers(caller, parameter, elementCount(shape));
    numbers[count++] = Number(item);
  };
  walk(list, 0);
  return new Source(caller, parameter, numbers ?? new Float64Array(), shape, ambiguous);
}
