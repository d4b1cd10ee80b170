// Validates options, numbers and shapes; errors name the caller and the parameter. Each value is read once, because a
// getter may return something else the next time.

import { argumentError, HeadlightError } from './errors.js';
import { quote, quoteNames } from './quote.js';
import { MAX_AXES, MAX_SIZE } from './shape.js';

/**
 * @param {string} caller
 * @param {unknown} options
 * @param {readonly string[]} known
 * @param {string} [parameter] name of the options in errors
 */
export function checkOptions(caller, options, known, parameter = 'options') {
  if (options === null || typeof options !== 'object' || Array.isArray(options))
    throw argumentError(caller, parameter, options, 'an object');
  const names = Object.keys(options);
  for (const name of names) if (!known.includes(name)) throw unknownOption(caller, name, known);
  // A Map or a promise has no own names, so it would pass as an object without options.
  if (names.length === 0 && !isPlain(options) && Object.prototype.toString.call(options) !== '[object Object]')
    throw argumentError(caller, parameter, options, 'an object');
}

/** True if it inherits no properties of another class. @param {object} value */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * @param {string} caller
 * @param {string} name
 * @param {readonly string[]} known
 */
function unknownOption(caller, name, known) {
  const text = `${caller}: unknown option ${quote(name)}, expected one of ${known.join(', ')}`;
  return new HeadlightError('ARGUMENT', text, { parameter: name, expected: known, got: name });
}

/**
 * A copy of the options that are not undefined.
 * @template {object} T
 * @param {string} caller
 * @param {T} options
 * @param {readonly string[]} known
 * @returns {T}
 */
export function readOptions(caller, options, known) {
  checkOptions(caller, options, known);
  /** @type {Record<string, unknown>} */
  const read = {};
  for (const name of isPlain(options) ? Object.keys(/** @type {object} */ (options)) : known) {
    const value = /** @type {Record<string, unknown>} */ (options)[name];
    if (value !== undefined) read[name] = value;
  }
  return /** @type {T} */ (read);
}

/** @typedef {{ least?: number, most?: number, integer?: boolean }} NumberRange */

/** @type {NumberRange} */
const ANY_NUMBER = {};

/**
 * A number in the range of float32, or a safe integer.
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {NumberRange} [range]
 * @returns {number}
 */
export function readNumber(caller, parameter, value, range = ANY_NUMBER) {
  const { least = -Infinity, most = Infinity, integer = false } = range;
  if (
    typeof value === 'number' &&
    value >= least &&
    value <= most &&
    (integer ? Number.isSafeInteger(value) : Number.isFinite(Math.fround(value)))
  )
    return value;
  throw argumentError(caller, parameter, value, describeRange(value, range));
}

/** @param {unknown} value @param {NumberRange} range */
function describeRange(value, { least = -Infinity, most = Infinity, integer = false }) {
  const low = least > -Infinity ? ` of at least ${least}` : '';
  const high = most < Infinity ? ` and at most ${most}` : '';
  const large = !integer && Number.isFinite(value) ? '; float32 ends at 3.4028235e+38' : '';
  return `${integer ? 'an integer' : 'a finite number'}${low}${high}${large}`;
}

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
 * An AbortSignal, possibly of another realm.
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
 * The values of an object by name, such as a state dictionary.
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
  // A tensor with an axis of size 0 takes no memory, so its other sizes are limited here.
  if (empty && (others > Number.MAX_SAFE_INTEGER || sizes.some((n) => n > MAX_SIZE)))
    throw argumentError(caller, parameter, sizes, `sizes of at most ${MAX_SIZE}, and a product of at most 2^53`);
  return sizes;
}
