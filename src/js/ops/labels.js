// Validates labels, which are integers that index a class, a token or a row of a table.

import { argumentError } from '../check/errors.js';
import { readTensorLike } from '../check/tensorlike.js';
import { shapeOf, Tensor, viewOf } from '../memory/tensor.js';

/** @import { Source, TensorLike } from '../check/tensorlike.js' */

/** @typedef {{ ints: Int32Array, shape: readonly number[] }} Labels */

/**
 * Reads the numbers of an argument, for toLabels. Copies a tensor, because its memory may be reallocated.
 * @param {TensorLike | Source} value
 * @param {string} caller
 * @param {string} parameter
 */
export const readNumbers = (value, caller, parameter) =>
  readTensorLike(
    value instanceof Tensor ? { data: viewOf(value).slice(), shape: shapeOf(value) } : value,
    caller,
    parameter,
  );

/**
 * @param {Source} source
 * @param {string} caller
 * @param {number} below labels are 0 to below − 1
 * @param {number | undefined} ignore another allowed label, of rows that are not counted
 * @param {string} parameter
 * @returns {Labels}
 */
export function toLabels({ data, shape }, caller, below, ignore, parameter) {
  const ints = new Int32Array(data.length);
  for (let i = 0; i < ints.length; i++) {
    const label = Number(data[i]);
    if (label !== ignore && !(Number.isInteger(label) && label >= 0 && label < below)) {
      const other = ignore === undefined ? '' : `, or ${ignore}`;
      throw argumentError(caller, `${parameter}[${i}]`, label, `an integer from 0 to ${below - 1}${other}`);
    }
    ints[i] = label;
  }
  return { ints, shape };
}
