// The Universal Sentence Encoder: a sentence becomes a vector, and two sentences are as like as their vectors. What if
// changes its heads, and so the vectors.

import { readSafetensors } from '../../../src/js/io/safetensors.js';
import { openTokenizer } from '../../../src/js/text/tokenizer.js';
import { piecesOf } from '../../features/prompt/tokens.js';
import { aboutHeads, attend, project, splitHeads } from './attentionOnly.js';
import { CONTEXT, sentenceEncoder } from './universalEncoder.js';

/** @import { Run } from '../../store/state.js' */
/** @import { Heads } from './attentionOnly.js' */
/** @import { Source } from './sources.js' */

const HEADS = 4;
/** The file is 7 MB. */
export const FILE = 'sentence.safetensors';

/** @param {any} hl @param {Uint8Array} bytes @returns {Source} */
export function sentenceSource(hl, bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const tokenizer = openTokenizer(new TextEncoder().encode(metadata.tokenizer));
  const encoder = sentenceEncoder(hl, tensors);

  /** The pieces of a text, its heads layer by layer, and its vector. @param {string} text @param {Run} run */
  function read(text, run) {
    const encoding = tokenizer.encode(text.slice(0, 24 * CONTEXT));
    const ids = encoding.ids.slice(0, CONTEXT);
    /** @type {Heads[]} */
    const layers = [];
    if (ids.length === 0) return { pieces: [], layers, cut: false, vector: null };
    const vector = hl.scope(() => {
      const { vectors } = encoder.forward([ids], (attention, x) => {
        const [, T, C] = x.shape;
        const { wq, wk, wv, wo, bq, bk, bv, bo } = attention.parameters;
        const flat = { data: x.copy(), shape: [T, C] };
        const [q, k, v] = [
          [wq, bq],
          [wk, bk],
          [wv, bv],
        ].map(([w, b]) => splitHeads(project(hl, flat, { data: w.copy(), shape: w.shape }, copied(b)), HEADS));
        const layer = layers.push({ q, k, v }) - 1;
        const D = v.shape[2];
        const joined = new Float32Array(T * HEADS * D);
        for (let h = 0; h < HEADS; h++) {
          const { mixture } = attend(hl, layers[layer], run, layer, h);
          for (let t = 0; t < T; t++) joined.set(mixture.subarray(t * D, (t + 1) * D), t * HEADS * D + h * D);
        }
        const weight = { data: wo.copy(), shape: wo.shape };
        const { data, shape } = project(hl, { data: joined, shape: [T, HEADS * D] }, weight, copied(bo));
        return hl.tensor(data, [1, ...shape]);
      });
      return vectors.copy();
    });
    const { offsets } = encoding;
    return { pieces: piecesOf(text, { ids, offsets }), layers, cut: encoding.ids.length > ids.length, vector };
  }

  return /** @type {any} */ ({
    about: aboutHeads('sentence', { layers: 2, heads: HEADS, context: CONTEXT, bytes: bytes.length }),
    tokenizer,
    model: encoder,
    pose(/** @type {any} */ _, /** @type {Run} */ run) {
      const { vector, ...posed } = read(run.text, run);
      const second = run.second ? read(run.second, run).vector : null;
      const likeness = vector && second ? vector.reduce((/** @type {number} */ a, x, i) => a + x * second[i], 0) : null;
      return { ...posed, likeness };
    },
  });
}

/** @param {any} tensor */
const copied = (tensor) => tensor && { data: tensor.copy() };
