// The numbers from which one weight is computed, taken from the worker's answer.

import { stepsAt } from './score.js';

/** @import { Cell, Run, RunWithValues } from '../heatmap/types.js' */

/**
 * The weights of one head of a run.
 * @param {Run} run @param {number} layer @param {number} head
 * @returns {any} Float32Array (T,S); null for the heads of a large run that are not shown
 */
export function weightsOf({ weights, large, about, T, S, layer: shownLayer, head: shownHead }, layer, head) {
  if (large) return layer === shownLayer && head === shownHead ? weights : null;
  const size = T * S;
  const first = (layer * about.heads + head) * size;
  return weights.subarray(first, first + size);
}

/**
 * True for a key after its query that has no weight: its cell is not drawn, unless the matrix is full.
 * @param {number} weight @param {number} t @param {number} s
 */
export const isAhead = (weight, t, s, full = false) => !full && s > t && !(weight > 0) && !Number.isNaN(weight);

/**
 * True if a key after its query has weight.
 * @param {Float32Array} weights (T,S) @param {number} T @param {number} S
 */
export const looksAhead = (weights, T, S) => {
  for (let t = 0; t < T; t++) for (let s = t + 1; s < S; s++) if (weights[t * S + s] > 0) return true;
  return false;
};

/** The numbers of one cell. @param {RunWithValues} run @param {Cell} cell */
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
  // The output of a patched head is not a mixture of these values.
  const direction = !values.patched && directions ? row(directions, t) : null;
  // Direct logit attribution of the cell, null if it is unknown.
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
    // A row without a visible key has the weight of its sink only.
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
