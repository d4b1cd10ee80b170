// A bit for each token of a cache.

/**
 * Copies rows of numbers (B,N), without the first `dropped` numbers of each row.
 * @template {Uint8Array | Float32Array} A
 * @param {A} to
 * @param {A} from
 * @param {number} batch
 * @param {number[]} rows
 * @param {number} [dropped]
 */
export function copyRows(to, from, batch, rows, dropped = 0) {
  const width = from.length / batch;
  for (const [b, row] of rows.entries())
    to.set(from.subarray(row * width + dropped, (row + 1) * width), b * (width - dropped));
  return to;
}

/** Bits (B,length). They are stored only if one of them is 0. */
export class TokenBits {
  /** @type {Uint8Array | undefined} */
  #rows;
  #batch;
  #length;

  /** @param {number} batch @param {number} length */
  constructor(batch, length) {
    this.#batch = batch;
    this.#length = length;
  }

  /** @param {number} first @param {number} count @param {Uint8Array | undefined} bits (B,count); default: all 1 */
  write(first, count, bits) {
    if (!this.#rows && !bits?.includes(0)) return;
    this.#rows ??= new Uint8Array(this.#batch * this.#length).fill(1);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length + first;
      if (bits) this.#rows.set(bits.subarray(b * count, (b + 1) * count), at);
      else this.#rows.fill(1, at, at + count);
    }
  }

  /** @param {number} count @returns {Uint8Array | undefined} (B,count) */
  read(count) {
    if (!this.#rows) return undefined;
    const rows = new Uint8Array(this.#batch * count);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length;
      rows.set(this.#rows.subarray(at, at + count), b * count);
    }
    return rows;
  }

  /** @param {TokenBits} other @param {number} count @param {number[]} rows of the other @param {number} [dropped] */
  copy(other, count, rows, dropped = 0) {
    const [bits, kept] = [other.read(count), count - dropped];
    this.clear();
    if (bits) this.write(0, kept, copyRows(new Uint8Array(rows.length * kept), bits, other.#batch, rows, dropped));
  }

  clear() {
    this.#rows = undefined;
  }
}
