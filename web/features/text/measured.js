// The numbers of a text that have been measured so far: the surprise of each token and the mean surprise along the
// text, in this case and in the other case. Surprise is measured in bits: −log₂ of the probability.

/** @import { Measured, Tokens } from '../../store/surprise.js' */
/** @import { SurprisedToken } from '../../store/surpriseProtocol.js' */
/** @import { Piece } from '../prompt/tokens.js' */

/** @param {SurprisedToken | undefined} token */
export const bitsOf = (token) => (token ? Math.max(-Math.log2(token.probability), 0) : Number.NaN);

/** The other case is drawn where it differs by at least this many bits. */
export const MIN_DIFFERENCE = 0.5;

/**
 * Returns the bits that a token costs more in the other case; NaN if one of the two cases is unknown.
 * @param {Measured} measured @param {number} t
 */
export const costOf = ({ now, other }, t) => bitsOf(other[t]) - bitsOf(now[t]);

/**
 * Returns how many bits a token costs more after a change than before it. If the other case is the model without a
 * head, switching the head off is the change; otherwise the other case is the run before the change.
 * @param {Measured} measured @param {number} t
 */
export const changeOf = (measured, t) => (measured.kind === 'without' ? 1 : -1) * costOf(measured, t);

/** Returns true if the other case is drawn at a token. @param {Measured} measured @param {number} t */
export const differs = (measured, t) => Math.abs(costOf(measured, t)) >= MIN_DIFFERENCE;

/** Number of tokens on each side of a token that are included in the mean. */
const REACH = 5;

/**
 * Returns the mean surprise of eleven tokens around each token, without those that are unknown; NaN if all are unknown.
 * @param {Tokens} tokens @param {number} T
 */
export function meansOf(tokens, T) {
  const bits = Array.from({ length: T }, (_, t) => bitsOf(tokens[t]));
  return bits.map((_, t) => mean(bits.slice(Math.max(t - REACH, 0), t + REACH + 1).filter((x) => !Number.isNaN(x))));
}

const mean = (/** @type {number[]} */ list) => list.reduce((sum, x) => sum + x, 0) / list.length;

/**
 * Returns the numbers of the whole text. If there is a run in the other case, only tokens that are known in both runs
 * count.
 * @param {Measured} measured
 */
export function summaryOf(measured) {
  const { now, other } = measured;
  const places = now.flatMap((token) => (token ? [token.t] : []));
  const both = places.filter((t) => other[t]);
  const of = (/** @type {Tokens} */ tokens, /** @type {number[]} */ list) => ({
    bits: mean(list.map((t) => bitsOf(tokens[t]))),
    first: mean(list.map((t) => Number(tokens[t]?.first))),
  });
  const shown = both.length > 0 ? both : places;
  return {
    count: shown.length,
    now: of(now, shown),
    other: both.length > 0 ? of(other, both) : null,
    dearer: both.filter((t) => changeOf(measured, t) >= MIN_DIFFERENCE).length,
  };
}

/**
 * Returns the tokens at which the other case differs most, either only where it costs more, or in both directions.
 * @param {Measured} measured @param {{ count: number, both: boolean }} how
 */
export function largestCosts(measured, { count, both }) {
  const size = (/** @type {number} */ t) => (both ? Math.abs(costOf(measured, t)) : costOf(measured, t));
  return measured.now
    .flatMap((token) => (token && size(token.t) >= MIN_DIFFERENCE ? [token.t] : []))
    .sort((a, b) => size(b) - size(a))
    .slice(0, count);
}

/**
 * Returns the groups of tokens between two spaces, which stay on one line, each with its first token and the one after
 * its last.
 * @param {readonly Piece[]} pieces
 * @returns {[from: number, to: number][]}
 */
export function unbroken(pieces) {
  /** @type {[number, number][]} */
  const groups = [];
  pieces.forEach(({ space }, t) => {
    if (t === 0 || space !== '') groups.push([t, t + 1]);
    else groups[groups.length - 1][1] = t + 1;
  });
  return groups;
}
