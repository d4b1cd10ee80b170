// The values of temperature, mask and scale at a head, and the comparison run of a guess.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';

/** @import { Run, State } from '../../store/state.js' */

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
