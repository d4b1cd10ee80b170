// Finds the temperature, mask and scale that apply to a head, and the run with which a prediction is compared.

import type { About, AttentionPart } from './protocol/protocol.ts';
import { isChanged, runOf, UNCHANGED } from './runInput.ts';
import type { Run, State } from './state.ts';

/**
 * A place is a head ('3.1'), a layer ('3') or all heads ('all'). The places of some attentions begin with a letter,
 * such as 'e3.1' in the encoder: this table has the letter of each attention, or ''.
 */
const LETTERS: Record<AttentionPart, string> = { decoder: '', encoder: 'e', cross: 'c', text: '', vision: 'v' };
/** Returns the place of all heads of an attention, from any place of that attention. */
export const allIn = (place: string) => `${/^[ecv](?=all|\d)/.exec(place)?.[0] ?? ''}all`;
/** Returns the place of a layer: '3', in an encoder 'e3', in cross-attention 'c3', in an image tower 'v3'. */
export const layerPlace = (part: AttentionPart, layer: number) => `${LETTERS[part]}${layer}`;

/** Returns the attention that is shown. It is 'decoder' for a model with one stack of blocks. */
export const shownPart = (about: Pick<About, 'parts'> | null | undefined, { part }: Pick<State, 'part'>) =>
  about?.parts.includes(part) ? part : about?.parts.includes('text') ? 'text' : 'decoder';

/**
 * Returns the place of a layer of the attention that is shown.
 * @param layer by default the chosen layer
 */
export function placeOfLayer(
  { about, state }: { about: { value: About | null }; state: { value: State } },
  layer = state.value.layer,
) {
  return layerPlace(shownPart(about.value, state.value), layer);
}

/** Returns the value of the most specific place for a head. `layer`: its place; a number with one stack of blocks. */
export function effective<T>(map: Record<string, T>, layer: number | string, head: number, otherwise: T) {
  return map[`${layer}.${head}`] ?? map[`${layer}`] ?? map[allIn(`${layer}`)] ?? otherwise;
}

/** The slider of the temperature. Its ends are 0.1 and 10, its middle is 1, and equal steps are equal factors. */
export const KNOB = { span: 1, step: 0.025 };
export const toKnob = (temperature: number) => Math.log10(temperature);
/** Returns the temperature at a slider position, with three digits, so that every step is a different one. */
export const toTemperature = (knob: number) => Number((10 ** knob).toPrecision(3));
/** Returns a temperature with all digits that toTemperature keeps. */
export const temperatureText = (temperature: number) => temperature.toFixed(temperature < 1 ? 3 : 2);

/** `layer`: place of the layer */
export const placeIn = (scope: string, layer: number | string, head: number) =>
  scope === 'all' ? allIn(`${layer}`) : scope === 'layer' ? `${layer}` : `${layer}.${head}`;

/** Returns a map with a value at a place, and none inside it. The default, `usual`, is not stored in an empty map. */
export function withPlace<T>(map: Record<string, T>, place: string, value: T, usual: T): Record<string, T> {
  const inside = (other: string) => isInside(other, place);
  const rest = Object.fromEntries(Object.entries(map).filter(([other]) => !inside(other)));
  return value === usual && Object.keys(rest).length === 0 ? {} : { ...rest, [place]: value };
}

export const isInside = (other: string, place: string) =>
  other === place || (place.endsWith('all') ? allIn(other) === place : other.startsWith(`${place}.`));

/** `layer`: place of the layer */
export const isOff = ({ scale }: Run, layer: number | string, head: number) => effective(scale, layer, head, 1) === 0;

/**
 * Returns what replaces the output of a head that is off. The mean is over the tokens of one run, so a model of speech,
 * whose decoder reads one token at a time, has none. Neither have heads without a model.
 */
export const replacementOf = (about: Pick<About, 'kind' | 'reads'> | null, { off = 'zero' }: Pick<Run, 'off'>) =>
  hasMean(about) ? off : 'zero';
export const hasMean = (about: Pick<About, 'kind' | 'reads'> | null) =>
  about?.kind === 'transformer' && about.reads !== 'sound';

/** Returns true after a change, with a pinned run, or with pointer or focus on `off` (`pointed`). */
export const isCompared = (other: { kind: string } | null, pointed: boolean) =>
  other !== null && (other.kind !== 'without' || pointed);

/**
 * Returns the run to compare with: the pinned one; else, if the head is scaled, with this head on; else, if anything is
 * changed, the unchanged model; else with this head off. `place`: of the chosen layer.
 */
export function otherCase(
  state: State,
  place: string = `${state.layer}`,
): { kind: 'pinned' | 'with' | 'before' | 'without'; run: Run } {
  const { pinned, head } = state;
  const run = runOf(state);
  const alone = (value: number) => ({
    ...run,
    scale: withPlace(state.scale, `${place}.${head}`, value, 1),
  });
  if (pinned) return { kind: 'pinned', run: pinned };
  if (effective(state.scale, place, head, 1) !== 1) return { kind: 'with', run: alone(1) };
  if (isChanged(run)) return { kind: 'before', run: { ...run, ...UNCHANGED } };
  return { kind: 'without', run: alone(0) };
}
