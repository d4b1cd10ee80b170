// Compares the hash of a whole file with the expected hash. Bytes that arrive in order are hashed immediately. Other
// bytes are read again at the end.

/** @import { Hash, HubPlatform } from './types.js' */

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
  #at = 0;

  /** @param {number} size @param {string} expected sha256 @param {HubPlatform} platform */
  constructor(size, expected, { sha256, digest }) {
    this.#size = size;
    this.#expected = expected;
    this.#digest = size <= MAX_BUFFER ? digest : undefined;
    if (!this.#digest) this.#hash = sha256();
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
      const bytes = new Uint8Array(this.#size);
      await read(0, bytes);
      return (await this.#digest(bytes)) === this.#expected;
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
