// Runs a model on frames of sound. The attention weights of all layers together may not fit into memory, so the shown
// rows and columns of each layer's weights are copied while that layer is computed. If these weights are still too
// many, only those of the chosen layer are kept, and the heads of all layers are kept as small pictures.

import { stackAt } from '../../features/whatif/forwardEdits.js';
import { capturesFor, forward } from '../run/runModel.js';
import { optionsOf } from '../run/scoreSteps.js';
import { MAX_WEIGHTS, POOLED, pooled } from '../sources/showWeights.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { ModelInput } from '../../../src/js/models/input.js' */
/** @import { PooledHead } from '../../store/protocol.js' */
/** @import { Values } from '../run/runModel.js' */
/** @import { Hl, Numbers, TransformerSource } from '../sources/types.js' */

/**
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {ModelInput} input
 * @param {Edit[]} edits
 * @param {{ part: string, layer: number, tokens: number }} place tokens: the number of tokens of the decoder
 * @param {{ shown: number }} frames
 * @returns {Values}
 */
export function runFrames(hl, source, input, edits, { part, layer, tokens }, { shown }) {
  const captures = capturesFor(source, part, layer);
  const { layers, numHeads, encoder } = optionsOf(source.model, part);
  if (part === 'decoder' && encoder) return forward(hl, source, input, edits, captures);
  const [T, S] = [part === 'cross' ? tokens : shown, shown];
  const all = /** @type {Edit['at']} */ (`${stackAt(part, '*')}weights`);
  const at = stackAt(part, layer);
  const isLarge = layers * numHeads * T * S > MAX_WEIGHTS;
  /** @type {Record<string, Numbers>} */
  const read = {};
  /** @type {PooledHead[]} */
  const pictures = [];
  let reached = 0;
  const readWeights = (/** @type {Numbers} */ value, /** @type {string} */ name) => {
    const l = reached++;
    const first = firstOf(value, T, S);
    if (!isLarge || l === layer) read[name] = first;
    if (l === layer) read[`${at}unseen`] = restOf(value, T, S, (weight) => weight);
    if (isLarge) pictures.push(...picturesOf(first, l));
  };
  const values = forward(
    hl,
    source,
    input,
    [...edits, { at: all, change: readWeights }],
    captures.filter((name) => name !== all),
  );
  const scores = values.captured[`${at}scores`];
  const { captured } = values;
  for (const name of ['query', 'key', 'value'])
    captured[at + name] = rowsOf(captured[at + name], name === 'query' ? T : S);
  Object.assign(captured, read, {
    [`${at}scores`]: firstOf(scores, T, S),
    [`${at}rest`]: restOf(scores, T, S, Math.exp),
  });
  return { ...values, ...(isLarge && { pictures }) };
}

/** Returns small pictures of the heads of a layer. @param {Numbers} weights (1,H,T,S) @param {number} layer */
function picturesOf({ data, shape: [, heads, T, S] }, layer) {
  return Array.from({ length: heads }, (_, head) => ({
    layer,
    head,
    ...pooled(data.subarray(head * T * S, (head + 1) * T * S), T, S, POOLED),
  }));
}

/** Copies the first rows of each head. @param {Numbers} numbers (1,H,N,D) @param {number} count @returns {Numbers} */
function rowsOf({ data, shape: [, heads, N, D] }, count) {
  const first = new Float32Array(heads * count * D);
  for (let h = 0; h < heads; h++) first.set(data.subarray(h * N * D, (h * N + count) * D), h * count * D);
  return { data: first, shape: [1, heads, count, D] };
}

/** Copies T rows and S columns of each head. @param {Numbers} numbers (1,H,N,M) @param {number} T @param {number} S
 * @returns {Numbers} */
function firstOf({ data, shape: [, heads, N, M] }, T, S) {
  const first = new Float32Array(heads * T * S);
  for (let h = 0; h < heads; h++)
    for (let t = 0; t < T; t++) {
      const from = (h * N + t) * M;
      first.set(data.subarray(from, from + S), (h * T + t) * S);
    }
  return { data: first, shape: [1, heads, T, S] };
}

/**
 * Computes, for each row that is shown, the sum of a function of the numbers over column S and all later columns, which
 * are not shown.
 * @param {Numbers} numbers (1,H,N,M)
 * @param {number} T @param {number} S @param {(x: number) => number} each
 * @returns {Numbers}
 */
function restOf({ data, shape: [, heads, N, M] }, T, S, each) {
  const sums = new Float32Array(heads * T);
  for (let h = 0; h < heads; h++)
    for (let t = 0; t < T; t++) {
      let sum = 0;
      for (let s = S; s < M; s++) sum += each(data[(h * N + t) * M + s]);
      sums[h * T + t] = sum;
    }
  return { data: sums, shape: [1, heads, T] };
}
