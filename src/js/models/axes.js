// Functions that copy a tensor with its axes in another order.

import { viewOf } from '../memory/tensor.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Tape } from './tape.js' */

/**
 * Copies (B,first,second,width) to (B,second,first,width).
 * @param {Float32Array} to
 * @param {Float32Array} from
 * @param {number} batch
 * @param {number} first
 * @param {number} second
 * @param {number} width
 */
export function swapAxes(to, from, batch, first, second, width) {
  for (let at = 0, b = 0; b < batch; b++)
    for (let j = 0; j < second; j++)
      for (let i = 0; i < first; i++) {
        const start = ((b * first + i) * second + j) * width;
        for (let d = 0; d < width; d++) to[at++] = from[start + d];
      }
}

/**
 * Returns (B,N,heads·D) as (B,heads,N,D).
 * @param {Tape} tape
 * @param {Tensor} x
 * @param {number} heads
 * @returns {Tensor}
 */
export function splitHeads(tape, x, heads) {
  const [batch, rows, channels] = x.shape;
  const width = channels / heads;
  const split = tape.make([batch, heads, rows, width]);
  swapAxes(viewOf(split), viewOf(x), batch, rows, heads, width);
  return tape.record(split, (d) => tape.accumulate(x, joinHeads(tape, d)));
}

/**
 * Returns (B,heads,N,D) as (B,N,heads·D).
 * @param {Tape} tape
 * @param {Tensor} x
 * @returns {Tensor}
 */
export function joinHeads(tape, x) {
  const [batch, heads, rows, width] = x.shape;
  const joined = tape.make([batch, rows, heads * width]);
  swapAxes(viewOf(joined), viewOf(x), batch, heads, rows, width);
  return tape.record(joined, (d) => tape.accumulate(x, splitHeads(tape, d, heads)));
}
