// The weights of a head that are worth a line between two tokens.

/** @import { Head, Link, LineRule, Region, Span } from './types.js' */

/** Of all queries together no more links than these are drawn, the strongest. */
export const MOST_LINKS = 1500;

/**
 * The weights worth a line.
 * @param {Pick<Head, 'weights' | 'T' | 'S'>} head
 * @param {number[] | null} queries all of them where null
 * @param {LineRule} rule the fewest weights that make up a
 * share
 *   of their row, or the largest ones
 * @param {Region} [region] what is shown
 * @returns {Link[]} by query, then by falling weight
 */
export function links(
  { weights, T, S },
  queries,
  rule,
  region = { queries: { from: 0, to: T }, keys: { from: 0, to: S } },
) {
  const inside = (/** @type {number} */ i, /** @type {Span} */ { from, to }) => i >= from && i < to;
  const all = [...(queries ?? Array(T).keys())]
    .filter((query) => inside(query, region.queries))
    .sort((a, b) => a - b)
    .flatMap((query) => {
      const row = weights.subarray(query * S, (query + 1) * S);
      const keys = Array.from(row.keys())
        .filter((s) => row[s] > 0)
        .sort((a, b) => row[b] - row[a] || a - b);
      let left = rule.kind === 'mass' ? rule.share * keys.reduce((sum, s) => sum + row[s], 0) : 0;
      let count = 0;
      if (rule.kind === 'top') count = rule.count;
      else while (left > 0 && count < keys.length) left -= row[keys[count++]];
      return keys
        .slice(0, count)
        .filter((key) => inside(key, region.keys))
        .map((key) => ({ query, key, weight: row[key] }));
    });
  if (all.length <= MOST_LINKS) return all;
  // Of equal weights the first ones: sorting keeps their order.
  const strongest = [...all].sort((a, b) => b.weight - a.weight).slice(0, MOST_LINKS);
  const chosen = new Set(strongest);
  return all.filter((link) => chosen.has(link));
}
