// Finds the temperature, mask and scale that apply to a head, and the run with which a prediction is compared.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';

/** @import { About, AttentionPart } from '../../store/protocol.js' */
/** @import { Run, State } from '../../store/state.js' */

/**
 * A place is a text that identifies a head ('3.1'), a layer ('3') or all heads ('all'). The places of some attentions
 * begin with a letter, for example 'e3.1' in the encoder. This table has the letter of each attention, or '' if its
 * places have none.
 * @type {Record<AttentionPart, string>}
 */
const LETTERS = { decoder: '', encoder: 'e', cross: 'c', text: '', vision: 'v' };
/** Returns the place of all heads of an attention, from any place of that attention. @param {string} place */
export const allIn = (place) => `${/^[ecv](?=all|\d)/.exec(place)?.[0] ?? ''}all`;
/** Returns the place of a layer: '3', in an encoder 'e3', in cross-attention 'c3', in an image tower 'v3'. */
export const layerPlace = (/** @type {AttentionPart} */ part, /** @type {number} */ layer) =>
  `${LETTERS[part]}${layer}`;

/**
 * Returns the attention that is shown. It is 'decoder' for a model with one stack of blocks.
 * @param {Pick<About, 'parts'> | null | undefined} about @param {Pick<State, 'part'>} state
 */
export const shownPart = (about, { part }) =>
  about?.parts.includes(part) ? part : about?.parts.includes('text') ? 'text' : 'decoder';

/**
 * Returns the place of a layer of the attention that is shown.
 * @param {import('../../store/session.js').Session} session @param {number} [layer] by default the chosen layer
 */
export function placeOfLayer({ about, state }, layer = state.value.layer) {
  return layerPlace(shownPart(about.value, state.value), layer);
}

/**
 * Returns the value at a head, which is that of the most specific place that has a value.
 * @template T
 * @param {Record<string, T>} map
 * @param {number | string} layer place of the layer, see layerPlace; a number in a model with one stack of blocks
 * @param {number} head
 * @param {T} otherwise
 */
export function effective(map, layer, head, otherwise) {
  return map[`${layer}.${head}`] ?? map[`${layer}`] ?? map[allIn(`${layer}`)] ?? otherwise;
}

/** The slider of the temperature. Its ends are 0.1 and 10, its middle is 1, and equal steps are equal factors. */
export const KNOB = { span: 1, step: 0.025 };
export const toKnob = (/** @type {number} */ temperature) => Math.log10(temperature);
/**
 * Returns the temperature at a position of the slider. It has three digits, so that every step is a different
 * temperature.
 * @param {number} knob
 */
export const toTemperature = (knob) => Number((10 ** knob).toPrecision(3));
/** Returns a temperature with all digits that toTemperature keeps. @param {number} temperature */
export const temperatureText = (temperature) => temperature.toFixed(temperature < 1 ? 3 : 2);

/** @param {string} scope @param {number | string} layer place of the layer @param {number} head */
export const placeIn = (scope, layer, head) =>
  scope === 'all' ? allIn(`${layer}`) : scope === 'layer' ? `${layer}` : `${layer}.${head}`;

/**
 * Returns a map with another value at a place. Values of more specific places within it are removed. A default value is
 * not stored if the map is otherwise empty.
 * @template T
 * @param {Record<string, T>} map
 * @param {string} place
 * @param {T} value
 * @param {T} usual default value
 * @returns {Record<string, T>}
 */
export function withPlace(map, place, value, usual) {
  const inside = (/** @type {string} */ other) => isInside(other, place);
  const rest = Object.fromEntries(Object.entries(map).filter(([other]) => !inside(other)));
  return value === usual && Object.keys(rest).length === 0 ? {} : { ...rest, [place]: value };
}

/** Returns true if a place is equal to another one or within it. @param {string} other @param {string} place */
export const isInside = (other, place) =>
  other === place || (place.endsWith('all') ? allIn(other) === place : other.startsWith(`${place}.`));

/** @param {Run} run @param {number | string} layer place of the layer @param {number} head */
export const isOff = ({ scale }, layer, head) => effective(scale, layer, head, 1) === 0;

/**
 * Returns what replaces the output of a head that is off. The mean is that over the tokens of one run, so a model of
 * speech has none: its decoder reads one token at a time. Neither have heads without a model.
 * @param {Pick<About, 'kind' | 'reads'> | null} about @param {Pick<Run, 'off'>} run
 */
export const replacementOf = (about, { off = 'zero' }) => (hasMean(about) ? off : 'zero');
/** @param {Pick<About, 'kind' | 'reads'> | null} about */
export const hasMean = (about) => about?.kind === 'transformer' && about.reads !== 'sound';

/**
 * Returns true if the comparison is shown: after a change, with a pinned run, or while the pointer or the focus is on
 * `off`.
 * @param {{ kind: string } | null} other @param {boolean} pointed true if the pointer or the focus is on `off`
 */
export const isCompared = (other, pointed) => other !== null && (other.kind !== 'without' || pointed);

/**
 * Returns the run with which the prediction is compared. It is the pinned run; otherwise, if the head is scaled, the
 * run with this head on; otherwise, if anything is changed, the unchanged model; otherwise the run with this head off.
 * @param {State} state
 * @param {string} [place] place of the chosen layer, see layerPlace
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
