// The lines of flow between heads. A line shows the composition of an upper head with a lower head.

import type { Box, Columns, Composition, Line, Node, Place } from './flowLayout.ts';

/** The inner radius of corners, in pixels. */
export const CORNER = 6;
const KINDS = ['q', 'k', 'v'] as const;
/** Tracks in the lane next to a column: one per kind of composition, and one for lines from tokens to a head. */
export const TRACKS = 4;

export const headIn = (parts: Node[], { layer, head }: Place) =>
  parts.find((part) => part.kind === 'head' && part.layer === layer && part.head === head);

export function linesOf({
  compositions,
  parts,
  hide,
  columns,
  size,
  spread,
}: {
  compositions: Composition[];
  parts: Node[];
  hide: number;
  columns: Columns;
  size: number;
  /** pixels between rows */
  spread: number;
}): Line[] {
  const { toRight, middle, lineRoom, pad } = columns;
  const strongest = compositions.reduce((most, { value }) => Math.max(most, value), 1e-9);
  // Below the upper head, lines of each kind of composition have a different height.
  const step = Math.min(6, spread / 5);
  return compositions
    .filter(({ value }) => value >= hide)
    .sort((a, b) => a.value - b.value)
    .flatMap((composition) => {
      const [from, to] = [headIn(parts, composition.from), headIn(parts, composition.to)];
      if (!from || !to) return [];
      const kind = KINDS.indexOf(composition.kind);
      const w = (1 + 4 * (composition.value / strongest)) * Math.min(step / 5, 1);
      const way = toRight(from) ? -1 : 1;
      const lane = middle(from.slot) + way * (size / 2 + pad + lineRoom * ((kind + 0.5) / TRACKS));
      const track = to.y + size + step * (1.2 + kind);
      const port = to.x + size * (0.25 + 0.25 * kind);
      const points = [
        [from.x + (way > 0 ? size : 0), from.y + size * (0.3 + 0.2 * kind)],
        [lane, from.y + size * (0.3 + 0.2 * kind)],
        [lane, track],
        [port, track],
        [port, to.y + size + 1],
      ];
      return [{ ...composition, width: w, d: bent(points, CORNER), boxes: boxesAlong(points, w) }];
    });
}

/** Returns the path of a line with round corners. */
export function bent(points: number[][], radius: number) {
  const text = ([x, y]: number[]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const towards = (a: number[], b: number[], by: number) => {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const share = Math.min(by / length, 0.5);
    return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
  };
  let d = `M${text(points[0])}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [before, after] = [points[i - 1], points[i + 1]].map((end) => text(towards(points[i], end, radius)));
    d += `L${before}Q${text(points[i])} ${after}`;
  }
  return `${d}L${text(points[points.length - 1])}`;
}

const boxesAlong = (points: number[][], w: number) =>
  points.slice(1).map(([x, y], i) => {
    const [a, b] = points[i];
    return boxOf(Math.min(a, x) - w / 2, Math.min(b, y) - w / 2, Math.max(a, x) + w / 2, Math.max(b, y) + w / 2);
  });

export const boxOf = (left: number, top: number, right: number, bottom: number): Box => ({
  x: left,
  y: top,
  width: right - left,
  height: bottom - top,
});
