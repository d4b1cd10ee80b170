// The numbers of a text that have been measured so far: the surprise of each token and the mean surprise along the
// text, in this case and in the other case. Surprise is measured in bits: −log₂ of the probability.

import type { SurprisedToken } from '../../model/protocol/surpriseProtocol.ts';
import type { Piece } from '../../model/tokens.ts';
import type { Measured, Tokens } from '../../store/measured/surprise.ts';

export const bitsOf = (token: SurprisedToken | undefined) =>
  token ? Math.max(-Math.log2(token.probability), 0) : Number.NaN;

/** The other case is drawn where it differs by at least this many bits. */
export const MIN_DIFFERENCE = 0.5;

/** Returns the bits that a token costs more in the other case; NaN if one of the two cases is unknown. */
export const costOf = ({ now, other }: Measured, t: number) => bitsOf(other[t]) - bitsOf(now[t]);

/** Returns how many bits a token costs more after a change: the removal of a head, or that since the other run. */
export const changeOf = (measured: Measured, t: number) => (measured.kind === 'without' ? 1 : -1) * costOf(measured, t);

/** Returns true if the other case is drawn at a token. */
export const differs = (measured: Measured, t: number) => Math.abs(costOf(measured, t)) >= MIN_DIFFERENCE;

/** Number of tokens on each side of a token that are included in the mean. */
const REACH = 5;

/**
 * Returns the mean surprise of eleven tokens around each token, without those that are unknown; NaN if all are unknown.
 */
export function meansOf(tokens: Tokens, T: number) {
  const bits = Array.from({ length: T }, (_, t) => bitsOf(tokens[t]));
  return bits.map((_, t) => mean(bits.slice(Math.max(t - REACH, 0), t + REACH + 1).filter((x) => !Number.isNaN(x))));
}

const mean = (list: number[]) => list.reduce((sum, x) => sum + x, 0) / list.length;

/** Returns the numbers of the whole text; with a run in the other case, over the tokens known in both. */
export function summaryOf(measured: Measured) {
  const { now, other } = measured;
  const places = now.flatMap((token) => (token ? [token.t] : []));
  const both = places.filter((t) => other[t]);
  const of = (tokens: Tokens, list: number[]) => ({
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

/** Returns the tokens at which the other case differs most, either only where it costs more, or in both directions. */
export function largestCosts(measured: Measured, { count, both }: { count: number; both: boolean }) {
  const size = (t: number) => (both ? Math.abs(costOf(measured, t)) : costOf(measured, t));
  return measured.now
    .flatMap((token) => (token && size(token.t) >= MIN_DIFFERENCE ? [token.t] : []))
    .sort((a, b) => size(b) - size(a))
    .slice(0, count);
}

/** Returns the groups of tokens between spaces, kept on one line: each first token and the one after its last. */
export function unbroken(pieces: readonly Piece[]): [from: number, to: number][] {
  const groups: [number, number][] = [];
  pieces.forEach(({ space }, t) => {
    if (t === 0 || space !== '') groups.push([t, t + 1]);
    else groups[groups.length - 1][1] = t + 1;
  });
  return groups;
}
