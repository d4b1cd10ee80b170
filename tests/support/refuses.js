// Asserts that a call is refused with a HeadlightError, by the fields of the error. tests/js/check/errors.test.js tests
// the wording of the functions that make messages.

import assert from 'node:assert/strict';
import { HeadlightError } from 'headlight-attention';

/**
 * @typedef {RegExp | { got: unknown }} Reason what the message matches, if errors with the same fields have several
 * reasons; or the value of the field `got`
 */

/** Returns a function that checks the fields of an error. @param {Reason} [reason] */
const checkOf = (code, parameter, reason) => (error) => {
  assert.ok(error instanceof HeadlightError, error.stack);
  assert.deepEqual([error.code, error.parameter], [code, parameter], error.message);
  if (reason instanceof RegExp) assert.match(error.message, reason);
  else if (reason) assert.deepEqual(error.got, reason.got, error.message);
  return true;
};

/** @param {() => unknown} call @param {string} code @param {string | undefined} parameter @param {Reason} [reason] */
export const refuses = (call, code, parameter, reason) => assert.throws(call, checkOf(code, parameter, reason));

/**
 * @param {Promise<unknown>} call @param {string} code @param {string | undefined} parameter @param {Reason} [reason]
 */
export const refusesLater = (call, code, parameter, reason) => assert.rejects(call, checkOf(code, parameter, reason));
