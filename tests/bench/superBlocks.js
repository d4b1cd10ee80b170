// Random matrices of llama.cpp's most common type of four bits.

import { readGgufHeader } from '../../src/js/io/gguf.js';
import { uniformSource } from '../../src/js/ops/random.js';

/** Numbers in the header for Q4_K, and bytes of 256 numbers: as many as in Q4_0. */
const [Q4_K, BLOCK] = [12, 144];
/** Factors of the scales and of the minimums, 2⁻¹³ and 7.5 · 2⁻¹³ in float16: the mean of a group is 0. */
const [SCALE, MINIMUM] = [0x0800, 0x1380];

/** Eight groups of 32: scales and minimums of 6 bits, then random codes. */
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
 * Makes every Q4_0 matrix of a GGUF file a random one of Q4_K, in place.
 * @param {Uint8Array} file widths are multiples of 256
 */
export async function makeQ4K(file) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const next = uniformSource(1);
  const { tensors } = await readGgufHeader('bench', file.length, (begin, end) => file.subarray(begin, end));
  for (const [name, { type, shape, begin, end }] of tensors) {
    if (type !== 'Q4_0') continue;
    // In the list of tensors: the length of the name, the name, the number of axes, the axes, the type.
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(name.length));
    const entry = Buffer.concat([length, Buffer.from(name)]);
    bytes.writeUInt32LE(Q4_K, bytes.indexOf(entry) + entry.length + 4 + 8 * shape.length);
    for (let at = begin; at < end; at += BLOCK) writeBlock(file.subarray(at, at + BLOCK), next);
  }
}
