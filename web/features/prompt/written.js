// The part of the text that the model has written.

/** @import { Piece } from './tokens.js' */

/**
 * The first token that the model has written; the number of tokens if there is none.
 * @param {{ written: number | null }} state @param {{ pieces: readonly Piece[] } | null} run
 */
export function writtenFrom({ written }, run) {
  const pieces = run?.pieces ?? [];
  const from = written === null ? -1 : pieces.findIndex(({ start, space }) => start + space.length >= written);
  return from < 0 ? pieces.length : from;
}
