// The forms in which callers hand over arrays.

import { readShape } from './arguments.js';
import { argumentError, describe, HeadlightError, shapeError } from './errors.js';
import { elementCount, formatShape } from './shape.js';

/** @typedef {{ readonly length: number, readonly [index: number]: NestedArray }} NestedList */
/** @typedef {number | boolean | NestedList} NestedArray a number, or arrays of equal length to any depth */
/** @typedef {Float32Array | Float64Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array} NumberArray */
/** @typedef {NestedArray | NumberArray | { data: ArrayLike<number | boolean | bigint>, shape: readonly number[] }} TensorLike a Tensor, nested arrays, a typed array, or { data, shape } */

/**
 * @param {unknown} value
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly number[]} [asShape] the shape that the caller gives to it
 */
export function readTensorLike(value, caller, parameter, asShape) {
  const source = readSource(value, caller, parameter);
  if (asShape) {
    const shape = readShape(asShape, caller, 'shape');
    if (elementCount(shape) !== source.data.length) {
      throw shapeError(caller, parameter, source.shape, `${elementCount(shape)} elements for ${formatShape(shape)}`);
    }
    source.shape = shape;
  }
  const { data, shape } = source;
  return {
    data,
    shape,
    /** @returns {Float32Array} */
    floats: () => toFloats(data, caller, parameter),
  };
}

/**
 * @param {unknown} value
 * @param {string} caller
 * @param {string} parameter
 * @returns {{ data: ArrayLike<number | boolean | bigint>, shape: number[] }}
 */
function readSource(value, caller, parameter) {
  if (typeof value === 'number' || typeof value === 'boolean') return { data: [value], shape: [] };
  if (isNumberArray(value)) return { data: value, shape: [value.length] };
  if (Array.isArray(value)) return flatten(value, caller, parameter);
  const record = /** @type {{ data?: unknown, shape?: unknown } | null | undefined} */ (value);
  if (record !== null && typeof record === 'object' && 'data' in record && 'shape' in record) {
    const shape = readShape(record.shape, caller, `${parameter}.shape`);
    const data = record.data;
    if (!isNumberArray(data) && !Array.isArray(data)) {
      throw argumentError(caller, `${parameter}.data`, data, 'a typed array or an array of numbers');
    }
    if (data.length !== elementCount(shape)) {
      const ended =
        isNumberArray(data) && data.buffer.byteLength === 0
          ? '; if it is the data of a tensor, that ended when memory grew: pass the tensor, or take its data anew'
          : '';
      throw new HeadlightError(
        'SHAPE',
        `${caller}: ${parameter}.data has ${data.length} elements, expected ${elementCount(shape)} for shape ${formatShape(shape)}${ended}`,
        { parameter, expected: elementCount(shape), got: data.length },
      );
    }
    return { data, shape };
  }
  throw argumentError(caller, parameter, value, 'a Tensor, nested arrays, a typed array, or { data, shape }');
}

/** @param {unknown} value @returns {value is NumberArray} */
const isNumberArray = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);

/**
 * @param {readonly unknown[]} value
 * @param {string} caller
 * @param {string} parameter
 */
function flatten(value, caller, parameter) {
  /** @type {number[]} */
  const shape = [];
  for (let level = /** @type {unknown} */ (value); isList(level); level = level[0]) shape.push(level.length);
  /** @type {(number | boolean)[]} */
  const data = [];
  /** @type {number[]} */
  const index = [];
  /** @param {unknown} part @param {number} axis */
  const walk = (part, axis) => {
    const list = isList(part);
    const path = () =>
      parameter +
      index
        .slice(0, axis)
        .map((i) => `[${i}]`)
        .join('');
    if (axis === shape.length ? list : !list || part.length !== shape[axis]) {
      const got = list ? `has length ${part.length}` : `is ${describe(part)}`;
      const expected = axis === shape.length ? 'a number' : `length ${shape[axis]}`;
      throw new HeadlightError(
        'SHAPE',
        `${caller}: ${path()} ${got}, expected ${expected}: nested arrays must be regular`,
        {
          parameter,
          expected,
          got,
        },
      );
    }
    if (list) {
      for (let i = 0; i < part.length; i++) {
        index[axis] = i;
        walk(part[i], axis + 1);
      }
    } else if (typeof part === 'number' || typeof part === 'boolean') data.push(part);
    else throw argumentError(caller, path(), part, 'a number');
  };
  walk(value, 0);
  return { data, shape };
}

/** @param {unknown} value @returns {value is ArrayLike<unknown>} */
const isList = (value) => Array.isArray(value) || isNumberArray(value);

/**
 * @param {ArrayLike<number | boolean | bigint>} data
 * @param {string} caller
 * @param {string} parameter
 */
function toFloats(data, caller, parameter) {
  if (data instanceof Float32Array) return data;
  if (Array.isArray(data)) {
    const wrong = data.findIndex((x) => typeof x !== 'number' && typeof x !== 'boolean' && typeof x !== 'bigint');
    if (wrong >= 0) throw argumentError(caller, `${parameter}.data[${wrong}]`, data[wrong], 'a number');
  }
  return Float32Array.from(/** @type {ArrayLike<number>} */ (data), Number);
}
