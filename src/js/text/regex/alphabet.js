// Maps characters to equivalence classes, called kinds. Characters that belong to the same sets of a program have the
// same kind. A character is tested for membership in the sets only once.

/** @import { CharacterSet } from './classes.js' */

const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;

export class Alphabet {
  #sets;
  /**
   * The kind of each character, in pages. It is 0 if the character has not occurred yet.
   * @type {(Int32Array | undefined)[]}
   */
  #pages = new Array(0x110000 / PAGE);
  /** @type {Map<string, number>} */
  #kinds = new Map();
  #count = 1;

  /**
   * @param {readonly CharacterSet[]} sets
   * @param {readonly number[]} literals characters that have a kind of their own
   */
  constructor(sets, literals) {
    this.#sets = sets;
    this.width = sets.length;
    /** Membership (kinds, sets), 1 if the kind belongs to the set. Kind 0 is the end of the text. */
    this.members = new Uint8Array(64 * this.width);
    this.literals = Int32Array.from(literals, (code) => this.#put(code, this.#add(this.#rowOf(code))));
  }

  /** @param {number} code */
  kindOf(code) {
    return this.#pages[code >> PAGE_BITS]?.[code & (PAGE - 1)] || this.#classify(code);
  }

  /** @param {number} code */
  #classify(code) {
    const row = this.#rowOf(code);
    const key = row.join('');
    let kind = this.#kinds.get(key);
    if (kind === undefined) this.#kinds.set(key, (kind = this.#add(row)));
    return this.#put(code, kind);
  }

  /** @param {number} code */
  #rowOf(code) {
    return this.#sets.map((set) => Number(set.has(code)));
  }

  /** @param {readonly number[]} row @returns {number} a new kind */
  #add(row) {
    const kind = this.#count++;
    if ((kind + 1) * this.width > this.members.length) {
      const members = new Uint8Array(2 * (kind + 1) * this.width);
      members.set(this.members);
      this.members = members;
    }
    this.members.set(row, kind * this.width);
    return kind;
  }

  /** @param {number} code @param {number} kind */
  #put(code, kind) {
    const page = (this.#pages[code >> PAGE_BITS] ??= new Int32Array(PAGE));
    page[code & (PAGE - 1)] = kind;
    return kind;
  }
}
