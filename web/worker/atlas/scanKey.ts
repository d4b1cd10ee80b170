// Computes hashes that identify stored scans. The hash of a model depends on the model's sizes and on some numbers of
// each parameter, the hash of a corpus on the characters of its texts.

import type { TransformerSource } from '../sources/types.ts';

/** The number of elements of each parameter on which the hash depends. */
const SAMPLES = 16;

/** Returns a hash of 64 bits as hexadecimal text (FNV-1a with two offsets). */
export function hashOf(text: string) {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + i), 0x01000193);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

export function fingerprintOf({ model, about: { layers, heads, width, family } }: TransformerSource) {
  const parts = Object.entries(model.parameters).map(([name, { data, shape }]) => {
    const step = Math.max(Math.floor(data.length / SAMPLES), 1);
    return [name, shape, Array.from({ length: Math.min(SAMPLES, data.length) }, (_, i) => data[i * step])];
  });
  return hashOf(JSON.stringify([family, layers, heads, width, model.options.vocab, parts]));
}
