// Byte-pair encoding: a word begins as its characters, and the pair of neighbours that was learned first is merged
// until there is none left. Pairs wait in a heap, so that the time is that of sorting, however long the word is.

import { fieldError } from './fields.js';
import { byteFallback, MOST_ID, readPiece, readVocabulary } from './vocabulary.js';

/** @import { Fields } from './fields.js' */
/** @import { Model } from './vocabulary.js' */

/** Words that come again and again are merged once. */
const MOST_KEPT = 20_000;
const LONGEST_KEPT = 64;
/** A pair is one number: that of the left piece, then that of the right one. */
const SHIFT = 2 * MOST_ID;
/** An entry of the heap is one number: the rank of the pair, then its place. */
const PLACES = 2 ** 31;

/**
 * @param {Fields} fields
 * @param {Map<string, number>} ids
 * @param {number} prefixLength
 */
function readMerges(fields, ids, prefixLength) {
  /** The rank of every pair: the lower, the earlier it is merged. @type {Map<number, number>} */
  const ranks = new Map();
  const merges = fields.list('merges');
  const merged = Int32Array.from(merges, (entry, rank) => {
    // The first line of the text file that merges once were in.
    if (typeof entry === 'string' && entry.startsWith('#version')) return -1;
    const pair = typeof entry === 'string' ? entry.split(' ') : entry;
    const fail = (/** @type {string} */ expected) => fieldError(`${fields.pathOf('merges')}[${rank}]`, entry, expected);
    if (!Array.isArray(pair) || pair.length !== 2 || pair.some((piece) => typeof piece !== 'string'))
      throw fail('two pieces');
    const [left, right] = pair.map((piece) => ids.get(piece));
    const both = ids.get(pair[0] + pair[1].slice(prefixLength));
    if (left === undefined || right === undefined || both === undefined)
      throw fail('two pieces of the vocabulary, which together are one of it');
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
  const whole = fields.boolean('ignore_merges', false);
  if (fields.get('dropout')) throw fields.error('dropout', 'none: merges are not left out at random');

  /** The pieces that a word begins with: their numbers, and where they begin and end. @param {string} word */
  function characters(word) {
    /** @type {number[][]} */
    const [id, begin, end] = [[], [], []];
    const add = (/** @type {number} */ piece, /** @type {number} */ from, /** @type {number} */ until) => {
      id.push(piece);
      begin.push(from);
      end.push(until);
    };
    /** What is unknown waits for a piece that is known, past what is given as bytes. @type {number[] | null} */
    let lost = null;
    const addLost = () => {
      if (lost && unknown !== null) add(unknown, lost[0], lost[1]);
      lost = null;
    };
    for (let at = 0, next = 0; at < word.length; at = next) {
      next += Number(word.codePointAt(at)) > 0xffff ? 2 : 1;
      const sign = (at > 0 ? prefix : '') + word.slice(at, next) + (next === word.length ? suffix : '');
      const known = ids.get(sign);
      const fallback = known === undefined ? bytes(sign) : null;
      if (known !== undefined) {
        addLost();
        add(known, at, next);
      } else if (fallback) for (const piece of fallback) add(piece, at, next);
      else if (lost && fuse) lost[1] = next;
      else {
        addLost();
        lost = [at, next];
      }
    }
    addLost();
    return { id, begin, end };
  }

  /** @param {string} word @returns {Int32Array} the number, the beginning and the end of each piece */
  function merge(word) {
    const { id, begin, end } = characters(word);
    // The pieces as a list that is linked both ways: a merged pair takes the place of its left piece.
    const next = new Int32Array(id.length);
    const previous = new Int32Array(id.length);
    for (let at = 0; at < id.length; at++) [next[at], previous[at]] = [at + 1, at - 1];
    const heap = new Heap();
    const rankAt = (/** @type {number} */ at) =>
      at >= 0 && next[at] < id.length ? ranks.get(id[at] * SHIFT + id[next[at]]) : undefined;
    const wait = (/** @type {number} */ at) => {
      const rank = rankAt(at);
      if (rank !== undefined) heap.push(rank * PLACES + at);
    };
    for (let at = 0; at < id.length; at++) wait(at);
    while (heap.size > 0) {
      const key = heap.pop();
      const at = key % PLACES;
      const rank = (key - at) / PLACES;
      // One of the two may have been merged with another since, or the place is no more.
      if (id[at] < 0 || rankAt(at) !== rank) continue;
      const gone = next[at];
      id[at] = merged[rank];
      end[at] = end[gone];
      id[gone] = -1;
      next[at] = next[gone];
      if (next[at] < id.length) previous[next[at]] = at;
      wait(previous[at]);
      wait(at);
    }
    /** @type {number[]} */
    const result = [];
    for (let at = 0; at < id.length; at = next[at]) result.push(id[at], begin[at], end[at]);
    return Int32Array.from(result);
  }

  /** @type {Map<string, Int32Array>} */
  const kept = new Map();
  return {
    ids,
    pieces(word, found) {
      const id = whole ? ids.get(word) : undefined;
      if (id !== undefined) return found(id, 0, word.length);
      let pieces = kept.get(word);
      if (!pieces) {
        pieces = merge(word);
        if (kept.size === MOST_KEPT) kept.clear();
        if (word.length <= LONGEST_KEPT) kept.set(word, pieces);
      }
      for (let i = 0; i < pieces.length; i += 3) found(pieces[i], pieces[i + 1], pieces[i + 2]);
    },
  };
}

/** Gives the least of its numbers. */
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
    for (let above; at > 0 && keys[(above = (at - 1) >> 1)] > key; at = above) keys[at] = keys[above];
    keys[at] = key;
  }

  pop() {
    const keys = this.#keys;
    const least = keys[0];
    const key = Number(keys.pop());
    if (keys.length === 0) return least;
    let at = 0;
    for (let below; (below = 2 * at + 1) < keys.length; at = below) {
      if (below + 1 < keys.length && keys[below + 1] < keys[below]) below++;
      if (keys[below] >= key) break;
      keys[at] = keys[below];
    }
    keys[at] = key;
    return least;
  }
}
