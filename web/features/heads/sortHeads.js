// The heads of every layer in another order: what is looked for comes first.

import { weightsOf } from '../reading/derivation.js';

/**
 * How far the rows of a head are from looking at everything alike: 0 for alike, 1 for one token alone.
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 */
export function fromUniform(weights, T, S) {
  let sum = 0;
  let rows = 0;
  for (let t = 0; t < T; t++) {
    let [seen, entropy] = [0, 0];
    for (let s = 0; s < S; s++) {
      const w = weights[t * S + s];
      // Keys after a query that have no weight cannot be looked at.
      if (w > 0 || s <= t) seen++;
      if (w > 0) entropy -= w * Math.log(w);
    }
    if (seen < 2) continue;
    sum += 1 - entropy / Math.log(seen);
    rows++;
  }
  return rows ? sum / rows : 0;
}

/**
 * @param {string} by 'effect', 'uniform', or a score
 * @param {any} run
 * @param {any} tried
 * @returns {number[][] | null} heads by their place, for every layer
 */
export function orderOf(by, run, tried) {
  const { layers, heads } = run.about;
  if (by === 'effect' && tried?.tried.length !== tried?.total) return null;
  if (by === 'effect' && !tried) return null;
  const fell = new Map(
    tried?.tried.map((/** @type {any} */ { layer, head, probability }) => [
      `${layer}.${head}`,
      tried.before - probability,
    ]),
  );
  const value = (/** @type {number} */ l, /** @type {number} */ h) => {
    if (by === 'effect') return fell.get(`${l}.${h}`) ?? 0;
    if (by !== 'uniform') return run.scores?.[l]?.[h]?.[by] ?? 0;
    const weights = weightsOf(run, l, h);
    return weights ? fromUniform(weights, run.T, run.S) : 0;
  };
  return Array.from({ length: layers }, (_, l) => {
    const values = Array.from({ length: heads }, (__, h) => value(l, h) || 0);
    return values.map((_, h) => h).sort((a, b) => values[b] - values[a] || a - b);
  });
}
