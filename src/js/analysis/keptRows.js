// Keeps the weights of those sequences of a head that have the largest sort keys. Keeps only the largest weights of
// each row.

/** @import { Bounds } from './roleRules.js' */

/**
 * Kept weights of a sequence: indices t·T + s in ascending order, and values.
 * @typedef {{ indices: Uint32Array, values: Float32Array }} Rows
 */
/** @typedef {{ sequence: number, key: number, rows: Rows }} Entry */

/**
 * Keeps the entries with the largest sort keys, in descending order. If sort keys are equal, the earlier sequence comes
 * first.
 */
export class Largest {
  #size;
  /** @type {Entry[]} */
  entries = [];

  /** @param {number} size */
  constructor(size) {
    this.#size = size;
  }

  /**
   * Returns true if an entry with this sort key and sequence would be kept.
   * @param {number} key
   * @param {number} sequence
   */
  admits(key, sequence) {
    const { length } = this.entries;
    return length < this.#size || (length > 0 && isAfter(this.entries[length - 1], key, sequence));
  }

  /** @param {Entry} entry for which admits() is true */
  add(entry) {
    const { entries } = this;
    let at = entries.length;
    while (at > 0 && isAfter(entries[at - 1], entry.key, entry.sequence)) at--;
    entries.splice(at, 0, entry);
    if (entries.length > this.#size) entries.pop();
  }
}

/**
 * Returns true if an entry comes after an entry with this sort key and sequence.
 * @param {Entry} entry
 * @param {number} key
 * @param {number} sequence
 */
const isAfter = (entry, key, sequence) => entry.key < key || (entry.key === key && entry.sequence > sequence);

/** Selects the largest weights of every row. The buffers are reused by the next call. */
export class RowSelector {
  #keep;
  #least;
  #keys;
  #values;
  #indices = new Uint32Array(0);
  #all = new Float32Array(0);

  /** @param {number} keep number of weights kept per row @param {number} least smallest weight that is kept */
  constructor(keep, least) {
    this.#keep = keep;
    this.#least = least;
    this.#keys = new Uint32Array(keep);
    this.#values = new Float32Array(keep);
  }

  /**
   * @param {Float32Array} weights
   * @param {number} start index of the first weight of (T,T)
   * @param {number} length T
   * @param {Bounds} bounds
   * @returns {Rows}
   */
  select(weights, start, length, { left, right }) {
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
   * Writes the largest weights of a row and their keys to the buffers, in the order of keys. Among equal weights, those
   * of the first keys are kept.
   * @param {Float32Array} weights
   * @param {number} row index of the weight of key 0
   * @param {number} low
   * @param {number} end
   * @returns {number} number of weights written
   */
  #selectRow(weights, row, low, end) {
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

/**
 * Returns the index of the smallest value, and among equal values that of the largest key.
 * @param {Uint32Array} keys
 * @param {Float32Array} values
 * @param {number} count
 */
function indexOfSmallest(keys, values, count) {
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

/**
 * Sorts keys and values by key. It is an insertion sort, because the lists are short and almost sorted.
 * @param {Uint32Array} keys
 * @param {Float32Array} values
 * @param {number} count
 */
function sortByKey(keys, values, count) {
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
