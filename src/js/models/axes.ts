// Functions that copy a tensor with its axes in another order.

import { type Tensor, viewOf } from '../memory/tensor.ts';

import type { Tape } from './gradients/tape.ts';

/** Copies (B,first,second,width) to (B,second,first,width). */
export function swapAxes(
  to: Float32Array,
  from: Float32Array,
  batch: number,
  first: number,
  second: number,
  width: number,
) {
  for (let at = 0, b = 0; b < batch; b++)
    for (let j = 0; j < second; j++)
      for (let i = 0; i < first; i++) {
        const start = ((b * first + i) * second + j) * width;
        for (let d = 0; d < width; d++) to[at++] = from[start + d];
      }
}

/** Returns (B,N,heads·D) as (B,heads,N,D). */
export function splitHeads(tape: Tape, x: Tensor, heads: number): Tensor {
  const [batch, rows, channels] = x.shape;
  const width = channels / heads;
  const split = tape.make([batch, heads, rows, width]);
  swapAxes(viewOf(split), viewOf(x), batch, rows, heads, width);
  return tape.record(split, (d) => tape.accumulate(x, joinHeads(tape, d)));
}

/** Returns (B,heads,N,D) as (B,N,heads·D). */
export function joinHeads(tape: Tape, x: Tensor): Tensor {
  const [batch, heads, rows, width] = x.shape;
  const joined = tape.make([batch, rows, heads * width]);
  swapAxes(viewOf(joined), viewOf(x), batch, heads, rows, width);
  return tape.record(joined, (d) => tape.accumulate(x, splitHeads(tape, d, heads)));
}
