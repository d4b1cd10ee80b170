// Writes sound files.

import { writeFileSync } from 'node:fs';

/** Returns a WAV file with one channel of 16 bits. @param {Float32Array} samples @param {number} rate */
export function wavOf(samples, rate) {
  const bytes = Buffer.alloc(44 + 2 * samples.length);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + 2 * samples.length, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(2 * rate, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(2 * samples.length, 40);
  for (const [i, x] of samples.entries()) bytes.writeInt16LE(Math.round(x * 32767), 44 + 2 * i);
  return bytes;
}

/** Returns the samples of a tone. @param {number} seconds @param {number} rate @param {number} frequency */
export const tone = (seconds, rate, frequency) =>
  Float32Array.from({ length: seconds * rate }, (_, i) => 0.5 * Math.sin((2 * Math.PI * frequency * i) / rate));

/** @param {string} path @param {Float32Array} samples @param {number} rate */
export const writeWav = (path, samples, rate) => writeFileSync(path, wavOf(samples, rate));
