// HeadlightError, the only error class of the module, and functions that create its messages.

import { cut, formatShape, quote } from './quote.js';

/** @typedef {'SHAPE' | 'ARGUMENT' | 'OUT_OF_MEMORY' | 'DISPOSED' | 'STATE' | 'LOAD' | 'FORMAT'} ErrorCode */

/** Maximum characters of a path or URL in a message, and of the system's reason. */
const MAX_NAME = 200;
const MAX_REASON = 400;

/** The class of every error that Headlight throws. After an error the instance stays usable and no memory leaks. */
export class HeadlightError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {{ parameter?: string, expected?: unknown, got?: unknown, cause?: unknown }} [details]
   */
  constructor(code, message, { parameter, expected, got, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HeadlightError';
    this.code = code;
    /** The name of the wrong parameter. */
    this.parameter = parameter;
    this.expected = expected;
    this.got = got;
  }

  /**
   * Identifies an error by its name, because the entries of the package are bundled separately, each with its own copy
   * of the class.
   * @param {unknown} value
   */
  static [Symbol.hasInstance](value) {
    return value instanceof Error && value.name === 'HeadlightError';
  }
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly number[]} got
 * @param {string} expected
 */
export function shapeError(caller, parameter, got, expected) {
  return new HeadlightError('SHAPE', `${caller}: ${parameter} has shape ${formatShape(got)}, expected ${expected}`, {
    parameter,
    expected,
    got: [...got],
  });
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} got
 * @param {string} expected
 */
export function argumentError(caller, parameter, got, expected) {
  return new HeadlightError('ARGUMENT', `${caller}: ${parameter} is ${quote(got)}, expected ${expected}`, {
    parameter,
    expected,
    got,
  });
}

/**
 * Makes the error about a file that cannot be read from a disk or over the network.
 * @param {string} caller
 * @param {string} name of the file or folder
 * @param {unknown} cause an error or a string
 * @param {{ expected?: unknown, got?: unknown }} [details]
 */
export function unreadable(caller, name, cause, details) {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const text = `${caller}: ${cut(name, MAX_NAME)} cannot be read: ${cut(reason, MAX_REASON)}`;
  return new HeadlightError('LOAD', text, { parameter: 'files', ...details, cause });
}
