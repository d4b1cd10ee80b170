// Shapes: lists of sizes in row-major order, the last axis contiguous.

export { formatShape } from './quote.ts';

/** Maximum axes of a shape. */
export const MAX_AXES = 32;

/** Maximum size of an axis, because the core counts with int32. */
export const MAX_SIZE = 2 ** 31 - 1;

/** Maximum elements of a tensor: the float32 numbers that fit in 4 GiB, the largest memory. */
export const MAX_ELEMENTS = 2 ** 30;

export function sameShape(a: readonly number[], b: readonly number[]) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false; // every() is slow on frozen arrays
  return true;
}

export function elementCount(shape: readonly number[]) {
  let count = 1;
  for (const n of shape) count *= n;
  return count;
}

/**
 * Returns strides that broadcast a shape to a target from the right, 0 for repeated axes; null if it does not
 * broadcast.
 */
export function broadcastStrides(shape: readonly number[], target: readonly number[]): number[] | null {
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
