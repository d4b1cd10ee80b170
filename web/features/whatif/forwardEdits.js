// The changes to a model as forward's list of edits.

import { visible } from '../mask/hiddenCells.js';
import { effective } from './modelEdits.js';

/** @import { Run } from '../../store/state.js' */
/** @typedef {{ layers: number, heads: number, causal?: boolean, tokens?: number }} Size of a model and its text */

/**
 * The heads of a layer, grouped by value; heads with the default are left out.
 * @param {Record<string, any>} map
 * @param {number} layer
 * @param {number} heads
 * @param {any} usual the default
 * @returns {[value: any, heads: number[]][]}
 */
function groups(map, layer, heads, usual) {
  const found = new Map();
  for (let head = 0; head < heads; head++) {
    const value = effective(map, layer, head, usual);
    if (value !== usual) found.set(value, [...(found.get(value) ?? []), head]);
  }
  return [...found];
}

/** @param {string} mask @param {boolean} causal @returns {object} */
const maskEdit = (mask, causal) =>
  mask === 'none'
    ? { mask: 'none' }
    : { window: mask === 'past' ? [-1, 0] : [Number(mask), causal ? 0 : Number(mask)] };

/**
 * Painted masks, one for each group of heads with the same mask: the named mask without the hidden cells.
 * @param {Run} run
 * @param {number} layer
 * @param {Size} size
 */
function paintedEdits({ painted = {}, mask }, layer, { heads, causal = true, tokens = 0 }) {
  return groups(painted, layer, heads, '').flatMap(([text, list]) => {
    const masks = list.map((head) => effective(mask, layer, head, 'causal'));
    return [...new Set(masks)].map((name) => ({
      at: `blocks.${layer}.scores`,
      head: list.filter((_, i) => masks[i] === name),
      mask: visible(text, name, tokens, causal),
    }));
  });
}

/**
 * The edits of a run except patches, which need the values of another run.
 * @param {Run} run
 * @param {Size} size
 */
export function editsOf(run, { layers, heads, causal = true, tokens = 0 }) {
  const { temperature, mask, scale } = run;
  /** @type {object[]} */
  const edits = [];
  for (let layer = 0; layer < layers; layer++) {
    const scores = `blocks.${layer}.scores`;
    for (const [value, head] of groups(mask, layer, heads, 'causal'))
      edits.push({ at: scores, head, ...maskEdit(value, causal) });
    edits.push(...paintedEdits(run, layer, { layers, heads, causal, tokens }));
    for (const [value, head] of groups(temperature, layer, heads, 1))
      edits.push({ at: scores, head, temperature: value });
    for (const [value, head] of groups(scale, layer, heads, 1))
      edits.push({ at: `blocks.${layer}.heads`, head, ...(value === 0 ? { set: 'zero' } : { scale: value }) });
  }
  return edits;
}

/** The heads of each layer whose output is taken from the pinned run. @param {Run} run @param {Size} size */
export function patchedHeads({ patch }, { layers, heads }) {
  return Array.from({ length: layers }, (_, layer) => groups(patch, layer, heads, 0).flatMap(([, list]) => list));
}
