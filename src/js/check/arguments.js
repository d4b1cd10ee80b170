// Options, numbers and shapes that callers hand over: checked here, with the name of the caller and of the parameter.

import { argumentError, HeadlightError } from './errors.js';

/**
 * @param {string} caller
 * @param {unknown} options
 * @param {readonly string[]} known
 */
export function checkOptions(caller, options, known) {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    throw argumentError(caller, 'options', options, 'an object');
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new HeadlightError('ARGUMENT', `${caller}: unknown option '${name}', expected one of ${known.join(', ')}`, {
        parameter: name,
        expected: known,
        got: name,
      });
    }
  }
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {{ least?: number, most?: number, integer?: boolean }} [range]
 * @returns {number}
 */
export function readNumber(caller, parameter, value, { least = -Infinity, most = Infinity, integer = false } = {}) {
  if (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= least &&
    value <= most &&
    (!integer || Number.isInteger(value))
  ) {
    return value;
  }
  const low = least > -Infinity ? ` of at least ${least}` : '';
  const high = most < Infinity ? ` and at most ${most}` : '';
  throw argumentError(caller, parameter, value, `${integer ? 'an integer' : 'a finite number'}${low}${high}`);
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
 * @param {unknown} shape
 * @param {string} caller
 * @param {string} parameter
 * @returns {number[]}
 */
export function readShape(shape, caller, parameter) {
  if (!Array.isArray(shape) || !shape.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    throw argumentError(caller, parameter, shape, 'an array of non-negative integers');
  }
  return [...shape];
}
