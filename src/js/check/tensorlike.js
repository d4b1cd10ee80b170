// Reads array arguments of all supported forms into a Source. Each argument is read once, so that no getter or proxy
// trap of the caller can run afterwards.

import { readShape } from './arguments.js';
import { argumentError, HeadlightError, shapeError } from './errors.js';
import { decodeFloats, FLOATS } from './floats.js';
import { quote } from './quote.js';
import { elementCount, formatShape, MAX_AXES, MAX_ELEMENTS } from './shape.js';

/**
 * @typedef {{ readonly length: number, readonly every: Function, readonly [index: number]: NestedArray }} NestedList
 */
/** @typedef {number | boolean | bigint | NestedList} NestedArray a number, or arrays of equal length to any depth */
/**
 * @typedef {Float32Array | Float64Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array |
 *   Int32Array | Uint32Array | BigInt64Array | BigUint64Array} NumberArray
 */
/**
 * An array and its shape. A Tensor has these properties. A Uint16Array needs a dtype: 'F16' or 'float16', 'BF16' or
 * 'bfloat16' for 16-bit floats, 'U16' or 'uint16' for integers.
 * @typedef {{ readonly data: ArrayLike<number | boolean | bigint>, readonly shape: readonly number[],
 *   readonly dtype?: string }} ShapedArray
 */
/**
 * @typedef {{ readonly data: unknown, readonly dims: readonly number[], readonly type?: string }} DimsArray a tensor of
 *   onnxruntime or transformers.js
 */
/**
 * @typedef {{ readonly shape: readonly number[], dataSync(): ArrayLike<unknown> }} SyncArray a tensor of TensorFlow.js
 */
/**
 * @typedef {NestedArray | NumberArray | ShapedArray | DimsArray | SyncArray} TensorLike a Tensor, nested arrays, a
 *   typed array, { data, shape }, or a tensor of another library
 */

const FORMS = 'a Tensor, nested arrays, a typed array, or { data, shape }';
const HALF = /** @type {Readonly<Record<string, keyof typeof FLOATS>>} */ ({
  F16: 'F16',
  float16: 'F16',
  BF16: 'BF16',
  bfloat16: 'BF16',
});
const INTEGERS = ['U16', 'uint16'];

// These are the getters of the built-in prototype, because own properties of a typed array may hide the real values.
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
/** @param {string | symbol} name @returns {(array: NumberArray) => any} */
const intrinsic = (name) => {
  const get = /** @type {() => unknown} */ (Object.getOwnPropertyDescriptor(typedArray, name)?.get);
  return (array) => get.call(array);
};
const nameOf = intrinsic(Symbol.toStringTag);
const bufferOf = intrinsic('buffer');
const offsetOf = intrinsic('byteOffset');
const lengthOf = intrinsic('length');

/**
 * Returns true if the buffer of an array is detached, because the WebAssembly memory has grown or the buffer was
 * transferred to a worker. The test relies on keys(), which throws only for a detached array.
 * @param {NumberArray} array
 */
function isDetached(array) {
  if (lengthOf(array) > 0) return false;
  try {
    typedArray.keys.call(array);
    return false;
  } catch {
    return true;
  }
}

/** @param {unknown} value @returns {value is NumberArray} */
const isNumberArray = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);

/** @param {unknown} value @returns {value is readonly unknown[] | NumberArray} */
const isList = (value) => Array.isArray(value) || isNumberArray(value);

/** @param {unknown} x @returns {x is number | boolean | bigint} */
const isNumeric = (x) => typeof x === 'number' || typeof x === 'boolean' || typeof x === 'bigint';

/** Numbers in row-major order, and their shape. */
export class Source {
  #data;
  #caller;
  #parameter;
  #ambiguous;

  /**
   * @param {string} caller
   * @param {string} parameter
   * @param {NumberArray} data
   * @param {number[]} shape
   * @param {boolean} [ambiguous] true for a Uint16Array without dtype, which may contain integers or 16-bit floats
   */
  constructor(caller, parameter, data, shape, ambiguous = false) {
    this.#caller = caller;
    this.#parameter = parameter;
    this.#data = data;
    this.#ambiguous = ambiguous;
    this.shape = shape;
    /** Number of elements according to the shape. */
    this.count = elementCount(shape);
  }

  /** The numbers. Throws if the buffer has been detached while other arguments were read. */
  get data() {
    const length = lengthOf(this.#data);
    if (length === this.count) return this.#data;
    throw lengthError(this.#caller, this.#parameter, this.#data, length, this.shape);
  }

  /** Returns the numbers as float32. */
  floats() {
    const { data } = this;
    if (data instanceof Float32Array) return data;
    if (this.#ambiguous) {
      const expected = "{ data, shape, dtype } with dtype 'F16' or 'BF16' for 16-bit floats, 'U16' for integers";
      throw argumentError(this.#caller, this.#parameter, data, expected);
    }
    if (nameOf(data).startsWith('Big')) return Float32Array.from(data, Number);
    return new Float32Array(/** @type {Float64Array} */ (data));
  }

  /**
   * Copies the numbers if they are in this buffer, because memory growth would detach it.
   * @param {ArrayBufferLike} buffer
   */
  apartFrom(buffer) {
    if (bufferOf(this.#data) === buffer) this.#data = typedArray.slice.call(this.#data);
    return this;
  }
}

/**
 * @param {unknown} value
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly number[]} [asShape] shape that replaces the shape of the value
 * @returns {Source}
 */
export function readTensorLike(value, caller, parameter, asShape) {
  if (value instanceof Source) return value;
  const source = readSource(value, caller, parameter);
  if (asShape === undefined) return source;
  const shape = readShape(asShape, caller, 'shape');
  if (elementCount(shape) !== source.count)
    throw shapeError(caller, parameter, source.shape, `${elementCount(shape)} elements for ${formatShape(shape)}`);
  source.shape = shape;
  return source;
}

/**
 * @param {unknown} value
 * @param {string} caller
 * @param {string} parameter
 * @returns {Source}
 */
function readSource(value, caller, parameter) {
  if (typeof value === 'number' || typeof value === 'boolean')
    return new Source(caller, parameter, Float64Array.of(Number(value)), []);
  if (isNumberArray(value)) return fromNumbers(caller, parameter, value, [lengthOf(value)], undefined);
  if (Array.isArray(value)) return fromNested(caller, parameter, value);
  if (value === null || typeof value !== 'object') throw argumentError(caller, parameter, value, FORMS);
  return fromRecord(caller, parameter, /** @type {Record<string, any>} */ (value));
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {Record<string, any>} record
 */
function fromRecord(caller, parameter, record) {
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

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {NumberArray} data
 * @param {number[]} shape
 * @param {unknown} dtype
 */
function fromNumbers(caller, parameter, data, shape, dtype) {
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
  return new Source(caller, parameter, data, shape, short && !INTEGERS.includes(/** @type {string} */ (dtype)));
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {NumberArray | readonly unknown[]} data
 * @param {number} length
 * @param {readonly number[]} shape
 */
function lengthError(caller, parameter, data, length, shape) {
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

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {number} count
 */
function makeNumbers(caller, parameter, count) {
  if (count <= MAX_ELEMENTS) return new Float64Array(count);
  const text = `${caller}: out of memory: ${parameter} has ${count} elements, expected at most ${MAX_ELEMENTS}`;
  throw new HeadlightError('OUT_OF_MEMORY', text, { parameter, expected: MAX_ELEMENTS, got: count });
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly unknown[]} list
 * @param {readonly number[]} shape
 */
function copyNumbers(caller, parameter, list, shape) {
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

/**
 * Reads nested arrays in order. The lengths of the arrays on the path to the first number are the shape.
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly unknown[]} list
 */
function fromNested(caller, parameter, list) {
  /** @type {number[]} */
  const shape = [];
  /** @type {Float64Array | null} */
  let numbers = null;
  let count = 0;
  let ambiguous = false;
  /** Index of the current item on each axis. @type {number[]} */
  const index = [];
  /** @param {number} axis */
  const path = (axis) =>
    `${parameter}${index
      .slice(0, axis)
      .map((i) => `[${i}]`)
      .join('')}`;
  /** @param {number} axis @param {string} got @param {string} expected */
  const irregular = (axis, got, expected) => {
    const text = `${caller}: ${path(axis)} ${got}, expected ${expected}: nested arrays must be regular`;
    return new HeadlightError('SHAPE', text, { parameter, expected, got });
  };
  /** @param {readonly unknown[] | NumberArray} part @param {number} axis */
  const walk = (part, axis) => {
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
  /** @param {unknown} item @param {number} axis */
  const put = (item, axis) => {
    if (numbers !== null && axis !== shape.length) throw irregular(axis, `is ${quote(item)}`, `length ${shape[axis]}`);
    if (!isNumeric(item)) throw argumentError(caller, path(axis), item, 'a number');
    numbers ??= makeNumbers(caller, parameter, elementCount(shape));
    numbers[count++] = Number(item);
  };
  walk(list, 0);
  return new Source(caller, parameter, numbers ?? new Float64Array(), shape, ambiguous);
}
