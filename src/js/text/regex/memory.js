// What is known of the instructions of a program at places of a text, so that none is run twice at a place in vain.

import { HeadlightError } from '../../check/errors.js';

/** Places on a page, as a power of two: pages exist where something is known. */
export const PAGE_BITS = 8;
const PLACES = 1 << PAGE_BITS;
const MOST_BYTES = 2 ** 28;
const MOST_SPARE_BYTES = 2 ** 20;

/** 0 for what is not known, −1 for what fails, or one more than the place where it ends. */
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

  /** @param {number} count of instructions @param {boolean} bits whether it knows failures only, a bit for each */
  constructor(count, bits) {
    this.#count = count;
    this.#bits = bits;
    this.#words = bits ? (count * PLACES + 31) >> 5 : count * PLACES;
  }

  /** @param {number} instruction @param {number} at */
  get(instruction, at) {
    const page = this.#pages[at >> PAGE_BITS];
    if (page === undefined) return 0;
    const i = (at & (PLACES - 1)) * this.#count + instruction;
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
    const i = (at & (PLACES - 1)) * this.#count + instruction;
    if (this.#bits) page[i >> 5] |= 1 << (i & 31);
    else page[i] = value;
  }

  /** Whether nothing is known of the page of a place. @param {number} at */
  isBlank(at) {
    return this.#pages[at >> PAGE_BITS] === undefined;
  }

  /** @param {number} number */
  #add(number) {
    if ((this.#used + 1) * this.#words * 4 > MOST_BYTES)
      throw new HeadlightError(
        'OUT_OF_MEMORY',
        `a regular expression of the tokenizer needs more than ${MOST_BYTES / 2 ** 20} MB for this text`,
        { parameter: 'text' },
      );
    const page = this.#spare.pop()?.fill(0) ?? new Int32Array(this.#words);
    this.#pages[number] = page;
    this.#used++;
    return page;
  }

  /** Makes room for a text of this length. @param {number} length */
  open(length) {
    const count = (length >> PAGE_BITS) + 1;
    if (this.#pages.length < count) this.#pages = new Array(count);
  }

  /** Forgets what is known before a place. @param {number} place */
  forget(place) {
    for (; this.#first < place >> PAGE_BITS; this.#first++) this.#remove(this.#first);
  }

  /** Forgets all. */
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
    if (this.#spare.length * this.#words * 4 < MOST_SPARE_BYTES) this.#spare.push(page);
  }
}
