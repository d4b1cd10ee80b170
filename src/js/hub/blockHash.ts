// Divides bytes that arrive in pieces into the blocks of 64 bytes of SHA-1 and SHA-256, and pads the last one.

/** Reads the 16 words of a block, each with its highest byte first. */
export function readBlock(words: Int32Array, bytes: Uint8Array, at: number) {
  for (let i = 0, j = at; i < 16; i++, j += 4)
    words[i] = (bytes[j] << 24) | (bytes[j + 1] << 16) | (bytes[j + 2] << 8) | bytes[j + 3];
}

export class BlockHash {
  declare state: Int32Array<ArrayBuffer>;

  #block = new Uint8Array(64);
  #filled = 0;
  #length = 0;

  /** start: values of the state before the first block */
  constructor(start: Int32Array) {
    this.state = start.slice();
  }

  update(bytes: Uint8Array) {
    let at = 0;
    this.#length += bytes.length;
    if (this.#filled > 0) {
      at = Math.min(64 - this.#filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < 64) return this;
      this.compress(this.#block, 0, 64);
    }
    const end = at + ((bytes.length - at) & ~63);
    this.compress(bytes, at, end);
    this.#block.set(bytes.subarray(end));
    this.#filled = bytes.length - end;
    return this;
  }

  digest() {
    const bits = this.#length * 8;
    const padding = new Uint8Array((this.#filled < 56 ? 56 : 120) - this.#filled + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits % 2 ** 32);
    this.update(padding);
    return [...this.state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Processes the blocks between two positions. @abstract */
  compress(_bytes: Uint8Array, _begin: number, _end: number) {
    throw new Error('not implemented');
  }
}
