// What is changed in a model, as forward's list of edits; and the other case that a guess is compared with.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';
import { visible } from '../mask/hiddenCells.js';

/** @import { Run, State } from '../../store/state.js' */
/** @typedef {{ layers: number, heads: number, causal?: boolean, tokens?: number }} Size of a model and its text */

/** What holds at a head: the most particular place says it. */
export function effective(
  /** @type {Record<string, any>} */ map,
  /** @type {number} */ layer,
  /** @type {number} */ head,
  /** @type {any} */ otherwise,
) {
  return map[`${layer}.${head}`] ?? map[`${layer}`] ?? map.all ?? otherwise;
}

/** The temperature's slider: its ends are a tenth and ten, its middle 1, and equal steps are equal factors. */
export const KNOB = { span: 1, step: 0.025 };
export const toKnob = (/** @type {number} */ temperature) => Math.log10(temperature);
/** Three digits: every step of the slider has a temperature of its own. @param {number} knob */
export const toTemperature = (knob) => Number((10 ** knob).toPrecision(3));
/** All of its digits. @param {number} temperature */
export const temperatureText = (temperature) => temperature.toFixed(temperature < 1 ? 3 : 2);

/** @param {string} scope @param {number} layer @param {number} head */
export const placeIn = (scope, layer, head) =>
  scope === 'all' ? 'all' : scope === 'layer' ? `${layer}` : `${layer}.${head}`;

/**
 * A map with another value at a place. More particular places within it are as it is from now on; what is as ever
 * is left out.
 * @template T
 * @param {Record<string, T>} map
 * @param {string} place
 * @param {T} value
 * @param {T} ever
 * @returns {Record<string, T>}
 */
export function withPlace(map, place, value, ever) {
  const inside = (/** @type {string} */ other) => place === 'all' || other === place || other.startsWith(`${place}.`);
  const rest = Object.fromEntries(Object.entries(map).filter(([other]) => !inside(other)));
  return value === ever && Object.keys(rest).length === 0 ? {} : { ...rest, [place]: value };
}

/**
 * Heads of a layer for which the same holds.
 * @param {Record<string, any>} map
 * @param {number} layer
 * @param {number} heads
 * @param {any} ever
 * @returns {[value: any, heads: number[]][]}
 */
function groups(map, layer, heads, ever) {
  const found = new Map();
  for (let head = 0; head < heads; head++) {
    const value = effective(map, layer, head, ever);
    if (value !== ever) found.set(value, [...(found.get(value) ?? []), head]);
  }
  return [...found];
}

/** @param {string} mask @param {boolean} causal @returns {object} */
const maskEdit = (mask, causal) =>
  mask === 'none'
    ? { mask: 'none' }
    : { window: mask === 'past' ? [-1, 0] : [Number(mask), causal ? 0 : Number(mask)] };

/**
 * What is painted by hand, as masks of the heads that share one: what a mask says by name, without the hidden cells.
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
 * The edits of a run, but for what is patched: that needs the values of another run.
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

/** The heads whose values come from the pinned run. @param {Run} run @param {Size} size */
export function patchedHeads({ patch }, { layers, heads }) {
  return Array.from({ length: layers }, (_, layer) => groups(patch, layer, heads, 0).flatMap(([, list]) => list));
}

/** @param {Run} run @param {number} layer @param {number} head */
export const isOff = ({ scale }, layer, head) => effective(scale, layer, head, 1) === 0;

/**
 * Whether the other case is shown: after a change, with a pin, or while one is about to switch the head off.
 * @param {{ kind: string } | null} other @param {boolean} pointed at what switches the head off
 */
export const isCompared = (other, pointed) => other !== null && (other.kind !== 'without' || pointed);

/**
 * What the guess is compared with: the pinned run; where the head is not whole, the head on; where something else is
 * changed, nothing changed; else this head off.
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
