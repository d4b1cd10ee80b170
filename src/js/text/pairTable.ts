// A hash table from pairs of ids to ranks. A Map would store the number above 2³¹ of a pair as an object.

/** Factors of the hash function. They are odd, and random so that a file cannot choose pairs with equal hashes. */
const [FIRST, SECOND] = Array.from({ length: 2 }, () => Math.floor(Math.random() * 2 ** 31) * 2 + 1);

export class PairTable {
  /** Left id, right id and rank of each slot. The left id of an empty slot is −1. */
  #slots: Int32Array<ArrayBuffer>;
  #shift: number;

  /** most: maximum number of pairs */
  constructor(most: number) {
    // At most half of the slots are in use.
    const bits = Math.max(4, 33 - Math.clz32(Math.max(1, most)));
    this.#shift = 32 - bits;
    this.#slots = new Int32Array(3 * 2 ** bits).fill(-1);
  }

  /** Returns the index of the slot of a pair, or of the empty slot in which it must be stored. */
  #find(left: number, right: number) {
    const slots = this.#slots;
    let hash = Math.imul(left, FIRST) ^ Math.imul(right, SECOND);
    hash = Math.imul(hash ^ (hash >>> 15), FIRST);
    let at = 3 * (hash >>> this.#shift);
    while (slots[at] >= 0 && (slots[at] !== left || slots[at + 1] !== right)) {
      at += 3;
      if (at === slots.length) at = 0;
    }
    return at;
  }

  /** Sets the rank of a pair, which may already have a rank. */
  set(left: number, right: number, rank: number) {
    const at = this.#find(left, right);
    this.#slots[at] = left;
    this.#slots[at + 1] = right;
    this.#slots[at + 2] = rank;
  }

  /** Returns the rank of a pair, or −1 if it has none. */
  get(left: number, right: number) {
    return this.#slots[this.#find(left, right) + 2];
  }
}
