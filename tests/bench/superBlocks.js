// Random matrices in Q4_K, the most common 4-bit type of llama.cpp.

import { readGgufHeader } from '../../src/js/io/gguf.ts';
import { uniformSource } from '../../src/js/ops/random.ts';

/** The number that identifies Q4_K in the header, and the bytes of 256 weights, which are as many as in Q4_0. */
const [Q4_K, BLOCK] = [12, 144];
/**
 * Factors of the scales and of the minimums, 2⁻¹³ and 7.5 · 2⁻¹³ as bits of float16. With these factors the mean of a
 * group is about 0.
 */
const [SCALE, MINIMUM] = [0x0800, 0x1380];

/** Writes a block of eight groups of 32 weights: 6-bit scales and minimums, then random codes. */
function writeBlock(out, next) {
  out.set([SCALE & 255, SCALE >> 8, MINIMUM & 255, MINIMUM >> 8]);
  const scales = Array.from({ length: 8 }, () => 32 + Math.floor(32 * next()));
  for (let j = 0; j < 4; j++) {
    const [low, high] = [scales[j], scales[j + 4]];
    out[4 + j] = low | ((high >> 4) << 6);
    out[8 + j] = out[4 + j];
    out[12 + j] = (high & 15) | ((high & 15) << 4);
  }
  for (let i = 16; i < BLOCK; i++) out[i] = Math.floor(256 * next());
}

/**
 * Replaces every Q4_0 matrix of a GGUF file by a random Q4_K matrix, in place.
 * @param {Uint8Array} file a file whose matrices have widths that are multiples of 256
 */
export async function makeQ4K(file) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const next = uniformSource(1);
  const { tensors } = await readGgufHeader('bench', file.length, (begin, end) => file.subarray(begin, end));
  for (const [name, { type, shape, begin, end }] of tensors) {
    if (type !== 'Q4_0') continue;
    // An entry of the list of tensors has the length of the name, the name, the number of axes, the axes and the type.
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(name.length));
    const entry = Buffer.concat([length, Buffer.from(name)]);
    bytes.writeUInt32LE(Q4_K, bytes.indexOf(entry) + entry.length + 4 + 8 * shape.length);
    for (let at = begin; at < end; at += BLOCK) writeBlock(file.subarray(at, at + BLOCK), next);
  }
}
