// Computes SHA-1 in pages without crypto.subtle. Git identifies small files by it.

import { BlockHash, readBlock } from './blockHash.ts';

const START = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
/** The constants that are added in the four parts of the 80 steps. */
const K = Int32Array.of(0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6);

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits));

function mix(part: number, b: number, c: number, d: number) {
  if (part === 0) return (b & c) | (~b & d);
  if (part === 2) return (b & c) | (b & d) | (c & d);
  return b ^ c ^ d;
}

export class Sha1 extends BlockHash {
  #words = new Int32Array(80);

  constructor() {
    super(START);
  }

  compress(bytes: Uint8Array, begin: number, end: number) {
    const [w, s] = [this.#words, this.state];
    for (let at = begin; at < end; at += 64) {
      readBlock(w, bytes, at);
      for (let i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
      let [a, b, c, d, e] = s;
      for (let i = 0; i < 80; i++) {
        const part = Math.floor(i / 20);
        const next = (rotate(a, 5) + mix(part, b, c, d) + e + K[part] + w[i]) | 0;
        [a, b, c, d, e] = [next, a, rotate(b, 30), c, d];
      }
      [a, b, c, d, e].forEach((word, i) => {
        s[i] += word;
      });
    }
  }
}
