// The values of temperature, mask and scale at a head, and the comparison run of a guess.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';

/** @import { About, AttentionPart } from '../../store/protocol.js' */
/** @import { Run, State } from '../../store/state.js' */

/** Begins the places of an attention. @type {Record<AttentionPart, string>} */
const LETTERS = { decoder: '', encoder: 'e', cross: 'c', text: '', vision: 'v' };
/** The place of all heads of an attention, from one of its places. @param {string} place */
export const allIn = (place) => `${/^[ecv](?=all|\d)/.exec(place)?.[0] ?? ''}all`;
/** The place of a layer: '3', in an encoder 'e3', of attention to an encoder 'c3', of a tower for pictures 'v3'. */
export const layerPlace = (/** @type {AttentionPart} */ part, /** @type {number} */ layer) =>
  `${LETTERS[part]}${layer}`;

/**
 * The attention that is shown; that of a model with one stack of blocks is 'decoder'.
 * @param {Pick<About, 'parts'> | null | undefined} about @param {Pick<State, 'part'>} state
 */
export const shownPart = (about, { part }) =>
  about?.parts.includes(part) ? part : about?.parts.includes('text') ? 'text' : 'decoder';

/**
 * The place of a layer of the attention that is shown.
 * @param {import('../../store/session.js').Session} session @param {number} [layer] default: the chosen one
 */
export function placeOfLayer({ about, state }, layer = state.value.layer) {
  return layerPlace(shownPart(about.value, state.value), layer);
}

/**
 * The value at a head: that of the most specific place that has one.
 * @template T
 * @param {Record<string, T>} map
 * @param {number | string} layer its place, see layerPlace; a number in a model with one stack of blocks
 * @param {number} head
 * @param {T} otherwise
 */
export function effective(map, layer, head, otherwise) {
  return map[`${layer}.${head}`] ?? map[`${layer}`] ?? map[allIn(`${layer}`)] ?? otherwise;
}

/** The temperature's slider: its ends are a tenth and ten, its middle 1, and equal steps are equal factors. */
export const KNOB = { span: 1, step: 0.025 };
export const toKnob = (/** @type {number} */ temperature) => Math.log10(temperature);
/** With three digits every step of the slider is a different temperature. @param {number} knob */
export const toTemperature = (knob) => Number((10 ** knob).toPrecision(3));
/** With all digits that toTemperature keeps. @param {number} temperature */
export const temperatureText = (temperature) => temperature.toFixed(temperature < 1 ? 3 : 2);

/** @param {string} scope @param {number | string} layer its place @param {number} head */
export const placeIn = (scope, layer, head) =>
  scope === 'all' ? allIn(`${layer}`) : scope === 'layer' ? `${layer}` : `${layer}.${head}`;

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
  const inside = (/** @type {string} */ other) => isInside(other, place);
  const rest = Object.fromEntries(Object.entries(map).filter(([other]) => !inside(other)));
  return value === usual && Object.keys(rest).length === 0 ? {} : { ...rest, [place]: value };
}

/** True if a place is another one or within it. @param {string} other @param {string} place */
export const isInside = (other, place) =>
  other === place || (place.endsWith('all') ? allIn(other) === place : other.startsWith(`${place}.`));

/** @param {Run} run @param {number | string} layer its place @param {number} head */
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
 * @param {string} [place] of the chosen layer, see layerPlace
 * @returns {{ kind: 'pinned' | 'with' | 'before' | 'without', run: Run }}
 */
export function otherCase(state, place = `${state.layer}`) {
  const { pinned, head } = state;
  const run = runOf(state);
  const alone = (/** @type {number} */ value) => ({
    ...run,
    scale: withPlace(state.scale, `${place}.${head}`, value, 1),
  });
  if (pinned) return { kind: 'pinned', run: pinned };
  if (effective(state.scale, place, head, 1) !== 1) return { kind: 'with', run: alone(1) };
  if (isChanged(run)) return { kind: 'before', run: { ...run, ...UNCHANGED } };
  return { kind: 'without', run: alone(0) };
}
