// Predictions of a run: the probabilities of labels, the likeliest ones, and what each part of the model contributes.

import { attribution, logitLens } from '../../../src/js/analysis/analysis.js';

/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Contributions } from '../../store/protocol.js' */
/** @import { Numbers } from '../sources/types.js' */
/** @import { Values } from './runModel.js' */

/** softmax of one row, in float64. @param {Float32Array} row */
export function probabilities(row) {
  const max = row.reduce((a, x) => Math.max(a, x), -Infinity);
  const powers = Float64Array.from(row, (x) => Math.exp(x - max));
  const sum = powers.reduce((a, x) => a + x, 0);
  return powers.map((x) => x / sum);
}

/** The logits of a token; those of a whole input have no axis of tokens. @param {Values} values @param {number} t */
export function rowOf({ logits }, t) {
  const { data, shape } = /** @type {Numbers} */ (logits);
  const size = shape[shape.length - 1];
  return shape.length === 2 ? data.subarray(0, size) : data.subarray(t * size, (t + 1) * size);
}

/** The likeliest labels. @param {ArrayLike<number>} values @param {number} count */
export function likeliest(values, count) {
  /** @type {number[]} */
  const found = [];
  for (let id = 0; id < values.length; id++) {
    if (found.length === count && !(values[id] > values[found[count - 1]])) continue;
    let at = found.length;
    while (at > 0 && values[id] > values[found[at - 1]]) at--;
    found.splice(at, 0, id);
    found.length = Math.min(found.length, count);
  }
  return found;
}

/** @param {Values} values @param {number} t */
export const topLabel = (values, t) => rowOf(values, t).reduce((best, x, i, row) => (x > row[best] ? i : best), 0);

/**
 * The probability of a label and the likeliest label, if the model ended after the embedding and after each layer.
 * @param {TransformerSource} source @param {Values} values @param {number} label
 */
export function lensOf({ model }, values, label) {
  const layers = logitLens(model, values, { labels: [label], top: 1 }).map(({ tokens }) => tokens[0]);
  return {
    lens: layers.map(({ labels }) => labels[0].probability),
    likeliest: layers.map(({ top }) => ({ id: top[0].label, probability: top[0].probability })),
  };
}

/**
 * The contributions of the parts of the model to the logit of a label.
 * @param {TransformerSource} source @param {Values} values @param {number} label
 * @param {string} part of an encoder–decoder, whose heads are shown
 * @returns {Contributions}
 */
export function contributionsTo({ model }, values, label, part) {
  const { embed, heads: own, cross, mlps, bias, sum } = attribution(model, values, { label });
  const [heads, others] = part === 'cross' && cross ? [cross, own] : [own, cross];
  return { label, embed, heads: heads.data, ...(others && { others: others.data }), mlps: mlps.data, bias, sum };
}

/**
 * A function that names the labels that a source predicts: tokens or classes.
 * @param {TransformerSource} source
 * @returns {(id: number | null) => string}
 */
export function labelNames({ about, model, tokenizer }) {
  const labels = model.config?.id2label;
  if (about.guess === 'classes') return (id) => String(labels?.[/** @type {number} */ (id)] ?? id).split(',')[0];
  if (about.reads !== 'picture' && !about.words) return (id) => (id === null || id < 0 ? '' : ` #${id}`);
  return (id) => (id === null || id < 0 ? '' : tokenizer.decode([id], { skipSpecial: false }));
}
