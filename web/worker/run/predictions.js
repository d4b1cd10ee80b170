// Computes the predictions of a run: probabilities, the likeliest labels, and the contributions of heads and MLPs.

import { attribution, logitLens } from '../../../src/js/analysis/analysis.js';

/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Contributions } from '../../store/protocol.js' */
/** @import { Numbers } from '../sources/types.js' */
/** @import { Values } from './runModel.js' */

/** Computes the softmax of one row in float64. @param {Float32Array} row */
export function probabilities(row) {
  const max = row.reduce((a, x) => Math.max(a, x), -Infinity);
  const powers = Float64Array.from(row, (x) => Math.exp(x - max));
  const sum = powers.reduce((a, x) => a + x, 0);
  return powers.map((x) => x / sum);
}

/** Returns the logits of token t, or those of the whole input. @param {Values} values @param {number} t */
export function rowOf({ logits }, t) {
  const { data, shape } = /** @type {Numbers} */ (logits);
  const size = shape[shape.length - 1];
  return shape.length === 2 ? data.subarray(0, size) : data.subarray(t * size, (t + 1) * size);
}

/** Finds the indices of the largest values, sorted by value. @param {ArrayLike<number>} values @param {number} count */
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

/**
 * Lists the likeliest labels. Labels that must be listed replace the least likely ones. rank: the number of labels that
 * are at least as likely, counting the label itself.
 * @param {ArrayLike<number>} likely probabilities
 * @param {number} count
 * @param {readonly number[]} required labels
 * @returns {{ id: number, rank: number }[]} sorted by probability
 */
export function listed(likely, count, required) {
  const best = likeliest(likely, count);
  const others = [...new Set(required)].filter((id) => !best.includes(id));
  const free = best.filter((id) => !required.includes(id));
  const dropped = free.slice(Math.max(free.length - others.length, 0));
  const ids = [...best.filter((id) => !dropped.includes(id)), ...others.sort((a, b) => likely[b] - likely[a])];
  return ids.map((id) => ({ id, rank: rankOf(likely, id, best) }));
}

/** @param {ArrayLike<number>} likely @param {number} id @param {number[]} best the likeliest labels, sorted */
function rankOf(likely, id, best) {
  if (best.includes(id)) return best.indexOf(id) + 1;
  let rank = 1;
  for (let other = 0; other < likely.length; other++) if (likely[other] > likely[id]) rank++;
  return rank;
}

/** @param {Values} values @param {number} t */
export const topLabel = (values, t) => rowOf(values, t).reduce((best, x, i, row) => (x > row[best] ? i : best), 0);

/**
 * Returns the probability of a label and the likeliest label that the model would predict if it ended after the
 * embedding, or after each of its layers.
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
 * Computes the contributions of the embedding, the heads and the MLPs to the logit of a label.
 * @param {TransformerSource} source @param {Values} values @param {number} label
 * @param {string} part the attention of an encoder–decoder whose heads are shown
 * @returns {Contributions}
 */
export function contributionsTo({ model }, values, label, part) {
  const { embed, heads: own, cross, mlps, bias, sum } = attribution(model, values, { label });
  const [heads, others] = part === 'cross' && cross ? [cross, own] : [own, cross];
  return { label, embed, heads: heads.data, ...(others && { others: others.data }), mlps: mlps.data, bias, sum };
}

/**
 * Makes a function that returns the text of a label, which is a token or a class.
 * @param {TransformerSource} source
 * @returns {(id: number | null) => string}
 */
export function labelNames({ about, model, tokenizer }) {
  const labels = model.config?.id2label;
  if (about.guess === 'classes') return (id) => String(labels?.[/** @type {number} */ (id)] ?? id).split(',')[0];
  if (about.reads !== 'picture' && !about.words) return (id) => (id === null || id < 0 ? '' : ` #${id}`);
  return (id) => (id === null || id < 0 ? '' : tokenizer.decode([id], { skipSpecial: false }));
}
