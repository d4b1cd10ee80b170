// Merges adjacent pieces of a word by the ranks of their pairs, with a heap: n pieces take O(n log n).

import { MAX_ID } from './vocabulary.ts';

/** ids of pieces, and their ranges in the word */
export type PieceList = { id: number[]; begin: number[]; end: number[] };
export type Pairs = {
  /** −1 if the pair is not merged */
  rank: (left: number, right: number) => number;
  /** id of the merged piece */
  join: (rank: number, left: number, right: number) => number;
};

/** A number above all ids, so that left · SHIFT + right is a unique number for a pair. */
export const SHIFT = 2 * MAX_ID;
/** Larger than all positions. An entry of the heap is rank · POSITIONS + position of the left piece. */
const POSITIONS = 2 ** 31;

/** Returns id, begin and end of each piece. Changes the given pieces. */
export function mergePairs({ id, begin, end }: PieceList, pairs: Pairs): Int32Array {
  // A doubly linked list. A merged pair is stored at its left piece.
  const next = new Int32Array(id.length);
  const previous = new Int32Array(id.length);
  for (let at = 0; at < id.length; at++) [next[at], previous[at]] = [at + 1, at - 1];
  const heap = new Heap();
  const rankAt = (at: number) => (at >= 0 && next[at] < id.length ? pairs.rank(id[at], id[next[at]]) : -1);
  const enqueue = (at: number) => {
    const rank = rankAt(at);
    if (rank >= 0) heap.push(rank * POSITIONS + at);
  };
  for (let at = 0; at < id.length; at++) enqueue(at);
  while (heap.size > 0) {
    const key = heap.pop();
    const at = key % POSITIONS;
    const rank = (key - at) / POSITIONS;
    // The entry is stale if either piece has been merged since.
    if (id[at] < 0 || rankAt(at) !== rank) continue;
    const right = next[at];
    id[at] = pairs.join(rank, id[at], id[right]);
    end[at] = end[right];
    id[right] = -1;
    next[at] = next[right];
    if (next[at] < id.length) previous[next[at]] = at;
    enqueue(previous[at]);
    enqueue(at);
  }
  const result: number[] = [];
  for (let at = 0; at < id.length; at = next[at]) result.push(id[at], begin[at], end[at]);
  return Int32Array.from(result);
}

/** A binary heap of numbers: pop() returns the smallest. */
class Heap {
  #keys: number[] = [];

  get size() {
    return this.#keys.length;
  }

  push(key: number) {
    const keys = this.#keys;
    let at = keys.length;
    for (let parent; at > 0 && keys[(parent = (at - 1) >> 1)] > key; at = parent) keys[at] = keys[parent];
    keys[at] = key;
  }

  pop() {
    const keys = this.#keys;
    const smallest = keys[0];
    const key = Number(keys.pop());
    if (keys.length === 0) return smallest;
    let at = 0;
    for (let child; (child = 2 * at + 1) < keys.length; at = child) {
      if (child + 1 < keys.length && keys[child + 1] < keys[child]) child++;
      if (keys[child] >= key) break;
      keys[at] = keys[child];
    }
    keys[at] = key;
    return smallest;
  }
}
