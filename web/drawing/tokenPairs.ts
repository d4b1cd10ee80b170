// Pairs the tokens of two runs: equal tokens from the beginning and from the end, and the tokens in between if both
// texts have the same number of tokens. Also defines the colours of a difference.

import { isAhead, looksAhead, weightsOf } from '../model/derivation.ts';
import type { PinnedHead } from '../model/protocol/protocol.ts';
import type { Run } from '../model/types.ts';
import type { Theme } from '../ui/palette.ts';
import { placeOf, toRgb, UNKNOWN, weightAt } from './colourRamp.ts';
export type Aligned = {
  /** number of rows of a grid in which the two tokens of a pair share a row */
  n: number;
  /** row of a token of the current run */
  rowNow: (i: number) => number;
  /** row of a token of the pinned run */
  rowOld: (j: number) => number;
  /** the token of the pinned run that is paired with a token of the current run, -1 for none */
  oldOf: (i: number) => number;
  nowOf: (j: number) => number;
  /** every token once, the two tokens of a pair together; -1 for the run in which a token has no pair */
  places: { now: number; old: number }[];
};

export function align(now: readonly string[], old: readonly string[]): Aligned {
  const least = Math.min(now.length, old.length);
  let first = 0;
  while (first < least && now[first] === old[first]) first++;
  let last = 0;
  while (last < least - first && now[now.length - 1 - last] === old[old.length - 1 - last]) last++;
  const n = Math.max(now.length, old.length);
  // If both texts have the same number of tokens, the tokens in between are paired in order.
  const even = now.length === old.length;
  const other = (length: number, far: number) => (i: number) =>
    i < first || even ? i : i >= length - last ? i - length + far : -1;
  const row = (length: number) => (i: number) => (i >= length - last ? i + n - length : i);
  const oldOf = other(now.length, old.length);
  const places = now.map((_, i) => ({ now: i, old: oldOf(i) }));
  const alone = old.map((_, j) => ({ now: -1, old: j })).filter(({ old: j }) => j >= first && j < old.length - last);
  if (!even) places.splice(now.length - last, 0, ...alone);
  return {
    n,
    rowNow: row(now.length),
    rowOld: row(old.length),
    oldOf,
    nowOf: other(old.length, now.length),
    places,
  };
}

export type Side = { run: Run; T: number; S: number; names: string[]; keys: string[]; weights: Float32Array };
/** Two runs of a head, and the pairs of their queries (rows) and keys (columns). */
export type RunPair = { now: Side; old: Side | null; full: boolean; rows: Aligned; columns: Aligned };
const sideOf = (run: Run): Side => ({
  run,
  T: run.T,
  S: run.S,
  names: run.pieces.map(({ name }) => name),
  keys: run.keys.map(({ name }) => name),
  weights: weightsOf(run, run.layer, run.head) as Float32Array,
});

export function runPairOf(run: Run, pinned: PinnedHead | null): RunPair {
  const weights = pinned?.weights;
  const fits = pinned && weights && pinned.T > 0 && pinned.layer === run.layer && pinned.head === run.head;
  const now = sideOf(run);
  const old = fits ? sideOf({ ...pinned, weights, large: true, about: run.about }) : null;
  const ahead = ({ weights, T, S }: Side) => looksAhead(weights, T, S);
  const full = !run.about.causal || ahead(now) || (old !== null && ahead(old));
  const other = old ?? now;
  return { now, old, full, rows: align(now.names, other.names), columns: align(now.keys, other.keys) };
}

/** Returns the weight in a cell of one run; undefined if the run has no such cell. */
export function weightIn({ weights, S }: Side, full: boolean, { t, s }: { t: number; s: number }) {
  if (t < 0 || s < 0) return undefined;
  const weight = weights[t * S + s];
  return isAhead(weight, t, s, full) ? undefined : weight;
}

/** Returns the difference of two runs, on a grid that has every token of both runs once. */
export function differenceOf({ now, old, full, rows, columns }: RunPair & { old: Side }) {
  const namesOf = (side: string[], other: string[], places: Aligned['places']) =>
    places.map(({ now: i, old: j }) => {
      if (i < 0) return other[j];
      return j < 0 || side[i] === other[j] ? side[i] : `${side[i]} ⁄ ${other[j]}`;
    });
  const cellOf = (t: number, s: number) => ({
    now: { t: rows.places[t].now, s: columns.places[s].now },
    old: { t: rows.places[t].old, s: columns.places[s].old },
  });
  const weights = (t: number, s: number) => {
    const cell = cellOf(t, s);
    return [weightIn(now, full, cell.now), weightIn(old, full, cell.old)];
  };
  /** A key that is masked in only one of the runs counts as weight 0 there. */
  const value = (t: number, s: number) => {
    const cell = cellOf(t, s);
    const [a, b] = weights(t, s);
    const pair = [cell.now, cell.old].every((at) => at.t >= 0 && at.s >= 0);
    return pair && (a !== undefined || b !== undefined) ? (a ?? 0) - (b ?? 0) : undefined;
  };
  return {
    names: namesOf(now.names, old.names, rows.places),
    keys: namesOf(now.keys, old.keys, columns.places),
    cellOf,
    value,
    /** Returns true if only one run has a weight in the cell. */
    isUnpaired: (t: number, s: number) =>
      value(t, s) === undefined && weights(t, s).some((weight) => weight !== undefined),
  };
}

/** OKLCH lightness and chroma at 0, ¼, ½, ¾, 1 of |d|. Both signs have the same lightness, but different hues. */
const STOPS = {
  light: {
    L: [0.962, 0.865, 0.68, 0.47, 0.29],
    more: [0, 0.06, 0.15, 0.165, 0.11],
    less: [0, 0.05, 0.105, 0.08, 0.05],
  },
  dark: { L: [0.235, 0.36, 0.53, 0.74, 0.94], more: [0, 0.09, 0.16, 0.14, 0.04], less: [0, 0.06, 0.09, 0.12, 0.05] },
};
const HUES = { more: 318, less: 192 };
const STEPS = 128;
const INK_ABOVE = 0.62;

function makeSigned(theme: Theme) {
  const { L, ...chroma } = STOPS[theme];
  const between = (stops: number[], t: number) => {
    const i = Math.min(Math.floor(t * 4), 3);
    return stops[i] + (t * 4 - i) * (stops[i + 1] - stops[i]);
  };
  const side = (name: 'more' | 'less') =>
    Array.from({ length: STEPS }, (_, i) => {
      const t = i / (STEPS - 1);
      return toRgb([between(L, t), between(chroma[name], t), HUES[name]]);
    });
  const sides = { more: side('more'), less: side('less') };
  const unknown = toRgb(UNKNOWN[theme]);
  const rgb = (d: number) =>
    Number.isNaN(d) ? unknown : sides[d < 0 ? 'less' : 'more'][Math.round(placeOf(Math.abs(d)) * (STEPS - 1))];
  return {
    css: (d: number) => `rgb(${rgb(d).join(' ')})`,
    pixel: (d: number) => new Uint32Array(new Uint8Array([...rgb(d), 255]).buffer)[0],
    /** Returns true if a number on this colour must be dark. */
    isLight: (d: number) => (Number.isNaN(d) ? UNKNOWN[theme][0] : between(L, placeOf(Math.abs(d)))) > INK_ABOVE,
  };
}
export const SIGNED: Record<Theme, ReturnType<typeof makeSigned>> = {
  light: makeSigned('light'),
  dark: makeSigned('dark'),
};

/** Returns the position of a difference, −1…1, on its colour ramp, 0…1. */
export const signedPlace = (d: number) => 0.5 + 0.5 * Math.sign(d) * placeOf(Math.abs(d));
/** Returns the difference at a position on its colour ramp. */
export const differenceAt = (place: number) => Math.sign(place - 0.5) * weightAt(Math.abs(2 * place - 1));

export type Pair = { a: number | null; b: number | null; by: number | null };
const hundredths = ({ a, b, by }: Pair) => Math.round(100 * Math.abs(by ?? a ?? b ?? 0));
const largest = ({ a, b }: Pair) => Math.max(a ?? 0, b ?? 0);

/** Returns a row's keys, the largest visible difference first, then the larger weight. `now`: a key's weight now. */
export function rowDifferences(
  places: Aligned['places'],
  now: (s: number) => number | null,
  old: (s: number) => number | null,
  most: number,
) {
  return places
    .map((place) => {
      const [a, b] = [place.now < 0 ? null : now(place.now), place.old < 0 ? null : old(place.old)];
      return { ...place, a, b, by: a !== null && b !== null ? a - b : null };
    })
    .filter((pair) => largest(pair) >= 0.005)
    .sort((x, y) => hundredths(y) - hundredths(x) || largest(y) - largest(x))
    .slice(0, most);
}
