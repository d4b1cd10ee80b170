// Copies the tokens of some sequences of a cache over those of others.

import { shapeOf, viewOf } from '../memory/tensor.js';

/** @import { Cache } from './cache.js' */

/**
 * Each sequence becomes a copy of another one. The keys and values of an encoder's output are the same for all.
 * @param {Cache} cache
 * @param {readonly number[]} rows the other one of each
 * @param {readonly number[]} since the first token in which the two differ
 */
export function reorderRows(cache, rows, since) {
  const { blocks, counted } = cache.stored;
  const { length } = cache;
  const moved = rows.flatMap((row, b) => (row === b ? [] : [{ b, row, first: since[b] }]));
  if (moved.length === 0) return;
  for (const tensor of blocks.flatMap(({ key, value }) => [key, value])) {
    const view = viewOf(tensor);
    const [, heads, capacity, width] = shapeOf(tensor);
    const rangeOf = (/** @type {number} */ row, /** @type {number} */ head, /** @type {number} */ first) => {
      const at = (row * heads + head) * capacity;
      return /** @type {const} */ ([(at + first) * width, (at + length) * width]);
    };
    for (let head = 0; head < heads; head++) {
      // All are read before one is written.
      const read = moved.map(({ row, first }) => view.slice(...rangeOf(row, head, first)));
      for (const [i, { b, first }] of moved.entries()) view.set(read[i], rangeOf(b, head, first)[0]);
    }
  }
  counted.copy(counted, length, [...rows]);
}
