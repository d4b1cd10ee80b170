// The tokens at the bottom of flow, and lines from them to a head that attends to them.

import type { Node, Place } from './flowLayout.ts';
import { bent, CORNER, headIn, TRACKS } from './flowLines.ts';
/** side: width on the left, in which there are no tokens */
export type TokenRow = { side: number; width: number; run: { S: number } };
export type Flow = TokenRow & {
  parts: Node[];
  size: number;
  pad: number;
  height: number;
  lineRoom: number;
  toRight: (node: { slot: number }) => boolean;
  middle: (slot: number) => number;
};

/** Pixels after the last token and before the first one. */
const [END, BEGIN] = [12, 10];
/** Minimum distance in pixels between tokens, horizontal and slanted. */
const [LEVEL, SLANTED] = [46, 16];
/** Pixels from the bottom of the drawing to the tokens, and from the top of the tokens' area to the track of lines. */
export const TOKEN_TOP = 24;
const TRACK = 12;

/** Returns true if tokens are slanted, which they are if all of them fit slanted but not horizontally. */
export const isSlanted = ({ side, width, run: { S } }: TokenRow) =>
  S * LEVEL > width - side && (S - 1) * SLANTED <= width - side - END - BEGIN;

/**
 * Returns the positions of tokens: without room for all, the first, the last, and those of the largest weights. `row`:
 * attention weights of the last token.
 */
export function feetOf({ side, width, run }: TokenRow, row: ArrayLike<number>): { s: number; x: number }[] {
  const { S } = run;
  const room = width - side - END;
  const most = isSlanted({ side, width, run }) ? S : Math.max(Math.floor(room / LEVEL), 2);
  let places = Array.from({ length: S }, (_, s) => s);
  if (S > most) {
    const best = places
      .slice(1, -1)
      .sort((a, b) => row[b] - row[a] || a - b)
      .slice(0, most - 2);
    places = places.filter((s) => s === 0 || s === S - 1 || best.includes(s));
  }
  const pitch = (room - BEGIN) / Math.max(places.length - 1, 1);
  return places.map((s, i) => ({ s, x: places.length === 1 ? width - END : side + BEGIN + i * pitch }));
}

/** Minimum attention weight of a token that has a line. */
const MIN_WEIGHT = 0.05;

/** Returns lines from tokens (at y `feet`) to a head that attends to them, in the lane next to its column. */
export function attendedBy(flow: Flow, head: Place, row: ArrayLike<number>, feet: number) {
  const { parts, size, pad, height, toRight, middle, lineRoom } = flow;
  const node = headIn(parts, head);
  if (!node) return [];
  const way = toRight(node) ? -1 : 1;
  const lane = middle(node.slot) + way * (size / 2 + pad + lineRoom * (3.5 / TRACKS));
  const y = node.y + size * 0.85;
  const track = height - feet + TRACK;
  return feetOf(flow, row)
    .filter(({ s }) => row[s] >= MIN_WEIGHT)
    .sort((a, b) => row[a.s] - row[b.s])
    .map(({ s, x }) => {
      const points = [
        [node.x + (way > 0 ? size : 0), y],
        [lane, y],
        [lane, track],
        [x, track],
        [x, height - TOKEN_TOP - 1],
      ];
      return { s, d: bent(points, CORNER), width: 1 + 4 * row[s], points };
    });
}
