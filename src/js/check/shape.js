// Shapes: lists of sizes, the slowest axis first.

/** So many axes a shape may have. */
export const MOST_AXES = 32;

/** The largest size that the core can count. */
export const MOST_SIZE = 2 ** 31 - 1;

/** So many float32s fill the largest memory, of 4 GiB. */
export const MOST_ELEMENTS = 2 ** 30;

/** @param {readonly unknown[]} shape */
export const formatShape = (shape) => `[${shape.join(',')}]`;

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
 * How an operand of this shape reaches over the target, axes matched from the right: one stride an axis, 0
 * where it is repeated.
 * @param {readonly number[]} shape
 * @param {readonly number[]} target
 * @returns {number[] | null} null where it does not fit
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
