// Models that can be looked at. A source says what it is and what it can do; views ask for nothing else.

import { openTokenizer } from '../../../src/js/text/tokenizer.js';
import { openWhale } from '../../model/whale.js';

/**
 * What the page knows of a source.
 * @typedef {object} About
 * @property {string} name of state.model
 * @property {'transformer' | 'weights' | 'layer'} kind
 * @property {number} layers
 * @property {number} heads
 * @property {number} width of a head
 * @property {number} context tokens at most
 * @property {boolean} causal
 * @property {boolean} predicts it has a next token
 * @property {number} bytes of its file
 */
/** @typedef {{ about: About, model: any, tokenizer: any }} Source */
/** @typedef {(name: string, onProgress: (read: number, total: number) => void) => Promise<Uint8Array>} Fetch */

/** How each is made, by the name of state.model. */
const MAKERS = {
  /** @param {any} hl @param {Fetch} fetch @param {(read: number, total: number) => void} onProgress */
  async whale(hl, fetch, onProgress) {
    const [tokens, bytes] = await Promise.all([
      fetch('whale.tokenizer.json', () => {}),
      fetch('whale.safetensors', onProgress),
    ]);
    return { model: openWhale(hl, bytes), tokenizer: openTokenizer(tokens), bytes: bytes.length };
  },
};

/**
 * @param {any} hl
 * @param {Fetch} fetch
 * @param {string} name
 * @param {(read: number, total: number) => void} onProgress
 * @returns {Promise<Source>}
 */
export async function openSource(hl, fetch, name, onProgress) {
  const make = /** @type {any} */ (MAKERS)[name];
  if (!make) throw new Error(`there is no model named ${name}`);
  const { model, tokenizer, bytes } = await make(hl, fetch, onProgress);
  const { layers, numHeads: heads, headDim, dModel, context, causal } = model.options;
  return {
    about: {
      name,
      kind: 'transformer',
      layers,
      heads,
      width: headDim ?? dModel / heads,
      context,
      causal,
      predicts: true,
      bytes,
    },
    model,
    tokenizer,
  };
}
