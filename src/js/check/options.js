// Validates options and numbers. It is a file of its own, so that the bundle of a program that uses only a
// learning-rate schedule stays small.

import { argumentError, HeadlightError } from './errors.js';
import { quote } from './quote.js';

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
  // A Map or a promise has no own properties, so it would pass as an object without options.
  if (names.length === 0 && !isPlain(options) && Object.prototype.toString.call(options) !== '[object Object]')
    throw argumentError(caller, parameter, options, 'an object');
}

/** Returns true for an object that inherits from no class other than Object. @param {object} value */
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
 * Validates the names of options and returns a copy of those that are not undefined.
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
 * Validates a number in the range of float32, or a safe integer.
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
