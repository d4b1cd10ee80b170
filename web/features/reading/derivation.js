// How one weight comes about, out of what the worker has said of a run.

import { stepsAt } from './score.js';

/** @typedef {any} Shown a run, with what its source is in `about` */

/**
 * The weights (T,S) of one head of a run; of a large one only the head shown is here, null for the others.
 * @param {Shown} run @param {number} layer @param {number} head
 */
export function weightsOf({ weights, large, about, T, S, layer: shown, head: first }, layer, head) {
  if (large) return layer === shown && head === first ? weights : null;
  const size = T * S;
  const at = (layer * about.heads + head) * size;
  return weights.subarray(at, at + size);
}

/** Keys that a query cannot look at: after it, and without weight. */
export const isAhead = (weight, t, s, full = false) => !full && s > t && !(weight > 0) && !Number.isNaN(weight);

/** Whether a head looks ahead: then the upper half is in use. */
export const looksAhead = (weights, T, S) => {
  for (let t = 0; t < T; t++) for (let s = t + 1; s < S; s++) if (weights[t * S + s] > 0) return true;
  return false;
};

/** All that is said about a cell. @param {Shown} run @param {{ t: number, s: number }} cell */
export function readingOf(run, { t, s }) {
  const { values, S } = run;
  const { width, valueWidth = width, query, key, value, scores, steps, sink, mixture, directions, labels } = values;
  const row = (x, i, size = width) => x.subarray(i * size, (i + 1) * size);
  const q = row(query, t);
  const k = row(key, s);
  const v = row(value, s, valueWidth);
  const product = Float32Array.from(q, (x, i) => x * k[i]);
  const weights = row(weightsOf(run, run.layer, run.head), t, S);
  const score = scores[t * S + s];
  const weight = weights[s];
  // What is patched from elsewhere is not made of these values.
  const direction = !values.patched && directions ? row(directions, t) : null;
  const adds = direction && (values.scale ?? 1) * weight * v.reduce((sum, x, i) => sum + x * direction[i], 0);
  const sum = product.reduce((a, x) => a + x, 0);
  const ofKeys = row(scores, t, S).reduce((all, x) => all + Math.exp(x), 0);
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
    // Of a row without a visible key nothing is left but its sink.
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
