// Functions that all readers of files use: bytes of an argument, format errors, allocation, shapes.

import { HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { MAX_AXES } from '../check/shape.js';

/**
 * @param {string} caller
 * @param {string} message
 * @param {{ parameter?: string, expected?: unknown, got?: unknown }} [details]
 */
export const formatError = (caller, message, details) => new HeadlightError('FORMAT', `${caller}: ${message}`, details);

/**
 * Returns the bytes of an argument. Buffers are recognized by their tag and not by instanceof, so that buffers of
 * another realm are accepted.
 * @param {string} caller
 * @param {unknown} source
 * @returns {Uint8Array} a view of the same memory
 */
export function readBytes(caller, source) {
  try {
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (/^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source)))
      return new Uint8Array(/** @type {ArrayBuffer} */ (source));
  } catch {
    throw formatError(
      caller,
      'the buffer of the file is detached: it was transferred, or the memory that it views has grown',
      {
        parameter: 'bytes',
      },
    );
  }
  throw formatError(
    caller,
    `bytes is ${quote(source)}, expected the bytes of a file as an ArrayBuffer or a typed array`,
    { parameter: 'bytes', expected: 'an ArrayBuffer or a typed array', got: source },
  );
}

/**
 * Calls `make` and reports a failed allocation as an OUT_OF_MEMORY error.
 * @template T
 * @param {string} caller
 * @param {number} bytes
 * @param {() => T} make
 * @returns {T}
 */
export function allocate(caller, bytes, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HeadlightError('OUT_OF_MEMORY', `${caller}: out of memory: cannot allocate an array of ${bytes} bytes`, {
      got: bytes,
    });
  }
}

/**
 * Returns the number of elements. It is 0 if any axis is 0, even if the product of the other axes is Infinity.
 * @param {readonly number[]} shape
 */
export const countElements = (shape) => (shape.includes(0) ? 0 : shape.reduce((a, b) => a * b, 1));

/** @param {unknown} shape @returns {shape is number[]} */
export const isShape = (shape) =>
  Array.isArray(shape) &&
  shape.length <= MAX_AXES &&
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
  Number.isSafeInteger(countElements(shape));

/** Describes a valid shape in errors. */
export const A_SHAPE = `at most ${MAX_AXES} non-negative integers`;
