// Replaces sequences in a cache by copies of other sequences in the cache.

import { shapeOf, viewOf } from '../../memory/tensor.ts';

import type { Cache } from '../cache.ts';

/**
 * Keys and values of an encoder's output, the same for all, are not copied. rows: for each sequence, of which it
 * becomes a copy; since: its first token that differs.
 */
export function reorderRows(cache: Cache, rows: readonly number[], since: readonly number[]) {
  const { blocks, counted } = cache.stored;
  const { length } = cache;
  const moved = rows.flatMap((row, b) => (row === b ? [] : [{ b, row, first: since[b] }]));
  if (moved.length === 0) return;
  for (const tensor of blocks.flatMap(({ key, value }) => [key, value])) {
    const view = viewOf(tensor);
    const [, heads, capacity, width] = shapeOf(tensor);
    const rangeOf = (row: number, head: number, first: number) => {
      const at = (row * heads + head) * capacity;
      return [(at + first) * width, (at + length) * width] as const;
    };
    for (let head = 0; head < heads; head++) {
      // All are read before the first is written, because a sequence may be both source and target.
      const read = moved.map(({ row, first }) => view.slice(...rangeOf(row, head, first)));
      for (const [i, { b, first }] of moved.entries()) view.set(read[i], rangeOf(b, head, first)[0]);
    }
  }
  counted.copy(counted, length, [...rows]);
}
