// Finds the part of the text that the model has written.

/** @import { Piece } from './tokens.js' */

/**
 * Returns the first token that the model has written; the number of tokens if it has written none.
 * @param {{ written: number | null }} state @param {{ pieces: readonly Piece[] } | null} run
 */
export function writtenFrom({ written }, run) {
  const pieces = run?.pieces ?? [];
  const from = written === null ? -1 : pieces.findIndex(({ start, space }) => start + space.length >= written);
  return from < 0 ? pieces.length : from;
}
