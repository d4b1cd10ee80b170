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

/** Heads that look for an earlier token like the one that looks. */
const SEEKING = new Set(['induction', 'duplicate']);
/** The first tokens, and the mean weight on them from which a head is said to attend to them. */
const [FIRST, MOSTLY] = [3, 0.4];

/**
 * Rows in which a head of a trade has nothing to find: no earlier token is like theirs.
 * @param {string | null | undefined} trade
 * @param {ArrayLike<number>} ids of the tokens
 * @returns {number[]}
 */
export function rowsWithNothing(trade, ids) {
  if (!trade || !SEEKING.has(trade)) return [];
  const all = Array.from(ids);
  return all.map((_, t) => t).filter((t) => all.indexOf(all[t]) === t);
}

/**
 * Whether a head of a trade, which was measured on other texts, has nothing to find in any row of a run.
 * @param {string | null | undefined} trade
 * @param {any} run
 */
export function findsNothing(trade, run) {
  if (!trade || !SEEKING.has(trade) || !run || run.T !== (run.S ?? run.T)) return false;
  const ids = run.pieces.map((/** @type {{ id: number }} */ { id }) => id);
  return !ids.includes(-1) && rowsWithNothing(trade, ids).length === ids.length;
}

/**
 * Whether rows give most of their weight to the first tokens.
 * @param {Float32Array} weights (T,T) @param {number} T @param {number[]} rows
 */
export function attendsToFirst(weights, T, rows) {
  // Rows that see little else say nothing.
  const telling = rows.filter((t) => t > 2 * FIRST);
  const sum = telling.reduce((all, t) => all + weights.subarray(t * T, t * T + FIRST).reduce((a, w) => a + w, 0), 0);
  return telling.length > 0 && sum / telling.length >= MOSTLY;
}

/** The scores worth telling, the highest first. @param {Record<string, number>} scores */
export const told = (scores) =>
  TRADES.map(([name]) => /** @type {[string, number]} */ ([name, scores[name]]))
    .filter(([, score]) => Number.isFinite(score))
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3);
