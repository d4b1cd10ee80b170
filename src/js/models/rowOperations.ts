// Operations on rows of a tensor, with their gradients. In JavaScript, because each is used a few times for an input,
// not in the blocks.

import { type Tensor, viewOf } from '../memory/tensor.ts';

import type { Tape } from './gradients/tape.ts';
import type { Weight } from './weights.ts';

/** Returns rows from..from+count−1 of every sequence, (B,count,C). x: (B,T,C). */
export function sliceRows(tape: Tape, x: Tensor, from: number, count: number) {
  const [batch, rows, width] = x.shape;
  if (count === rows) return x;
  const y = tape.make([batch, count, width]);
  for (let b = 0; b < batch; b++) {
    const at = (b * rows + from) * width;
    viewOf(y).set(viewOf(x).subarray(at, at + count * width), b * count * width);
  }
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    viewOf(dx).fill(0);
    for (let b = 0; b < batch; b++) {
      const at = b * count * width;
      viewOf(dx).set(viewOf(dy).subarray(at, at + count * width), (b * rows + from) * width);
    }
    tape.accumulate(x, dx);
  });
}

/** Returns one row of every sequence, (B,C). x: (B,T,C); indices: (B). */
export function pickRows(tape: Tape, x: Tensor, indices: ArrayLike<number>) {
  const [batch, rows, width] = x.shape;
  const y = tape.make([batch, width]);
  const at = (b: number) => (b * rows + indices[b]) * width;
  for (let b = 0; b < batch; b++) viewOf(y).set(viewOf(x).subarray(at(b), at(b) + width), b * width);
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    viewOf(dx).fill(0);
    for (let b = 0; b < batch; b++) viewOf(dx).set(viewOf(dy).subarray(b * width, (b + 1) * width), at(b));
    tape.accumulate(x, dx);
  });
}

/** Returns the mean of the rows of every sequence, without padding, (B,C). x: (B,T,C); keep: (B,T): 0 = padding. */
export function meanRows(tape: Tape, x: Tensor, keep?: Uint8Array) {
  const [batch, rows, width] = x.shape;
  const y = tape.make([batch, width]);
  /** each: gets indices of y and of x */
  const forEachElement = (each: (mean: number, element: number, share: number) => void) => {
    for (let b = 0; b < batch; b++) {
      const real = Array.from({ length: rows }, (_, t) => b * rows + t).filter((row) => keep?.[row] !== 0);
      for (const row of real) for (let c = 0; c < width; c++) each(b * width + c, row * width + c, 1 / real.length);
    }
  };
  const [sums, from] = [new Float64Array(batch * width), viewOf(x)];
  forEachElement((mean, element, share) => void (sums[mean] += share * from[element]));
  viewOf(y).set(sums);
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    const [to, given] = [viewOf(dx).fill(0), viewOf(dy)];
    forEachElement((mean, element, share) => void (to[element] = share * given[mean]));
    tape.accumulate(x, dx);
  });
}

/** Returns the columns of a and b side by side, (B,2·C). a: (B,C); b: (B,C). */
export function joinColumns(tape: Tape, a: Tensor, b: Tensor) {
  const [batch, width] = a.shape;
  const y = tape.make([batch, 2 * width]);
  const parts = [a, b].map((x, i) => ({ x, at: (row: number) => (2 * row + i) * width }));
  for (const { x, at } of parts)
    for (let r = 0; r < batch; r++) viewOf(y).set(viewOf(x).subarray(r * width, (r + 1) * width), at(r));
  return tape.record(y, (dy) => {
    for (const { x, at } of parts) {
      const dx = tape.make(x.shape);
      for (let r = 0; r < batch; r++) viewOf(dx).set(viewOf(dy).subarray(at(r), at(r) + width), r * width);
      tape.accumulate(x, dx);
    }
  });
}

/** Multiplies each row by its factor and returns (B,T,C). x: (B,T,C); factors: (B,T). */
export function scaleRows(tape: Tape, x: Tensor, factors: Float32Array) {
  const width = x.shape[2];
  const multiply = (from: Tensor) => {
    const y = tape.make(x.shape);
    const [to, given] = [viewOf(y), viewOf(from)];
    for (let i = 0; i < to.length; i++) to[i] = given[i] * factors[Math.floor(i / width)];
    return y;
  };
  return tape.record(multiply(x), (dy) => tape.accumulate(x, multiply(dy)));
}

/** Puts the rows of a parameter before the rows of every sequence: (B,n+T,C). first: (n,C); x: (B,T,C). */
export function prependRows(tape: Tape, first: Weight, x: Tensor) {
  const [[n, width], [batch, rows]] = [first.shape, x.shape];
  const y = tape.make([batch, n + rows, width]);
  const [head, body] = [n * width, rows * width];
  for (let b = 0; b < batch; b++) {
    viewOf(y).set(viewOf(first.tensor as Tensor), b * (head + body));
    viewOf(y).set(viewOf(x).subarray(b * body, (b + 1) * body), b * (head + body) + head);
  }
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    for (let b = 0; b < batch; b++) {
      const at = b * (head + body);
      viewOf(dx).set(viewOf(dy).subarray(at + head, at + head + body), b * body);
      const dFirst = tape.gradientOf(first);
      if (dFirst) viewOf(dFirst).forEach((g, i, all) => void (all[i] = g + viewOf(dy)[at + i]));
    }
    tape.accumulate(x, dx);
  });
}

/**
 * Windows of three rows of x (B,N,C), (B,⌊(N−1)/stride⌋+1,3·C), zeros outside. A linear layer over them is a
 * convolution.
 */
export function unfoldRows(tape: Tape, x: Tensor, stride: number) {
  const [batch, rows, width] = x.shape;
  const count = Math.floor((rows - 1) / stride) + 1;
  const y = tape.make([batch, count, 3 * width]);
  /** each: gets the start of a row in x and of its copy in y */
  const forEachCopy = (each: (row: number, copy: number) => void) => {
    for (let b = 0; b < batch; b++)
      for (let t = 0; t < count; t++)
        for (let k = 0; k < 3; k++) {
          const row = t * stride + k - 1;
          if (row >= 0 && row < rows) each((b * rows + row) * width, ((b * count + t) * 3 + k) * width);
        }
  };
  const [from, windows] = [viewOf(x), viewOf(y).fill(0)];
  forEachCopy((row, copy) => windows.set(from.subarray(row, row + width), copy));
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    const [sums, given] = [viewOf(dx).fill(0), viewOf(dy)];
    forEachCopy((row, copy) => {
      for (let i = 0; i < width; i++) sums[row + i] += given[copy + i];
    });
    tape.accumulate(x, dx);
  });
}
