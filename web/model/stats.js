// What a head does, as a few numbers.

/** @import { Statistics } from './types.js' */

/** @param {number[]} numbers */
const mean = (numbers) => (numbers.length === 0 ? null : numbers.reduce((a, b) => a + b, 0) / numbers.length);

/**
 * What a row of weights says of its query t; null where it does not apply.
 * @typedef {{ self: boolean, tokens: (string | number)[] }} Tokens `self`: the keys are the queries
 * @typedef {(row: Float32Array, t: number, tokens: Tokens) => number | null} OfRow
 * @type {Record<'entropy' | 'distance' | 'first' | 'previous' | 'induction', OfRow>}
 */
const ofRow = {
  entropy: (row) => row.reduce((sum, w) => sum - (w > 0 ? w * Math.log2(w) : 0), 0),
  distance: (row, t, { self }) => (self ? row.reduce((sum, w, s) => sum + w * Math.abs(t - s), 0) : null),
  first: (row) => row[0],
  previous: (row, t, { self }) => (self && t > 0 ? row[t - 1] : null),
  induction(row, t, { self, tokens }) {
    if (!self) return null;
    /** @type {number[]} */
    const followers = [];
    for (let p = 0; p < t; p++) if (tokens[p] === tokens[t]) followers.push(p + 1);
    return followers.length === 0 ? null : followers.reduce((sum, s) => sum + row[s], 0);
  },
};

export const STATISTICS = Object.keys(ofRow).map((key) => ({ key }));

/**
 * Means over the queries that see a key; null where there is nothing to take the mean of.
 * @param {{ weights: Float32Array, T: number, S: number }} head
 * @param {string[]} queries
 * @param {boolean} self whether the keys are the queries
 * @returns {Statistics}
 */
export function headStatistics({ weights, T, S }, queries, self) {
  const tokens = queries.map((token) => token.toLowerCase());
  const seeing = Array.from({ length: T }, (_, t) => t).filter((t) =>
    weights.subarray(t * S, (t + 1) * S).some((w) => w > 0),
  );
  return Object.fromEntries(
    Object.entries(ofRow).map(([key, of]) => [
      key,
      mean(seeing.map((t) => of(weights.subarray(t * S, (t + 1) * S), t, { self, tokens })).filter((x) => x !== null)),
    ]),
  );
}

/** A statistic's mean over the heads that have it. @param {Statistics[]} statistics @param {string} key */
export const meanOver = (statistics, key) =>
  mean(statistics.map((head) => head[key]).filter((value) => value !== null));

/**
 * Indices of heads in the order of a statistic; those without it come last.
 * @param {Statistics[]} statistics
 * @param {string} key
 * @param {boolean} descending
 */
export function rankHeads(statistics, key, descending) {
  const sign = descending ? -1 : 1;
  const known = (/** @type {number} */ head) => statistics[head][key] !== null;
  const heads = statistics.map((_, head) => head);
  return [
    ...heads.filter(known).sort((a, b) => sign * (Number(statistics[a][key]) - Number(statistics[b][key]))),
    ...heads.filter((head) => !known(head)),
  ];
}

/**
 * Two of the statistics for training, 0 where they do not apply: the weight on the token before, and on what followed
 * the same token earlier.
 * @param {{ weights: Float32Array, T: number, S: number }} head
 * @param {number[]} tokens
 */
export function headScores({ weights, T, S }, tokens) {
  const over = (/** @type {OfRow} */ of) =>
    mean(
      Array.from({ length: T }, (_, t) => of(weights.subarray(t * S, (t + 1) * S), t, { self: true, tokens })).filter(
        (x) => x !== null,
      ),
    ) ?? 0;
  return { previous: over(ofRow.previous), induction: over(ofRow.induction) };
}
