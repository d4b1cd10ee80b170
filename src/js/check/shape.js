// Shapes: lists of sizes in row-major order, the last axis contiguous.

export { formatShape } from './quote.js';

/** Axes of a shape. */
export const MAX_AXES = 32;

/** Size of an axis: the core counts with int32. */
export const MAX_SIZE = 2 ** 31 - 1;

/** float32 numbers in 4 GiB, the largest memory. */
export const MAX_ELEMENTS = 2 ** 30;

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
export function sameShape(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false; // not every(): on frozen arrays it is slow
  return true;
}

/** @param {readonly number[]} shape */
export function elementCount(shape) {
  let count = 1;
  for (const n of shape) count *= n;
  return count;
}

/**
 * Strides with which an operand broadcasts to the target, axes aligned from the right: 0 for a repeated axis.
 * @param {readonly number[]} shape
 * @param {readonly number[]} target
 * @returns {number[] | null} null if it does not broadcast
 */
export function broadcastStrides(shape, target) {
  if (shape.length > target.length) return null;
  const strides = target.map(() => 0);
  let step = 1;
  for (let i = 1; i <= shape.length; i++) {
    const size = shape[shape.length - i];
    if (size !== 1 && size !== target[target.length - i]) return null;
    if (size !== 1) strides[target.length - i] = step;
    step *= size;
  }
  return strides;
}
