// Memoized results of instructions by position in the text.

import { HeadlightError } from '../../check/errors.ts';

/** log2 of the number of positions on a page. A page is allocated when its first result is stored. */
export const PAGE_BITS = 8;
const POSITIONS = 1 << PAGE_BITS;
const MAX_BYTES = 2 ** 28;
const MAX_SPARE_BYTES = 2 ** 20;

/** Results of instructions. A value is 0 for no result, −1 for a failure, or the end of the match + 1. */
export class Memory {
  #count: number;
  #bits: boolean;
  #words: number;
  #pages: (Int32Array | undefined)[] = [];
  #first = 0;
  #used = 0;
  #spare: Int32Array[] = [];

  /** count: number of instructions; bits: true to store only failures, as one bit each */
  constructor(count: number, bits: boolean) {
    this.#count = count;
    this.#bits = bits;
    this.#words = bits ? (count * POSITIONS + 31) >> 5 : count * POSITIONS;
  }

  get(instruction: number, at: number) {
    const page = this.#pages[at >> PAGE_BITS];
    if (page === undefined) return 0;
    const i = (at & (POSITIONS - 1)) * this.#count + instruction;
    return this.#bits ? -((page[i >> 5] >>> (i & 31)) & 1) : page[i];
  }

  fail(instruction: number, at: number) {
    this.#set(instruction, at, -1);
  }

  succeed(instruction: number, at: number, end: number) {
    this.#set(instruction, at, end + 1);
  }

  #set(instruction: number, at: number, value: number) {
    const page = this.#pages[at >> PAGE_BITS] ?? this.#add(at >> PAGE_BITS);
    const i = (at & (POSITIONS - 1)) * this.#count + instruction;
    if (this.#bits) page[i >> 5] |= 1 << (i & 31);
    else page[i] = value;
  }

  /** Returns true if there are no results on the page of a position. */
  isBlank(at: number) {
    return this.#pages[at >> PAGE_BITS] === undefined;
  }

  #add(number: number) {
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

  /** Allocates the list of pages for a text of this length. */
  open(length: number) {
    const count = (length >> PAGE_BITS) + 1;
    if (this.#pages.length < count) this.#pages = new Array(count);
  }

  freeBefore(at: number) {
    for (; this.#first < at >> PAGE_BITS; this.#first++) this.#remove(this.#first);
  }

  close() {
    for (let number = 0; this.#used > 0; number++) this.#remove(number);
    this.#first = 0;
  }

  #remove(number: number) {
    const page = this.#pages[number];
    if (page === undefined) return;
    this.#pages[number] = undefined;
    this.#used--;
    if (this.#spare.length * this.#words * 4 < MAX_SPARE_BYTES) this.#spare.push(page);
  }
}
