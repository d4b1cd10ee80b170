// Selects from the worker's answer the numbers from which one weight is computed.

import { stepsAt } from './score.js';

/** @import { Cell, Run, RunWithValues } from '../heatmap/types.js' */

/**
 * Returns the weights of one head of a run.
 * @param {Run} run @param {number} layer @param {number} head
 * @returns {any} Float32Array (T,S); null for a head of a large run that is not shown
 */
export function weightsOf({ weights, large, about, T, S, layer: shownLayer, head: shownHead }, layer, head) {
  if (large) return layer === shownLayer && head === shownHead ? weights : null;
  const size = T * S;
  const first = (layer * about.heads + head) * size;
  return weights.subarray(first, first + size);
}

/**
 * Returns true if a key comes after its query and has no weight. The cell of such a key is drawn only in a full matrix.
 * @param {number} weight @param {number} t @param {number} s
 */
export const isAhead = (weight, t, s, full = false) => !full && s > t && !(weight > 0) && !Number.isNaN(weight);

/**
 * Returns true if any key that comes after its query has weight.
 * @param {Float32Array} weights (T,S) @param {number} T @param {number} S
 */
export const looksAhead = (weights, T, S) => {
  for (let t = 0; t < T; t++) for (let s = t + 1; s < S; s++) if (weights[t * S + s] > 0) return true;
  return false;
};

/** Returns the numbers of one cell. @param {RunWithValues} run @param {Cell} cell */
export function readingOf(run, { t, s }) {
  const { values, S } = run;
  const { width, valueWidth = width, query, key, value, scores, steps, sink, rest } = values;
  const { mixture, directions, labels } = values;
  /** @param {Float32Array} x @param {number} i */
  const row = (x, i, size = width) => x.subarray(i * size, (i + 1) * size);
  const q = row(query, t);
  const k = row(key, s);
  const v = row(value, s, valueWidth);
  const product = Float32Array.from(q, (x, i) => x * k[i]);
  const weights = row(weightsOf(run, run.layer, run.head), t, S);
  const score = scores[t * S + s];
  const weight = weights[s];
  // If the head's output is replaced, it is not a mixture of these values, so the direction does not apply.
  const direction = !values.patched && !values.isMean && directions ? row(directions, t) : null;
  // Direct logit attribution of the cell; null if it is unknown.
  const adds = direction && (values.scale ?? 1) * weight * v.reduce((sum, x, i) => sum + x * direction[i], 0);
  const sum = product.reduce((a, x) => a + x, 0);
  const ofKeys = row(scores, t, S).reduce((all, x) => all + Math.exp(x), rest?.[t] ?? 0);
  return {
    q,
    k,
    v,
    product,
    sum,
    steps: stepsAt(steps, sum, { t, s }, run.T),
    score,
    weights,
    weight,
    // In a row without a visible key only the sink has weight.
    hidden: ofKeys === 0,
    sink,
    total: ofKeys + (sink === null ? 0 : Math.exp(sink)),
    scaled: v.map((x) => weight * x),
    mixture: row(mixture, t, valueWidth),
    adds,
    label: labels[t],
    others: Array.from(weights, (w, i) => ({ w, i }))
      .filter(({ w, i }) => i !== s && w >= 0.005)
      .sort((a, b) => b.w - a.w),
  };
}
