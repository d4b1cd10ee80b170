// Named arrays, as a state holds them.

import { readTensorLike } from '../check/tensorlike.js';
import { shapeOf, Tensor, viewOf } from '../memory/tensor.js';

/** @import { TensorLike } from '../check/tensorlike.js' */

/** @typedef {{ data: Float32Array, shape: number[] }} StateEntry */

/**
 * One of them, apart from what will be written: the parameters that take it may be given as well.
 * @param {string} caller
 * @param {string} name
 * @param {unknown} value
 * @param {ArrayBufferLike} target where the parameters lie
 */
export function readArray(caller, name, value, target) {
  if (value instanceof Tensor) return { shape: shapeOf(value), floats: viewOf(value).slice() };
  const source = readTensorLike(/** @type {TensorLike} */ (value), caller, name).apartFrom(target);
  return { shape: source.shape, floats: source.floats() };
}
