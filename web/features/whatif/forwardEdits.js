// Converts the changes to a model into the list of edits that forward takes.

import { visible } from '../mask/hiddenCells.js';
import { effective, layerPlace } from './modelEdits.js';

/** @import { AttentionPart } from '../../store/protocol.js' */
/** @import { Run } from '../../store/state.js' */
/**
 * One attention of a model: its size, and the numbers of its queries (tokens) and keys. keys is tokens by default.
 * @typedef {{ part?: AttentionPart, layers: number, heads: number, causal?: boolean, tokens?: number,
 *   keys?: number }} Stack
 */

/**
 * Prefixes of the names of a layer's values. An encoder–decoder has three stacks of heads.
 * @type {Record<string, string>}
 */
const STACKS = {
  ...{ encoder: 'encoder.blocks.L.', decoder: 'blocks.L.', cross: 'blocks.L.cross.' },
  ...{ text: 'blocks.L.', vision: 'blocks.L.' },
};
/** @param {string} part @param {number | string} layer */
export const stackAt = (part, layer) => STACKS[part].replace('L', String(layer));

/**
 * Groups the heads of a layer by their value, without heads that have the default value.
 * @param {Record<string, any>} map
 * @param {string} layer place of the layer
 * @param {number} heads
 * @param {any} usual default value
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
 * Returns an edit with a painted mask for each group of heads that have the same mask. The painted mask is the mask
 * with the chosen name, in which the cells that are masked by hand are masked too.
 * @param {Run} run
 * @param {string} at name of the scores
 * @param {string} place place of the layer
 * @param {Stack} stack
 */
function paintedEdits({ painted = {}, mask }, at, place, { heads, causal = true, tokens = 0, keys = tokens }) {
  return groups(painted, place, heads, '').flatMap(([text, list]) => {
    const masks = list.map((head) => effective(mask, place, head, 'causal'));
    return [...new Set(masks)].map((name) => ({
      at,
      head: list.filter((_, i) => masks[i] === name),
      mask: visible(text, name, tokens, causal, keys),
    }));
  });
}

/**
 * Returns the edits of one attention in a run. Patches are missing, because they need the values of another run.
 * @param {Run} run
 * @param {Stack} stack
 */
export function editsOf(run, stack) {
  const { part = 'decoder', layers, heads, causal = true } = stack;
  const { temperature, mask, scale, off: set = 'zero' } = run;
  /** @type {object[]} */
  const edits = [];
  for (let layer = 0; layer < layers; layer++) {
    const place = layerPlace(part, layer);
    const [scores, outputs] = ['scores', 'heads'].map((name) => stackAt(part, layer) + name);
    for (const [value, head] of groups(mask, place, heads, 'causal'))
      edits.push({ at: scores, head, ...maskEdit(value, causal) });
    edits.push(...paintedEdits(run, scores, place, stack));
    for (const [value, head] of groups(temperature, place, heads, 1))
      edits.push({ at: scores, head, temperature: value });
    for (const [value, head] of groups(scale, place, heads, 1))
      edits.push({ at: outputs, head, ...(value === 0 ? { set } : { scale: value }) });
  }
  return edits;
}

/**
 * Returns the heads of each layer whose output is patched with that of the pinned run.
 * @param {Run} run @param {Stack} stack
 */
export function patchedHeads({ patch }, { part = 'decoder', layers, heads }) {
  return Array.from({ length: layers }, (_, layer) =>
    groups(patch, layerPlace(part, layer), heads, 0).flatMap(([, list]) => list),
  );
}
