// The QK fix of AtP* (Kramár et al. 2024): estimates the effect of one query or key through the attention weights of
// its head, with a recomputed softmax.

import { scaleOf } from '../models/options.js';
import { parametersOf } from './arrays.js';

/** @import { Resolved } from '../models/options.js' */
/** @import { Model, Numbers } from './arrays.js' */

/** @typedef {{ values: Readonly<Record<string, Numbers>>, gradients: Readonly<Record<string, Numbers>> }} Run */
/**
 * Offsets of one head in arrays: query (T,D), key (S,D), and the square (T,S) of scores and gradients of the weights.
 * @typedef {{ query: number, key: number, square: number, group: number, head: number }} Offsets
 */

/**
 * Returns Σ (A′ − A) · ∂m/∂A over queries and keys, for each head and token. A are the attention weights of the
 * corrupted run, A′ the weights if this token has its clean query or key. The value of a key head is the sum over its
 * query heads.
 * @param {Model} model
 * @param {number} layer
 * @param {string} name of the query or key
 * @param {Numbers} clean (1,H,T,D) or (1,G,S,D)
 * @param {Run} corrupted with queries, keys, scores, and the gradients of the weights
 * @returns {Float64Array} (H,T) or (G,S)
 */
export function softmaxFix(model, layer, name, clean, corrupted) {
  const of = (/** @type {string} */ other) => name.replace(/(query|key)$/, other);
  const isQuery = name.endsWith('query');
  const [query, key, scores] = ['query', 'key', 'scores'].map((other) => corrupted.values[of(other)]);
  const gradient = corrupted.gradients[of('weights')].data;
  const [, heads, queries, keys] = scores.shape;
  const [groups, width] = [key.shape[1], key.shape[3]];
  const score = scoreChange(model, layer, { query: query.data, key: key.data, clean: clean.data, isQuery, width });
  const sinks = name.includes('cross') ? undefined : sinksOf(model, layer);
  const effects = new Float64Array(isQuery ? heads * queries : groups * keys);
  const [before, after] = [new Float64Array(keys), new Float64Array(keys)];
  for (let h = 0; h < heads; h++) {
    const group = Math.floor((h * groups) / heads);
    for (let t = 0; t < queries; t++) {
      const row = (h * queries + t) * keys;
      for (let s = 0; s < keys; s++) {
        before[s] = scores.data[row + s];
        after[s] = before[s] === -Infinity ? before[s] : before[s] + score(h * queries + t, group * keys + s);
      }
      const sink = sinks?.[h] ?? -Infinity;
      const sum = logSum(before, sink);
      if (sum === -Infinity) continue;
      const rowGradient = gradient.subarray(row, row + keys);
      if (isQuery) {
        effects[h * queries + t] = softmaxChange(before, sum, after, sink, rowGradient);
        continue;
      }
      const mean = rowGradient.reduce((total, g, s) => total + Math.exp(before[s] - sum) * g, 0);
      for (let s = 0; s < keys; s++) {
        const [old, term] = [Math.exp(before[s] - sum), Math.exp(after[s] - sum)];
        // If the key has most of the weight, the sum of the other weights is too inexact to divide by it.
        const effect =
          old > 1 / 2
            ? softmaxChange(before, sum, withOne(before, s, after[s]), sink, rowGradient)
            : (term === Infinity ? 1 : (term - old) / (term + 1 - old)) * (rowGradient[s] - mean);
        effects[group * keys + s] += effect;
      }
    }
  }
  return effects;
}

/**
 * Returns Σ (A′ − A) · gradient, where A and A′ are the softmax of the scores before and after a change.
 * @param {Float64Array} before (S)
 * @param {number} sum ln Σ e^score before
 * @param {Float64Array} after (S)
 * @param {number} sink
 * @param {Float32Array} gradient (S)
 */
function softmaxChange(before, sum, after, sink, gradient) {
  const newSum = logSum(after, sink);
  return before.reduce((total, x, s) => total + (Math.exp(after[s] - newSum) - Math.exp(x - sum)) * gradient[s], 0);
}

/**
 * Returns a copy in which one number is replaced.
 * @param {Float64Array} list
 * @param {number} at
 * @param {number} value
 */
function withOne(list, at, value) {
  const copy = list.slice();
  copy[at] = value;
  return copy;
}

/** Returns ln Σ e^score, including the sink. @param {Float64Array} scores @param {number} sink */
function logSum(scores, sink) {
  const most = scores.reduce((a, b) => Math.max(a, b), sink);
  if (most === -Infinity) return most;
  return most + Math.log(scores.reduce((sum, x) => sum + Math.exp(x - most), Math.exp(sink - most)));
}

/** Returns the sinks (H) of a block, or undefined. @param {Model} model @param {number} layer */
const sinksOf = (model, layer) => parametersOf('attributionPatching', model).vector(`blocks.${layer}.attention.sinks`);

/**
 * Returns a function from the indices of a query and a key to the change of their score. It applies only the scale and
 * the softcap, because a bias and a mask are the same before and after.
 * @param {Model} model
 * @param {number} layer
 * @param {{ query: Float32Array, key: Float32Array, clean: Float32Array, isQuery: boolean, width: number }} given
 */
function scoreChange({ options }, layer, { query, key, clean, isQuery, width }) {
  const scale = scaleOf(/** @type {Resolved} */ (options), layer);
  const { softcap: cap = 0 } = /** @type {Partial<Resolved>} */ (options);
  const capped = (/** @type {number} */ z) => cap * Math.tanh(z / cap);
  return (/** @type {number} */ t, /** @type {number} */ s) => {
    let [before, change] = [0, 0];
    for (let d = 0; d < width; d++) {
      const [q, k] = [query[t * width + d], key[s * width + d]];
      before += q * k;
      change += isQuery ? (clean[t * width + d] - q) * k : q * (clean[s * width + d] - k);
    }
    return cap > 0 ? capped(scale * (before + change)) - capped(scale * before) : scale * change;
  };
}
