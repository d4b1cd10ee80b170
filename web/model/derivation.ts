// Selects from the worker's answer the numbers from which one weight is computed.

import { stepsAt } from './score.ts';
import type { Cell } from './state.ts';
import type { Run, RunWithValues } from './types.ts';

/** Returns one head's weights (T,S); null for a head of a large run that is not shown. */
export function weightsOf(
  { weights, large, about, T, S, layer: shownLayer, head: shownHead }: Run,
  layer: number,
  head: number,
): Float32Array | null {
  if (large) return layer === shownLayer && head === shownHead ? weights : null;
  const size = T * S;
  const first = (layer * about.heads + head) * size;
  return weights.subarray(first, first + size);
}

/**
 * Returns true if a key comes after its query and has no weight. The cell of such a key is drawn only in a full matrix.
 */
export const isAhead = (weight: number, t: number, s: number, full = false) =>
  !full && s > t && !(weight > 0) && !Number.isNaN(weight);

/** Returns true if any key that comes after its query has weight. `weights`: (T,S). */
export const looksAhead = (weights: Float32Array, T: number, S: number) => {
  for (let t = 0; t < T; t++) for (let s = t + 1; s < S; s++) if (weights[t * S + s] > 0) return true;
  return false;
};

export function readingOf(run: RunWithValues, { t, s }: Cell) {
  const { values, S } = run;
  const { width, valueWidth = width, query, key, value, scores, steps, sink, rest } = values;
  const { mixture, directions, labels } = values;
  const row = (x: Float32Array, i: number, size = width) => x.subarray(i * size, (i + 1) * size);
  const q = row(query, t);
  const k = row(key, s);
  const v = row(value, s, valueWidth);
  const product = Float32Array.from(q, (x, i) => x * k[i]);
  const weights = row(weightsOf(run, run.layer, run.head) as Float32Array, t, S);
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
