// What a head does, where one can say it: scores of its weights on passages that are said twice, and from which score
// on it is named.

/** In the order in which they are tried; the score that a head must reach. @type {[name: string, least: number][]} */
export const TRADES = [
  ['partner', 0.3],
  ['induction', 0.3],
  ['previous', 0.45],
  ['duplicate', 0.35],
  ['itself', 0.5],
  ['first', 0.6],
];

/** @param {Record<string, number>} scores of one head @returns {string | null} */
export const tradeOf = (scores) => TRADES.find(([name, least]) => scores[name] >= least)?.[0] ?? null;

/**
 * The mean weight that tokens give themselves, and what is not a number left out.
 * @param {Float32Array} weights (T,T)
 * @param {number} T
 */
export function itself(weights, T) {
  let sum = 0;
  for (let t = 0; t < T; t++) sum += weights[t * T + t];
  return T > 1 ? sum / T : Number.NaN;
}

/** The scores worth telling, the highest first. @param {Record<string, number>} scores */
export const told = (scores) =>
  TRADES.map(([name]) => /** @type {[string, number]} */ ([name, scores[name]]))
    .filter(([, score]) => Number.isFinite(score))
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3);
