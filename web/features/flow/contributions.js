// Contributions to a logit as lists: the largest first, the small ones as one sum.

/** @import { Added, Part } from './flowLayout.js' */
/** @typedef {Omit<Part, 'kind'> & { kind: Part['kind'] | 'bias', value: number }} Contribution */

/**
 * Every part once. Their sum is the logit.
 * @param {Added} added
 * @param {{ layers: number, heads: number, mlps?: boolean }} size
 * @returns {Contribution[]}
 */
export function allParts({ embed, heads, mlps, bias }, size) {
  /** @type {Contribution[]} */
  const parts = [{ kind: 'embed', layer: -1, head: -1, value: embed }];
  for (let layer = 0; layer < size.layers; layer++) {
    for (let head = 0; head < size.heads; head++)
      parts.push({ kind: 'head', layer, head, value: heads[layer * size.heads + head] });
    if (size.mlps) parts.push({ kind: 'mlp', layer, head: -1, value: mlps[layer] });
  }
  parts.push({ kind: 'bias', layer: -1, head: -1, value: bias });
  return parts;
}

/**
 * @param {Added} added
 * @param {{ layers: number, heads: number, mlps?: boolean }} size
 * @param {{ hide: number, count: number }} shown the first `count` parts above the threshold; the others are summed
 */
export function partsAdding(added, size, { hide, count }) {
  const all = allParts(added, size).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const first = all.filter(({ value }) => Math.abs(value) >= hide).slice(0, count);
  const rest = all.filter((part) => !first.includes(part) && part.value !== 0);
  return {
    positive: first.filter(({ value }) => value > 0),
    negative: first.filter(({ value }) => value < 0),
    others: { count: rest.length, value: rest.reduce((sum, { value }) => sum + value, 0) },
    most: first.length > 0 ? Math.abs(first[0].value) : 1,
  };
}

/** A head is needed if its ablation costs MIN_EFFECT; its contribution is small below MAX_SHARE of the sum. */
const [MIN_EFFECT, MAX_SHARE] = [0.05, 0.1];

/**
 * Heads with a large effect on the guess but a small contribution: they act through other heads.
 * @param {{ before: number, switchedOff: { part: string, layer: number, head: number, value: number }[] } | null} found
 * @param {Added} added
 * @param {{ heads: number }} size
 * @returns {{ layer: number, head: number, change: number }[]} the greatest fall first
 */
export function actingThrough(found, added, { heads }) {
  return (found?.switchedOff ?? [])
    .map(({ part, layer, head, value }) => ({ part, layer, head, change: value - (found?.before ?? 0) }))
    .filter(
      ({ layer, head, change }) => change <= -MIN_EFFECT && added.heads[layer * heads + head] < MAX_SHARE * added.sum,
    )
    .sort((a, b) => a.change - b.change);
}
