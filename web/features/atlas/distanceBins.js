// The histogram of distances as it is drawn: one bar for each doubling.

/** @typedef {{ from: number, weight: number, share: number }} Bar share: of the highest bar */

/** Distances up to this one always have a bar. */
const USUAL = 64;

/**
 * @param {{ edges: ArrayLike<number>, values: ArrayLike<number> }} distances
 * @returns {Bar[]} up to the last bar with a weight
 */
export function barsOf({ edges, values }) {
  const all = Array.from(values, (weight, i) => ({ from: edges[i], weight }));
  const last = all.findLastIndex(({ weight, from }) => weight > 0 || from <= USUAL);
  const shown = all.slice(0, last + 1);
  const highest = shown.reduce((most, { weight }) => Math.max(most, weight), 0);
  return shown.map((bar) => ({ ...bar, share: highest > 0 ? bar.weight / highest : 0 }));
}

/**
 * The share of the weight that is less than `limit` tokens away; NaN without weights.
 * @param {{ edges: ArrayLike<number>, values: ArrayLike<number> }} distances
 * @param {number} limit
 */
export function shareWithin({ edges, values }, limit) {
  let [near, all] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    all += values[i];
    if (edges[i + 1] <= limit) near += values[i];
  }
  return near / all;
}
