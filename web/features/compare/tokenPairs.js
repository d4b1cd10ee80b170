// Pairs the tokens of two runs: equal tokens from the beginning and from the end, and the tokens in between if both
// texts have the same number of tokens. Also defines the colours of a difference.

import { placeOf, toRgb, UNKNOWN, weightAt } from '../heatmap/colourRamp.js';
import { isAhead, looksAhead, weightsOf } from '../reading/derivation.js';

/** @import { Run } from '../../store/types.js' */
/** @import { PinnedHead } from '../../store/protocol.js' */
/** @import { Theme } from '../../ui/palette.js' */
/**
 * @typedef {object} Aligned
 * @property {number} n number of rows of a grid in which the two tokens of a pair share a row
 * @property {(i: number) => number} rowNow row of a token of the current run
 * @property {(j: number) => number} rowOld row of a token of the pinned run
 * @property {(i: number) => number} oldOf the token of the pinned run that is paired with a token of the current run,
 *   -1 for none
 * @property {(j: number) => number} nowOf
 * @property {{ now: number, old: number }[]} places every token once, the two tokens of a pair together; -1 for the run
 *   in which a token has no pair
 */

/**
 * @param {readonly string[]} now names of the tokens of the current run
 * @param {readonly string[]} old names of the tokens of the pinned run
 * @returns {Aligned}
 */
export function align(now, old) {
  const least = Math.min(now.length, old.length);
  let first = 0;
  while (first < least && now[first] === old[first]) first++;
  let last = 0;
  while (last < least - first && now[now.length - 1 - last] === old[old.length - 1 - last]) last++;
  const n = Math.max(now.length, old.length);
  // If both texts have the same number of tokens, the tokens in between are paired in order.
  const even = now.length === old.length;
  const other = (/** @type {number} */ length, /** @type {number} */ far) => (/** @type {number} */ i) =>
    i < first || even ? i : i >= length - last ? i - length + far : -1;
  const row = (/** @type {number} */ length) => (/** @type {number} */ i) => (i >= length - last ? i + n - length : i);
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

/**
 * One of the two runs.
 * @typedef {{ run: Run, T: number, S: number, names: string[], keys: string[], weights: Float32Array }} Side
 */
/**
 * Two runs of a head, and the pairs of their queries (rows) and keys (columns).
 * @typedef {{ now: Side, old: Side | null, full: boolean, rows: Aligned, columns: Aligned }} RunPair
 */
/** @param {Run} run @returns {Side} */
const sideOf = (run) => ({
  run,
  T: run.T,
  S: run.S,
  names: run.pieces.map(({ name }) => name),
  keys: run.keys.map(({ name }) => name),
  weights: weightsOf(run, run.layer, run.head),
});

/**
 * @param {Run} run the current run
 * @param {PinnedHead | null} pinned the pinned run, null if there is none
 * @returns {RunPair}
 */
export function runPairOf(run, pinned) {
  const weights = pinned?.weights;
  const fits = pinned && weights && pinned.T > 0 && pinned.layer === run.layer && pinned.head === run.head;
  const now = sideOf(run);
  const old = fits ? sideOf({ ...pinned, weights, large: true, about: run.about }) : null;
  const ahead = (/** @type {Side} */ { weights, T, S }) => looksAhead(weights, T, S);
  const full = !run.about.causal || ahead(now) || (old !== null && ahead(old));
  const other = old ?? now;
  return { now, old, full, rows: align(now.names, other.names), columns: align(now.keys, other.keys) };
}

/**
 * Returns the weight in a cell of one run; undefined if the run has no such cell.
 * @param {Side} side @param {boolean} full @param {{ t: number, s: number }} cell
 */
export function weightIn({ weights, S }, full, { t, s }) {
  if (t < 0 || s < 0) return undefined;
  const weight = weights[t * S + s];
  return isAhead(weight, t, s, full) ? undefined : weight;
}

/**
 * Returns the difference of two runs, on a grid that has every token of both runs once.
 * @param {RunPair & { old: Side }} runs
 */
export function differenceOf({ now, old, full, rows, columns }) {
  const namesOf = (
    /** @type {string[]} */ side,
    /** @type {string[]} */ other,
    /** @type {Aligned['places']} */ places,
  ) =>
    places.map(({ now: i, old: j }) => {
      if (i < 0) return other[j];
      return j < 0 || side[i] === other[j] ? side[i] : `${side[i]} ⁄ ${other[j]}`;
    });
  /** Returns the cell in the tokens of both runs. @param {number} t @param {number} s */
  const cellOf = (t, s) => ({
    now: { t: rows.places[t].now, s: columns.places[s].now },
    old: { t: rows.places[t].old, s: columns.places[s].old },
  });
  const weights = (/** @type {number} */ t, /** @type {number} */ s) => {
    const cell = cellOf(t, s);
    return [weightIn(now, full, cell.now), weightIn(old, full, cell.old)];
  };
  /**
   * Returns the difference of a cell. If the key is masked in only one of the runs, its weight in that run counts as 0.
   */
  const value = (/** @type {number} */ t, /** @type {number} */ s) => {
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
    /** Returns true if only one run has a weight in the cell. @param {number} t @param {number} s */
    isUnpaired: (t, s) => value(t, s) === undefined && weights(t, s).some((weight) => weight !== undefined),
  };
}

/**
 * OKLCH lightness and chroma at ramp positions 0, ¼, ½, ¾, 1 of |d|. Both signs have the same lightness, but different
 * hues.
 */
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

/** @param {Theme} theme */
function makeSigned(theme) {
  const { L, ...chroma } = STOPS[theme];
  const between = (/** @type {number[]} */ stops, /** @type {number} */ t) => {
    const i = Math.min(Math.floor(t * 4), 3);
    return stops[i] + (t * 4 - i) * (stops[i + 1] - stops[i]);
  };
  const side = (/** @type {'more' | 'less'} */ name) =>
    Array.from({ length: STEPS }, (_, i) => {
      const t = i / (STEPS - 1);
      return toRgb([between(L, t), between(chroma[name], t), HUES[name]]);
    });
  const sides = { more: side('more'), less: side('less') };
  const unknown = toRgb(UNKNOWN[theme]);
  const rgb = (/** @type {number} */ d) =>
    Number.isNaN(d) ? unknown : sides[d < 0 ? 'less' : 'more'][Math.round(placeOf(Math.abs(d)) * (STEPS - 1))];
  return {
    /** @param {number} d */
    css: (d) => `rgb(${rgb(d).join(' ')})`,
    /** Returns the four bytes of a pixel. @param {number} d */
    pixel: (d) => new Uint32Array(new Uint8Array([...rgb(d), 255]).buffer)[0],
    /** Returns true if a number on this colour must be dark. @param {number} d */
    isLight: (d) => (Number.isNaN(d) ? UNKNOWN[theme][0] : between(L, placeOf(Math.abs(d)))) > INK_ABOVE,
  };
}
/** @type {Record<Theme, ReturnType<typeof makeSigned>>} */
export const SIGNED = { light: makeSigned('light'), dark: makeSigned('dark') };

/** Returns the position of a difference on its colour ramp, 0…1. @param {number} d −1…1 */
export const signedPlace = (d) => 0.5 + 0.5 * Math.sign(d) * placeOf(Math.abs(d));
/** Returns the difference at a position on its colour ramp. @param {number} place */
export const differenceAt = (place) => Math.sign(place - 0.5) * weightAt(Math.abs(2 * place - 1));

/** @typedef {{ a: number | null, b: number | null, by: number | null }} Pair */
const hundredths = (/** @type {Pair} */ { a, b, by }) => Math.round(100 * Math.abs(by ?? a ?? b ?? 0));
const largest = (/** @type {Pair} */ { a, b }) => Math.max(a ?? 0, b ?? 0);

/**
 * Returns the keys of a row in descending order of the visible difference, then of the larger weight.
 * @param {Aligned['places']} places of the keys
 * @param {(s: number) => number | null} now the weight of a key in the current run
 * @param {(s: number) => number | null} old
 * @param {number} most
 */
export function rowDifferences(places, now, old, most) {
  return places
    .map((place) => {
      const [a, b] = [place.now < 0 ? null : now(place.now), place.old < 0 ? null : old(place.old)];
      return { ...place, a, b, by: a !== null && b !== null ? a - b : null };
    })
    .filter((pair) => largest(pair) >= 0.005)
    .sort((x, y) => hundredths(y) - hundredths(x) || largest(y) - largest(x))
    .slice(0, most);
}
