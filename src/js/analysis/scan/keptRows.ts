// Keeps the sequences of a head with the largest sort keys, and of each row only the largest weights.

import type { Bounds } from '../roles/roleRules.ts';

/** Kept weights of a sequence: indices t·T + s in ascending order, and values. */
export type Rows = { indices: Uint32Array; values: Float32Array };
export type Entry = { sequence: number; key: number; rows: Rows };

/**
 * Keeps the entries with the largest sort keys, in descending order; of equal ones the earlier sequence comes first.
 */
export class Largest {
  #size: number;
  entries: Entry[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  admits(key: number, sequence: number) {
    const { length } = this.entries;
    return length < this.#size || (length > 0 && isAfter(this.entries[length - 1], key, sequence));
  }

  /** entry: for which admits() is true */
  add(entry: Entry) {
    const { entries } = this;
    let at = entries.length;
    while (at > 0 && isAfter(entries[at - 1], entry.key, entry.sequence)) at--;
    entries.splice(at, 0, entry);
    if (entries.length > this.#size) entries.pop();
  }
}

const isAfter = (entry: Entry, key: number, sequence: number) =>
  entry.key < key || (entry.key === key && entry.sequence > sequence);

/** Selects the largest weights of every row. The buffers are reused by the next call. */
export class RowSelector {
  #keep: number;
  #least: number;
  #keys: Uint32Array<ArrayBuffer>;
  #values: Float32Array<ArrayBuffer>;
  #indices = new Uint32Array(0);
  #all = new Float32Array(0);

  /** keep: number of weights kept per row; least: smallest weight that is kept */
  constructor(keep: number, least: number) {
    this.#keep = keep;
    this.#least = least;
    this.#keys = new Uint32Array(keep);
    this.#values = new Float32Array(keep);
  }

  /** start: index of the first weight of (T,T); length: T */
  select(weights: Float32Array, start: number, length: number, { left, right }: Bounds): Rows {
    const most = length * Math.min(this.#keep, length);
    if (this.#all.length < most) {
      this.#indices = new Uint32Array(most);
      this.#all = new Float32Array(most);
    }
    const [keys, values, indices, all] = [this.#keys, this.#values, this.#indices, this.#all];
    let kept = 0;
    for (let t = 0; t < length; t++) {
      const low = t > left ? t - left : 0;
      const end = t + right < length ? t + right + 1 : length;
      const count = this.#selectRow(weights, start + t * length, low, end);
      for (let i = 0; i < count; i++) {
        indices[kept] = t * length + keys[i];
        all[kept++] = values[i];
      }
    }
    // Both arrays share one buffer, so that there is less to collect as garbage.
    const buffer = new ArrayBuffer(8 * kept);
    const rows = { indices: new Uint32Array(buffer, 0, kept), values: new Float32Array(buffer, 4 * kept) };
    rows.indices.set(indices.subarray(0, kept));
    rows.values.set(all.subarray(0, kept));
    return rows;
  }

  /**
   * Writes a row's largest weights and their keys to the buffers, ordered by key; of equal weights the first keys. row:
   * index of the weight of key 0. Returns their number.
   */
  #selectRow(weights: Float32Array, row: number, low: number, end: number): number {
    const keep = this.#keep;
    const least = this.#least;
    const keys = this.#keys;
    const values = this.#values;
    let count = 0;
    let s = low;
    for (; s < end && count < keep; s++) {
      const w = weights[row + s];
      if (!(w >= least && w > 0)) continue;
      keys[count] = s;
      values[count++] = w;
    }
    let weakest = indexOfSmallest(keys, values, count);
    let floor = count > 0 ? values[weakest] : 0;
    for (; s < end; s++) {
      const w = weights[row + s];
      if (!(w > floor)) continue;
      keys[weakest] = s;
      values[weakest] = w;
      weakest = indexOfSmallest(keys, values, count);
      floor = values[weakest];
    }
    sortByKey(keys, values, count);
    return count;
  }
}

/** Returns the index of the smallest value, and among equal values that of the largest key. */
function indexOfSmallest(keys: Uint32Array, values: Float32Array, count: number) {
  let at = 0;
  let smallest = values[0];
  for (let i = 1; i < count; i++) {
    const value = values[i];
    if (value > smallest || (value === smallest && keys[i] < keys[at])) continue;
    at = i;
    smallest = value;
  }
  return at;
}

/** Sorts keys and values by key. It is an insertion sort, because the lists are short and almost sorted. */
function sortByKey(keys: Uint32Array, values: Float32Array, count: number) {
  for (let i = 1; i < count; i++) {
    const key = keys[i];
    const value = values[i];
    let at = i;
    for (; at > 0 && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1];
      values[at] = values[at - 1];
    }
    keys[at] = key;
    values[at] = value;
  }
}
