// Byte-pair encoding: a word is split into characters, then the adjacent pair of lowest rank is merged until no pair
// has a rank. The pairs are in a heap, so a word of n characters takes O(n log n).

import { fieldError } from './fields.js';
import { byteFallback, MAX_ID, readPiece, readVocabulary } from './vocabulary.js';

/** @import { Fields } from './fields.js' */
/** @import { Model } from './vocabulary.js' */

/** Words whose pieces are cached, and the longest of them. */
const MAX_CACHED = 20_000;
const MAX_CACHED_LENGTH = 64;
/** Key of a pair: id of the left piece · SHIFT + id of the right piece. */
const SHIFT = 2 * MAX_ID;
/** Key of a heap entry: rank of the pair · POSITIONS + position of its left piece. */
const POSITIONS = 2 ** 31;

/**
 * @param {Fields} fields
 * @param {Map<string, number>} ids
 * @param {number} prefixLength
 */
function readMerges(fields, ids, prefixLength) {
  /** The rank of every pair: the lowest is merged first. @type {Map<number, number>} */
  const ranks = new Map();
  const merges = fields.list('merges');
  const merged = Int32Array.from(merges, (entry, rank) => {
    // The header line of merges.txt, which some converters copied into the list.
    if (typeof entry === 'string' && entry.startsWith('#version')) return -1;
    const pair = typeof entry === 'string' ? entry.split(' ') : entry;
    const fail = (/** @type {string} */ expected) => fieldError(`${fields.pathOf('merges')}[${rank}]`, entry, expected);
    if (!Array.isArray(pair) || pair.length !== 2 || pair.some((piece) => typeof piece !== 'string'))
      throw fail('two pieces');
    const [left, right] = pair.map((piece) => ids.get(piece));
    const both = ids.get(pair[0] + pair[1].slice(prefixLength));
    if (left === undefined || right === undefined || both === undefined)
      throw fail('two pieces of the vocabulary whose concatenation is a piece too');
    ranks.set(left * SHIFT + right, rank);
    return both;
  });
  return { ranks, merged };
}

/** @param {Fields} fields @returns {Model} */
export function readBpe(fields) {
  const ids = readVocabulary(fields);
  const prefix = fields.string('continuing_subword_prefix', '');
  const suffix = fields.string('end_of_word_suffix', '');
  const { ranks, merged } = readMerges(fields, ids, prefix.length);
  const unknown = readPiece(fields, 'unk_token', ids);
  const fuse = fields.boolean('fuse_unk', false);
  const bytes = fields.boolean('byte_fallback', false) ? byteFallback(ids) : () => null;
  const ignoreMerges = fields.boolean('ignore_merges', false);
  if (fields.get('dropout')) throw fields.error('dropout', 'none: BPE dropout is not supported');
  const initialPieces = characterSplitter({ ids, prefix, suffix, unknown, fuse, bytes });
  const merge = pairMerger(ranks, merged);

  /** @type {Map<string, Int32Array>} */
  const cache = new Map();
  return {
    ids,
    pieces(word, found) {
      const id = ignoreMerges ? ids.get(word) : undefined;
      if (id !== undefined) return found(id, 0, word.length);
      let pieces = cache.get(word);
      if (!pieces) {
        pieces = merge(initialPieces(word));
        if (cache.size === MAX_CACHED) cache.clear();
        if (word.length <= MAX_CACHED_LENGTH) cache.set(word, pieces);
      }
      for (let i = 0; i < pieces.length; i += 3) found(pieces[i], pieces[i + 1], pieces[i + 2]);
    },
  };
}

/** @typedef {{ id: number[], begin: number[], end: number[] }} PieceList ids of pieces, and their ranges in the word */

/**
 * Splits a word into the pieces that exist before any merge: its characters, or their bytes.
 * @param {{ ids: Map<string, number>, prefix: string, suffix: string, unknown: number | null, fuse: boolean,
 *   bytes: (text: string) => number[] | null }} model fuse: consecutive unknown characters become one piece
 * @returns {(word: string) => PieceList}
 */
const characterSplitter =
  ({ ids, prefix, suffix, unknown, fuse, bytes }) =>
  (word) => {
    /** @type {number[][]} */
    const [id, begin, end] = [[], [], []];
    const add = (/** @type {number} */ piece, /** @type {number} */ from, /** @type {number} */ until) => {
      id.push(piece);
      begin.push(from);
      end.push(until);
    };
    /**
     * Range of unknown characters not yet added. As in the reference, it is added before the next known character, so
     * bytes of fallback in between come first.
     * @type {number[] | null}
     */
    let pending = null;
    const addPending = () => {
      if (pending && unknown !== null) add(unknown, pending[0], pending[1]);
      pending = null;
    };
    for (let at = 0, next = 0; at < word.length; at = next) {
      next += Number(word.codePointAt(at)) > 0xffff ? 2 : 1;
      const char = (at > 0 ? prefix : '') + word.slice(at, next) + (next === word.length ? suffix : '');
      const known = ids.get(char);
      const fallback = known === undefined ? bytes(char) : null;
      if (known !== undefined) {
        addPending();
        add(known, at, next);
      } else if (fallback) for (const piece of fallback) add(piece, at, next);
      else if (pending && fuse) pending[1] = next;
      else {
        addPending();
        pending = [at, next];
      }
    }
    addPending();
    return { id, begin, end };
  };

/**
 * Merges adjacent pairs of pieces in the order of their ranks.
 * @param {Map<number, number>} ranks
 * @param {Int32Array} merged the id of the merged piece, by rank
 * @returns {(pieces: PieceList) => Int32Array} the id, the begin and the end of each piece
 */
const pairMerger =
  (ranks, merged) =>
  ({ id, begin, end }) => {
    // A doubly linked list of pieces: a merged pair is stored at the position of its left piece.
    const next = new Int32Array(id.length);
    const previous = new Int32Array(id.length);
    for (let at = 0; at < id.length; at++) [next[at], previous[at]] = [at + 1, at - 1];
    const heap = new Heap();
    const rankAt = (/** @type {number} */ at) =>
      at >= 0 && next[at] < id.length ? ranks.get(id[at] * SHIFT + id[next[at]]) : undefined;
    const enqueue = (/** @type {number} */ at) => {
      const rank = rankAt(at);
      if (rank !== undefined) heap.push(rank * POSITIONS + at);
    };
    for (let at = 0; at < id.length; at++) enqueue(at);
    while (heap.size > 0) {
      const key = heap.pop();
      const at = key % POSITIONS;
      const rank = (key - at) / POSITIONS;
      // The entry is stale if either piece has been merged since.
      if (id[at] < 0 || rankAt(at) !== rank) continue;
      const right = next[at];
      id[at] = merged[rank];
      end[at] = end[right];
      id[right] = -1;
      next[at] = next[right];
      if (next[at] < id.length) previous[next[at]] = at;
      enqueue(previous[at]);
      enqueue(at);
    }
    /** @type {number[]} */
    const result = [];
    for (let at = 0; at < id.length; at = next[at]) result.push(id[at], begin[at], end[at]);
    return Int32Array.from(result);
  };

/** A binary heap of numbers: pop() returns the smallest. */
class Heap {
  /** @type {number[]} */
  #keys = [];

  get size() {
    return this.#keys.length;
  }

  /** @param {number} key */
  push(key) {
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
