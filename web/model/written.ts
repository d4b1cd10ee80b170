// Finds the part of the text that the model has written.

import type { Piece } from './tokens.ts';

/** Returns the first token that the model has written; the number of tokens if it has written none. */
export function writtenFrom({ written }: { written: number | null }, run: { pieces: readonly Piece[] } | null) {
  const pieces = run?.pieces ?? [];
  const from = written === null ? -1 : pieces.findIndex(({ start, space }) => start + space.length >= written);
  return from < 0 ? pieces.length : from;
}
