// Computes SHA-256 of bytes that arrive in pieces, because browsers compute it only for whole buffers.

import { BlockHash, readBlock } from './blockHash.ts';

// Constants of the standard (FIPS 180-4). They are not computed, because engines may round Math.cbrt differently.
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
// biome-ignore format: eight in a row
const K = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
// biome-ignore format: eight in a row
const START = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

export class Sha256 extends BlockHash {
  #words = new Int32Array(64);

  constructor() {
    super(START);
  }

  compress(bytes: Uint8Array, begin: number, end: number) {
    const [w, s] = [this.#words, this.state];
    for (let at = begin; at < end; at += 64) {
      readBlock(w, bytes, at);
      for (let i = 16; i < 64; i++) {
        const [x, y] = [w[i - 15], w[i - 2]];
        const a = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const b = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[i] = (w[i - 16] + a + w[i - 7] + b) | 0;
      }
      let a = s[0];
      let b = s[1];
      let c = s[2];
      let d = s[3];
      let e = s[4];
      let f = s[5];
      let g = s[6];
      let h = s[7];
      for (let i = 0; i < 64; i++) {
        const e1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (h + e1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
        const a0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (a0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + t1) | 0;
        d = c;
        c = b;
        b = a;
        a = (t1 + t2) | 0;
      }
      s[0] += a;
      s[1] += b;
      s[2] += c;
      s[3] += d;
      s[4] += e;
      s[5] += f;
      s[6] += g;
      s[7] += h;
    }
  }
}
