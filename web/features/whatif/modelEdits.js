// The changes to a model as forward's list of edits, and the comparison run of a guess.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';
import { visible } from '../mask/hiddenCells.js';

/** @import { Run, State } from '../../store/state.js' */
/** @typedef {{ layers: number, heads: number, causal?: boolean, tokens?: number }} Size of a model and its text */

/**
 * The value at a head: that of the most specific place that has one.
 * @template T
 * @param {Record<string, T>} map
 * @param {number} layer
 * @param {number} head
 * @param {T} otherwise
 */
export function effective(map, layer, head, otherwise) {
  return map[`${layer}.${head}`] ?? map[`${layer}`] ?? map.all ?? otherwise;
}

/** The temperature's slider: its ends are a tenth and ten, its middle 1, and equal steps are equal factors. */
export const KNOB = { span: 1, step: 0.025 };
export const toKnob = (/** @type {number} */ temperature) => Math.log10(temperature);
/** With three digits every step of the slider is a different temperature. @param {number} knob */
export const toTemperature = (knob) => Number((10 ** knob).toPrecision(3));
/** With all digits that toTemperature keeps. @param {number} temperature */
export const temperatureText = (temperature) => temperature.toFixed(temperature < 1 ? 3 : 2);

/** @param {string} scope @param {number} layer @param {number} head */
export const placeIn = (scope, layer, head) =>
  scope === 'all' ? 'all' : scope === 'layer' ? `${layer}` : `${layer}.${head}`;

/**
 * A map with another value at a place. Values of more specific places within it are removed; so is the default value
 * if nothing else is left.
 * @template T
 * @param {Record<string, T>} map
 * @param {string} place
 * @param {T} value
 * @param {T} usual the default
 * @returns {Record<string, T>}
 */
export function withPlace(map, place, value, usual) {
  const inside = (/** @type {string} */ other) => place === 'all' || other === place || other.startsWith(`${place}.`);
  const rest = Object.fromEntries(Object.entries(map).filter(([other]) => !inside(other)));
  return value === usual && Object.keys(rest).length === 0 ? {} : { ...rest, [place]: value };
}

/**
 * The heads of a layer, grouped by value; heads with the default are left out.
 * @template T
 * @param {Record<string, T>} map
 * @param {number} layer
 * @param {number} heads
 * @param {T} usual the default
 * @returns {[value: T, heads: number[]][]}
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

/** @param {Run} run @param {number} layer @param {number} head */
export const isOff = ({ scale }, layer, head) => effective(scale, layer, head, 1) === 0;

/**
 * True if the comparison is shown: after a change, with a pinned run, or while `off` has the pointer or the focus.
 * @param {{ kind: string } | null} other @param {boolean} pointed at `off`, by the pointer or the focus
 */
export const isCompared = (other, pointed) => other !== null && (other.kind !== 'without' || pointed);

/**
 * The run that the guess is compared with: the pinned run; else, if the head is scaled, this head on; else, if anything
 * is changed, the unchanged model; else this head off.
 * @param {State} state
 * @returns {{ kind: 'pinned' | 'with' | 'before' | 'without', run: Run }}
 */
export function otherCase(state) {
  const { pinned, layer, head } = state;
  const run = runOf(state);
  const alone = (/** @type {number} */ value) => ({
    ...run,
    scale: withPlace(state.scale, `${layer}.${head}`, value, 1),
  });
  if (pinned) return { kind: 'pinned', run: pinned };
  if (effective(state.scale, layer, head, 1) !== 1) return { kind: 'with', run: alone(1) };
  if (isChanged(run)) return { kind: 'before', run: { ...run, ...UNCHANGED } };
  return { kind: 'without', run: alone(0) };
}
