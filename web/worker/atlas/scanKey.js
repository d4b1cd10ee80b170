// Keys of stored scans: a model by its sizes and some of its numbers, a corpus by its characters.

/** @import { TransformerSource } from '../sources/types.js' */

/** Numbers of each parameter that are compared. */
const SAMPLES = 16;

/** A hash of 64 bits, as text (FNV-1a with two offsets). @param {string} text */
export function hashOf(text) {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + i), 0x01000193);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The same for the same weights, whatever the model is called. @param {TransformerSource} source */
export function fingerprintOf({ model, about: { layers, heads, width, family } }) {
  const parts = Object.entries(model.parameters).map(([name, { data, shape }]) => {
    const step = Math.max(Math.floor(data.length / SAMPLES), 1);
    return [name, shape, Array.from({ length: Math.min(SAMPLES, data.length) }, (_, i) => data[i * step])];
  });
  return hashOf(JSON.stringify([family, layers, heads, width, model.options.vocab, parts]));
}
