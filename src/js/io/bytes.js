// The bytes of a file, and the error that says what is wrong with them.

import { HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { MOST_AXES } from '../check/shape.js';

/**
 * @param {string} caller
 * @param {string} message
 * @param {{ parameter?: string, expected?: unknown, got?: unknown }} [details]
 */
export const formatError = (caller, message, details) => new HeadlightError('FORMAT', `${caller}: ${message}`, details);

/**
 * By their tags, not by identity: buffers of another realm are taken too.
 * @param {string} caller
 * @param {unknown} source
 * @returns {Uint8Array} the same memory
 */
export function readBytes(caller, source) {
  try {
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (/^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source)))
      return new Uint8Array(/** @type {ArrayBuffer} */ (source));
  } catch {
    throw formatError(caller, 'the buffer of the file is detached: it was transferred, or its memory grew', {
      parameter: 'bytes',
    });
  }
  throw formatError(
    caller,
    `bytes is ${quote(source)}, expected the bytes of a file as an ArrayBuffer or a typed array`,
    { parameter: 'bytes', expected: 'an ArrayBuffer or a typed array', got: source },
  );
}

/**
 * @template T
 * @param {string} caller
 * @param {number} bytes
 * @param {() => T} make
 * @returns {T} what is made, unless there is no room for it
 */
export function allocate(caller, bytes, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HeadlightError('OUT_OF_MEMORY', `${caller}: out of memory: no room for an array of ${bytes} bytes`, {
      got: bytes,
    });
  }
}

/** How many elements a shape holds; 0 wherever an axis is 0. @param {readonly number[]} shape */
export const countElements = (shape) => (shape.includes(0) ? 0 : shape.reduce((a, b) => a * b, 1));

/** @param {unknown} shape @returns {shape is number[]} */
export const isShape = (shape) =>
  Array.isArray(shape) &&
  shape.length <= MOST_AXES &&
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
  Number.isSafeInteger(countElements(shape));

/** What isShape asks for. */
export const A_SHAPE = `at most ${MOST_AXES} non-negative integers`;
