// Computes SHA-256 of bytes that arrive in pieces, because browsers compute it only for whole buffers.

import { BlockHash, readBlock } from './blockHash.ts';

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K = new Int32Array(64);
/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
const START = new Int32Array(8);
for (let n = 2, i = 0; i < 64; n++) {
  let isPrime = true;
  for (let d = 2; d * d <= n; d++) isPrime &&= n % d !== 0;
  if (!isPrime) continue;
  if (i < 8) START[i] = (Math.sqrt(n) % 1) * 2 ** 32;
  K[i++] = (Math.cbrt(n) % 1) * 2 ** 32;
}

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
