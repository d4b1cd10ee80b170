// Replaces sequences in a cache by copies of other sequences in the cache.

import { shapeOf, viewOf } from '../../memory/tensor.ts';

import type { Cache } from '../cache.ts';

/**
 * Replaces each sequence by a copy of another one. Keys and values of an encoder's output are not copied, because they
 * are the same for all sequences.
 * @param rows for each sequence, the index of the sequence that it becomes a copy of
 * @param since for each sequence, index of the first token that differs from the sequence to copy
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
      // All sequences are read before the first one is written, because a sequence may be both source and target.
      const read = moved.map(({ row, first }) => view.slice(...rangeOf(row, head, first)));
      for (const [i, { b, first }] of moved.entries()) view.set(read[i], rangeOf(b, head, first)[0]);
    }
  }
  counted.copy(counted, length, [...rows]);
}
