// Compares the hash of a whole file with the expected hash. Bytes that arrive in order are hashed immediately. Other
// bytes are read again at the end.

/** @import { Hash, HashName, HubPlatform } from './types.js' */

/** Number of bytes that are read at once. */
const PIECE = 2 ** 22;
/**
 * Maximum bytes of a file that the browser hashes as one buffer. That is many times faster than hashing pieces in
 * JavaScript, but needs memory for the file.
 */
const MAX_BUFFER = 2 ** 28;

export class Checksum {
  #size;
  #expected;
  #digest;
  /** @type {Hash | undefined} */
  #hash;
  /** Bytes that are hashed before those of the file. */
  #prefix;
  #at = 0;

  /**
   * @param {number} size
   * @param {string} expected sha256 of the file, or sha1 as Git computes it, which includes the size
   * @param {HubPlatform} platform
   */
  constructor(size, expected, { hash, digest }) {
    this.#size = size;
    this.#expected = expected;
    this.name = /** @type {HashName} */ (expected.length === 40 ? 'sha1' : 'sha256');
    this.#prefix = new TextEncoder().encode(this.name === 'sha1' ? `blob ${size}\0` : '');
    this.#digest = size <= MAX_BUFFER ? digest : undefined;
    if (this.#digest) return;
    this.#hash = hash(this.name);
    this.#hash.update(this.#prefix);
  }

  /** @param {number} at @param {Uint8Array} bytes */
  update(at, bytes) {
    if (!this.#hash || at > this.#at || at + bytes.length <= this.#at) return;
    this.#hash.update(bytes.subarray(this.#at - at));
    this.#at = at + bytes.length;
  }

  /** True if all bytes have arrived in order and have been hashed. */
  get hasAll() {
    return this.#hash !== undefined && this.#at === this.#size;
  }

  /**
   * Returns true if the hash of the file is the expected one.
   * @param {(at: number, target: Uint8Array) => Promise<unknown>} read reads bytes of the file
   */
  async matches(read) {
    if (this.#digest) {
      const first = this.#prefix.length;
      const bytes = new Uint8Array(first + this.#size);
      bytes.set(this.#prefix);
      await read(0, bytes.subarray(first));
      return (await this.#digest(this.name, bytes)) === this.#expected;
    }
    const hash = /** @type {Hash} */ (this.#hash);
    const piece = new Uint8Array(Math.min(PIECE, this.#size - this.#at));
    while (this.#at < this.#size) {
      const bytes = piece.subarray(0, this.#size - this.#at);
      await read(this.#at, bytes);
      hash.update(bytes);
      this.#at += bytes.length;
    }
    return hash.digest() === this.#expected;
  }
}
