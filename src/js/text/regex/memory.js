// Stores memoized results of instructions by position in the text.

import { HeadlightError } from '../../check/errors.js';

/** log2 of the number of positions on a page. A page is allocated when its first result is stored. */
export const PAGE_BITS = 8;
const POSITIONS = 1 << PAGE_BITS;
const MAX_BYTES = 2 ** 28;
const MAX_SPARE_BYTES = 2 ** 20;

/** Results of instructions. A value is 0 for no result, −1 for a failure, or the end of the match + 1. */
export class Memory {
  #count;
  #bits;
  #words;
  /** @type {(Int32Array | undefined)[]} */
  #pages = [];
  #first = 0;
  #used = 0;
  /** @type {Int32Array[]} */
  #spare = [];

  /** @param {number} count number of instructions @param {boolean} bits true to store only failures, as one bit each */
  constructor(count, bits) {
    this.#count = count;
    this.#bits = bits;
    this.#words = bits ? (count * POSITIONS + 31) >> 5 : count * POSITIONS;
  }

  /** @param {number} instruction @param {number} at */
  get(instruction, at) {
    const page = this.#pages[at >> PAGE_BITS];
    if (page === undefined) return 0;
    const i = (at & (POSITIONS - 1)) * this.#count + instruction;
    return this.#bits ? -((page[i >> 5] >>> (i & 31)) & 1) : page[i];
  }

  /** @param {number} instruction @param {number} at */
  fail(instruction, at) {
    this.#set(instruction, at, -1);
  }

  /** @param {number} instruction @param {number} at @param {number} end */
  succeed(instruction, at, end) {
    this.#set(instruction, at, end + 1);
  }

  /** @param {number} instruction @param {number} at @param {number} value */
  #set(instruction, at, value) {
    const page = this.#pages[at >> PAGE_BITS] ?? this.#add(at >> PAGE_BITS);
    const i = (at & (POSITIONS - 1)) * this.#count + instruction;
    if (this.#bits) page[i >> 5] |= 1 << (i & 31);
    else page[i] = value;
  }

  /** Returns true if there are no results on the page of a position. @param {number} at */
  isBlank(at) {
    return this.#pages[at >> PAGE_BITS] === undefined;
  }

  /** @param {number} number */
  #add(number) {
    if ((this.#used + 1) * this.#words * 4 > MAX_BYTES)
      throw new HeadlightError(
        'OUT_OF_MEMORY',
        `a regular expression of the tokenizer needs more than ${MAX_BYTES / 2 ** 20} MB for this text`,
        { parameter: 'text' },
      );
    const page = this.#spare.pop()?.fill(0) ?? new Int32Array(this.#words);
    this.#pages[number] = page;
    this.#used++;
    return page;
  }

  /** Allocates the list of pages for a text of this length. @param {number} length */
  open(length) {
    const count = (length >> PAGE_BITS) + 1;
    if (this.#pages.length < count) this.#pages = new Array(count);
  }

  /** Frees the pages before a position. @param {number} at */
  freeBefore(at) {
    for (; this.#first < at >> PAGE_BITS; this.#first++) this.#remove(this.#first);
  }

  /** Frees all pages. */
  close() {
    for (let number = 0; this.#used > 0; number++) this.#remove(number);
    this.#first = 0;
  }

  /** @param {number} number */
  #remove(number) {
    const page = this.#pages[number];
    if (page === undefined) return;
    this.#pages[number] = undefined;
    this.#used--;
    if (this.#spare.length * this.#words * 4 < MAX_SPARE_BYTES) this.#spare.push(page);
  }
}
