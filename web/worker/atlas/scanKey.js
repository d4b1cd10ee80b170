// Keys of stored scans. The key of a model depends on its sizes and some of its numbers, that of a corpus on its
// characters.

/** @import { TransformerSource } from '../sources/types.js' */

/** Numbers of each parameter that the key contains. */
const SAMPLES = 16;

/** Returns a hash of 64 bits as hexadecimal text (FNV-1a with two offsets). @param {string} text */
export function hashOf(text) {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + i), 0x01000193);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Returns a hash that depends on the weights of a model and not on its name. @param {TransformerSource} source */
export function fingerprintOf({ model, about: { layers, heads, width, family } }) {
  const parts = Object.entries(model.parameters).map(([name, { data, shape }]) => {
    const step = Math.max(Math.floor(data.length / SAMPLES), 1);
    return [name, shape, Array.from({ length: Math.min(SAMPLES, data.length) }, (_, i) => data[i * step])];
  });
  return hashOf(JSON.stringify([family, layers, heads, width, model.options.vocab, parts]));
}
