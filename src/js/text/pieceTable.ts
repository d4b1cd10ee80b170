// A hash table from pieces to ids, faster than a Map for texts that are looked up once. Finds the longest piece at a
// position without copying parts of the text.

/** Factor of the hash function. It is odd, and random so that a file cannot choose pieces with equal hashes. */
const FACTOR = Math.floor(Math.random() * 2 ** 31) * 2 + 1;
/** Maximum number of slots that are tried for a piece. If all are occupied, the piece is stored in a Map. */
const MAX_TRIES = 16;

const mix = (hash: number) => Math.imul(hash ^ (hash >>> 15), FACTOR);

export class PieceTable {
  /** Length of the longest piece. */
  declare most: number;
  /** Length of the piece that longest() found last. */
  declare length: number;

  /** Hash and id of each slot. The id of an empty slot is −1. */
  #slots: Int32Array<ArrayBuffer>;
  #shift: number;
  /** by id, with gaps */
  #texts: string[] = [];
  /** Pieces without a slot. */
  #rest: Map<string, number> = new Map();

  /** size: the number of pieces */
  constructor(size: number) {
    // At most half of the slots are in use.
    const bits = Math.max(4, 33 - Math.clz32(Math.max(1, size)));
    this.#shift = 32 - bits;
    this.#slots = new Int32Array(2 * 2 ** bits).fill(-1);
    this.most = 0;
    this.length = 0;
  }

  #hash(piece: string) {
    let hash = 0;
    for (let i = 0; i < piece.length; i++) hash = Math.imul(hash ^ piece.charCodeAt(i), FACTOR) + i;
    return mix(hash);
  }

  /** piece: that is not in the table */
  add(piece: string, id: number) {
    if (piece.length > this.most) this.most = piece.length;
    const hash = this.#hash(piece);
    const slots = this.#slots;
    let at = 2 * (hash >>> this.#shift);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (slots[at + 1] < 0) {
        slots[at] = hash;
        slots[at + 1] = id;
        this.#texts[id] = piece;
        return;
      }
      at = at + 2 === slots.length ? 0 : at + 2;
    }
    this.#rest.set(piece, id);
  }

  /** Returns the id of a part of a text, or −1 if it is no piece. */
  #find(hash: number, text: string, from: number, end: number) {
    const slots = this.#slots;
    let at = 2 * (hash >>> this.#shift);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const id = slots[at + 1];
      if (id < 0) return -1;
      if (slots[at] === hash) {
        const piece = this.#texts[id];
        if (piece.length === end - from && text.startsWith(piece, from)) return id;
      }
      at = at + 2 === slots.length ? 0 : at + 2;
    }
    return this.#rest.get(text.slice(from, end)) ?? -1;
  }

  /** Returns the id of a piece, or −1 if the text is no piece. */
  find(text: string) {
    return this.#find(this.#hash(text), text, 0, text.length);
  }

  /** The id of the longest piece at a position, whose length it sets, or −1. */
  longest(text: string, from: number) {
    const most = Math.min(text.length - from, this.most);
    let hash = 0;
    let id = -1;
    for (let i = 0; i < most; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(from + i), FACTOR) + i;
      const piece = this.#find(mix(hash), text, from, from + i + 1);
      if (piece < 0) continue;
      id = piece;
      this.length = i + 1;
    }
    return id;
  }
}
