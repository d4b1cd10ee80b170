// Compares the hash of a file with the expected one. Bytes in order are hashed at once, others are read again at the
// end.

import type { Hash, HashName, HubPlatform } from './types.ts';

/** Number of bytes that are read at once. */
const PIECE = 2 ** 22;
/**
 * Maximum bytes that the browser hashes as one buffer: many times faster than in JavaScript, but needs memory for the
 * file.
 */
const MAX_BUFFER = 2 ** 28;

export class Checksum {
  declare name: HashName;

  #size: number;
  #expected: string;
  #digest: ((name: HashName, bytes: Uint8Array) => Promise<string>) | undefined;
  #hash: Hash | undefined;
  #prefix: Uint8Array<ArrayBuffer>;
  #at = 0;

  /** expected: sha256 of the file, or sha1 as Git computes it, which includes the size */
  constructor(size: number, expected: string, { hash, digest }: HubPlatform) {
    this.#size = size;
    this.#expected = expected;
    this.name = (expected.length === 40 ? 'sha1' : 'sha256') as HashName;
    this.#prefix = new TextEncoder().encode(this.name === 'sha1' ? `blob ${size}\0` : '');
    this.#digest = size <= MAX_BUFFER ? digest : undefined;
    if (this.#digest) return;
    this.#hash = hash(this.name);
    this.#hash.update(this.#prefix);
  }

  update(at: number, bytes: Uint8Array) {
    if (!this.#hash || at > this.#at || at + bytes.length <= this.#at) return;
    this.#hash.update(bytes.subarray(this.#at - at));
    this.#at = at + bytes.length;
  }

  /** True if all bytes have arrived in order and have been hashed. */
  get hasAll() {
    return this.#hash !== undefined && this.#at === this.#size;
  }

  async matches(read: (at: number, target: Uint8Array) => Promise<unknown>) {
    if (this.#digest) {
      const first = this.#prefix.length;
      const bytes = new Uint8Array(first + this.#size);
      bytes.set(this.#prefix);
      await read(0, bytes.subarray(first));
      return (await this.#digest(this.name, bytes)) === this.#expected;
    }
    const hash = this.#hash as Hash;
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
