// What adds to a logit and what takes away, as lists: the largest first, what is smaller as one sum.

/** @import { Added, Part } from './flowLayout.js' */
/** @typedef {Omit<Part, 'kind'> & { kind: Part['kind'] | 'bias', value: number }} Adding */

/**
 * Every part once. Together they are the logit.
 * @param {Added} added
 * @param {{ layers: number, heads: number, mlps: boolean }} size
 * @returns {Adding[]}
 */
export function allParts({ embed, heads, mlps, bias }, size) {
  /** @type {Adding[]} */
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
 * @param {{ layers: number, heads: number, mlps: boolean }} size
 * @param {{ hide: number, count: number }} shown parts below the threshold are told together, and so are those that
 *   come after so many
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

/** From so many points of lost probability on a head is needed; of the sum it adds less than this share itself. */
const [NEEDED, LITTLE] = [0.05, 0.1];

/**
 * Heads that the guess needs though they add little themselves: other heads read what they write.
 * @param {{ before: number, tried: { layer: number, head: number, probability: number }[] } | null} found
 * @param {Added} added
 * @param {{ heads: number }} size
 * @returns {{ layer: number, head: number, change: number }[]} the greatest fall first
 */
export function actingThrough(found, added, { heads }) {
  return (found?.tried ?? [])
    .map(({ layer, head, probability }) => ({ layer, head, change: probability - (found?.before ?? 0) }))
    .filter(({ layer, head, change }) => change <= -NEEDED && added.heads[layer * heads + head] < LITTLE * added.sum)
    .sort((a, b) => a.change - b.change);
}
