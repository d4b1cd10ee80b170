// The axes of the map of all heads: the value of each head on an axis, and scales from values to pixels.

import type { AtlasMap, AtlasMeasure, AtlasRole } from '../../model/protocol/atlasProtocol.ts';
export type AxisName =
  | 'distance'
  | 'variation'
  | 'spread'
  | 'previous'
  | 'itself'
  | 'induction'
  | 'duplicate'
  | 'first'
  | 'cost';
export type Tick = { value: number; at: number };
export type Scale = { at: (value: number) => number; ticks: Tick[]; least: number; most: number };

/** The axes in numbers of tokens, with the value at which each begins. Each mark has twice the previous value. */
const TOKENS = { distance: 0, variation: 0, spread: 1 };
/** All axes. An axis that is not in TOKENS shows a share of the attention weight, except cost, which is in bits. */
export const AXES: AxisName[] = [
  'distance',
  'variation',
  'spread',
  'previous',
  'itself',
  'induction',
  'duplicate',
  'first',
  'cost',
];

/** The largest value on an axis in tokens is at least this. */
const MIN_TOKENS = 8;
/** Approximate number of steps of a linear axis. */
const STEPS = 5;

const isInTokens = (name: string): name is keyof typeof TOKENS => Object.hasOwn(TOKENS, name);

/** Returns the mean weight on the tokens of a role: over the rows that count for the role, or else over all rows. */
const weightOn = ({ means, measures }: AtlasMap, role: AtlasRole, measure: AtlasMeasure, head: number) =>
  (means[role] ?? measures[measure])[head];

const VALUES: Record<AxisName, (map: AtlasMap, head: number) => number> = {
  distance: ({ measures }, head) => measures.distance[head],
  variation: ({ measures }, head) => Math.sqrt(Math.max(measures.distanceVariance[head], 0)),
  spread: ({ measures }, head) => Math.exp(measures.entropy[head]),
  previous: (map, head) => weightOn(map, 'previous', 'previous', head),
  itself: (map, head) => weightOn(map, 'itself', 'selfAttention', head),
  induction: (map, head) => weightOn(map, 'induction', 'induction', head),
  duplicate: (map, head) => weightOn(map, 'duplicate', 'duplicate', head),
  first: (map, head) => weightOn(map, 'first', 'first', head),
  cost: ({ costs }, head) => costs?.[head] ?? Number.NaN,
};

/** Returns the value of each head on an axis, by l·H + h. A head without a value on this axis has NaN. */
export const valuesOn = (map: AtlasMap, name: AxisName) =>
  Array.from({ length: map.layers * map.heads }, (_, head) => VALUES[name](map, head));

/** Returns the axes on which at least two heads have a value. */
export const axesOf = (map: AtlasMap) => AXES.filter((name) => valuesOn(map, name).filter(Number.isFinite).length > 1);

/** Returns the names of both axes: those of the state (`axes`) if the map has values for them, else the default. */
export function shownAxes(map: AtlasMap, axes: string): AxisName[] {
  const known = axesOf(map);
  return axes.split('.').map((name, i) => known.find((axis) => axis === name) ?? (i === 0 ? 'distance' : 'spread'));
}

/** `from`, `to`: positions of the least and the largest value, in pixels. */
export function scaleOf(name: AxisName, values: number[], from: number, to: number): Scale {
  const known = values.filter(Number.isFinite);
  const largest = known.reduce((most, value) => Math.max(most, value), 0);
  return isInTokens(name)
    ? doublingScale(TOKENS[name], largest, from, to)
    : linearScale(Math.min(0, ...known), name === 'cost' ? largest : Math.max(largest, 0.01), from, to);
}

function doublingScale(least: number, largest: number, from: number, to: number): Scale {
  // On an axis from 0 the first step is from 0 to 1, because no doubling reaches 0.
  const place = (value: number) => Math.log2(value + 1 - least);
  const most = Math.max(MIN_TOKENS, 2 ** Math.ceil(Math.log2(Math.max(largest, 1))));
  const at = (value: number) => from + ((to - from) * place(Math.max(value, least))) / place(most);
  const steps = Array.from({ length: Math.log2(most) + 1 }, (_, i) => 2 ** i);
  const ticks = (least === 0 ? [0, ...steps] : steps).map((value) => ({ value, at: at(value) }));
  return { at, ticks, least, most };
}

function linearScale(least: number, largest: number, from: number, to: number): Scale {
  const span = Math.max(largest - least, 1e-6);
  const power = 10 ** Math.floor(Math.log10(span / STEPS));
  const step = power * ([1, 2, 5, 10].find((factor) => (factor * power * STEPS) / span >= 0.999) ?? 10);
  const [low, high] = [Math.floor(least / step + 1e-9), Math.ceil(largest / step - 1e-9)];
  const at = (value: number) => from + ((to - from) * (value - low * step)) / ((high - low) * step);
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => {
    const value = Number(((low + i) * step).toPrecision(6));
    return { value, at: at(value) };
  });
  return { at, ticks, least: low * step, most: high * step };
}
