// A bit for each token of a cache.

/** Copies rows of numbers (B,N), without the first `dropped` numbers of each row. */
export function copyRows<A extends Uint8Array | Float32Array>(
  to: A,
  from: A,
  batch: number,
  rows: number[],
  dropped = 0,
) {
  const width = from.length / batch;
  for (const [b, row] of rows.entries())
    to.set(from.subarray(row * width + dropped, (row + 1) * width), b * (width - dropped));
  return to;
}

/** Bits (B,length). They are stored only if one of them is 0. */
export class TokenBits {
  #rows: Uint8Array | undefined;
  #batch: number;
  #length: number;

  constructor(batch: number, length: number) {
    this.#batch = batch;
    this.#length = length;
  }

  /** bits: (B,count); default: all 1 */
  write(first: number, count: number, bits: Uint8Array | undefined) {
    if (!this.#rows && !bits?.includes(0)) return;
    this.#rows ??= new Uint8Array(this.#batch * this.#length).fill(1);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length + first;
      if (bits) this.#rows.set(bits.subarray(b * count, (b + 1) * count), at);
      else this.#rows.fill(1, at, at + count);
    }
  }

  /** returns (B,count) */
  read(count: number): Uint8Array | undefined {
    if (!this.#rows) return undefined;
    const rows = new Uint8Array(this.#batch * count);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length;
      rows.set(this.#rows.subarray(at, at + count), b * count);
    }
    return rows;
  }

  /** rows: of the other */
  copy(other: TokenBits, count: number, rows: number[], dropped = 0) {
    const [bits, kept] = [other.read(count), count - dropped];
    this.clear();
    if (bits) this.write(0, kept, copyRows(new Uint8Array(rows.length * kept), bits, other.#batch, rows, dropped));
  }

  clear() {
    this.#rows = undefined;
  }
}
