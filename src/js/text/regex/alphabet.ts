// Maps characters to kinds: those in the same sets of a program. Each is tested only once.

import type { CharacterSet } from './classes.ts';

const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;

export class Alphabet {
  declare width: number;
  /** Membership (kinds, sets), 1 if the kind belongs to the set. Kind 0 is the end of the text. */
  declare members: Uint8Array<ArrayBuffer>;
  declare literals: Int32Array<ArrayBuffer>;

  #sets: readonly CharacterSet[];
  /** The kind of each character, in pages. It is 0 if the character has not occurred yet. */
  #pages: (Int32Array | undefined)[] = new Array(0x110000 / PAGE);
  #kinds: Map<string, number> = new Map();
  #count = 1;

  /** literals: characters that have a kind of their own */
  constructor(sets: readonly CharacterSet[], literals: readonly number[]) {
    this.#sets = sets;
    this.width = sets.length;
    this.members = new Uint8Array(64 * this.width);
    this.literals = Int32Array.from(literals, (code) => this.#put(code, this.#add(this.#rowOf(code))));
  }

  kindOf(code: number) {
    return this.#pages[code >> PAGE_BITS]?.[code & (PAGE - 1)] || this.#classify(code);
  }

  #classify(code: number) {
    const row = this.#rowOf(code);
    const key = row.join('');
    let kind = this.#kinds.get(key);
    if (kind === undefined) this.#kinds.set(key, (kind = this.#add(row)));
    return this.#put(code, kind);
  }

  #rowOf(code: number) {
    return this.#sets.map((set) => Number(set.has(code)));
  }

  /** returns a new kind */
  #add(row: readonly number[]): number {
    const kind = this.#count++;
    if ((kind + 1) * this.width > this.members.length) {
      const members = new Uint8Array(2 * (kind + 1) * this.width);
      members.set(this.members);
      this.members = members;
    }
    this.members.set(row, kind * this.width);
    return kind;
  }

  #put(code: number, kind: number) {
    const page = (this.#pages[code >> PAGE_BITS] ??= new Int32Array(PAGE));
    page[code & (PAGE - 1)] = kind;
    return kind;
  }
}
