// Validates words, names and shapes. Errors contain the names of the caller and the parameter. Each value is read only
// once, because a getter may return a different value the next time.

import { argumentError, HeadlightError } from './errors.js';
import { quoteNames } from './quote.js';
import { MAX_AXES, MAX_SIZE } from './shape.js';

export { checkOptions, readNumber, readOptions } from './options.js';

/** @typedef {import('./options.js').NumberRange} NumberRange */

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @returns {boolean}
 */
export function readBoolean(caller, parameter, value) {
  if (typeof value !== 'boolean') throw argumentError(caller, parameter, value, 'true or false');
  return value;
}

/**
 * @template {string} T
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {readonly T[]} words
 * @returns {T}
 */
export function readWord(caller, parameter, value, words) {
  const word = words.find((known) => known === value);
  if (word === undefined) throw argumentError(caller, parameter, value, quoteWords(words));
  return word;
}

/** @param {readonly string[]} words */
function quoteWords(words) {
  const quoted = words.map((word) => `'${word}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`;
}

/**
 * Validates an AbortSignal, which may be of another realm.
 * @param {string} caller
 * @param {unknown} value
 * @returns {AbortSignal | undefined}
 */
export function readSignal(caller, value) {
  if (value === undefined) return undefined;
  const { aborted, throwIfAborted, addEventListener } = /** @type {Partial<AbortSignal>} */ (value ?? {});
  if (typeof aborted === 'boolean' && typeof throwIfAborted === 'function' && typeof addEventListener === 'function')
    return /** @type {AbortSignal} */ (value);
  throw argumentError(caller, 'signal', value, 'an AbortSignal');
}

/**
 * Returns the values of an object by name, for example of a state dictionary.
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} record
 * @param {string} expected
 * @returns {Map<string, unknown>}
 */
export function readRecord(caller, parameter, record, expected) {
  if (record === null || typeof record !== 'object' || Array.isArray(record) || ArrayBuffer.isView(record))
    throw argumentError(caller, parameter, record, expected);
  return new Map(Object.entries(record));
}

/**
 * Throws unless the names are exactly the expected ones.
 * @param {string} caller
 * @param {readonly string[]} got
 * @param {readonly string[]} expected
 * @param {string} [hint]
 */
export function checkNames(caller, got, expected, hint = '') {
  const [has, wanted] = [new Set(got), new Set(expected)];
  const missing = expected.filter((name) => !has.has(name));
  const unexpected = got.filter((name) => !wanted.has(name));
  const parts = [
    missing.length > 0 && `missing ${quoteNames(missing)}`,
    unexpected.length > 0 && `unexpected ${quoteNames(unexpected)}`,
  ].filter(Boolean);
  if (parts.length === 0) return;
  const details = { parameter: missing[0] ?? unexpected[0], expected, got };
  throw new HeadlightError('ARGUMENT', `${caller}: ${parts.join('; ')}${hint}`, details);
}

/**
 * @param {unknown} shape
 * @param {string} caller
 * @param {string} parameter
 * @returns {number[]}
 */
export function readShape(shape, caller, parameter) {
  if (!Array.isArray(shape)) throw argumentError(caller, parameter, shape, 'an array of non-negative integers');
  if (shape.length > MAX_AXES) throw argumentError(caller, parameter, shape, `at most ${MAX_AXES} sizes`);
  const sizes = [...shape];
  let others = 1;
  let empty = false;
  for (const n of sizes) {
    if (!Number.isSafeInteger(n) || n < 0)
      throw argumentError(caller, parameter, shape, 'an array of non-negative integers');
    if (n === 0) empty = true;
    else others *= n;
  }
  // A tensor with an axis of size 0 needs no memory, so the allocation does not limit its other sizes. This check does.
  if (empty && (others > Number.MAX_SAFE_INTEGER || sizes.some((n) => n > MAX_SIZE)))
    throw argumentError(caller, parameter, sizes, `sizes of at most ${MAX_SIZE}, and a product of at most 2^53`);
  return sizes;
}
