// The ribbons of flow, with their paths from the parts to the next token.

import type { Columns, Node, Part, Ribbon, Rows, Widths } from './flowLayout.ts';
import { boxOf, CORNER } from './flowLines.ts';
export type Point = { x: number; y: number };
/** w: width of the ribbon; x: of its middle in the lane */
export type Placed = { part: Node; w: number; start: Point; x: number };
export type RibbonInput = {
  /** parts with a ribbon */
  flowing: Node[];
  widest: Node;
  widths: Widths;
  columns: Columns;
  rows: Rows;
  layers: number;
  top: number;
};

export function ribbonsOf(input: RibbonInput): Ribbon[] {
  const { flowing, widest, widths, rows, top } = input;
  const { apart } = widths;
  const clear = Math.min(CORNER, 0.3 * rows.spread);
  const placed = flowing.map((part) => inLane(part, input)).sort((a, b) => a.x - b.x);
  const main = placed.findIndex(({ part }) => part === widest);
  const ribbons: Ribbon[] = [];
  for (const way of [-1, 1]) {
    // From the widest ribbon outwards, the upper ends of ribbons are next to each other, and each ribbon passes over
    // all ribbons further in.
    let foot = placed[main]?.x;
    let track = rows.rowsTop;
    let before = 0;
    for (let i = way < 0 ? main : main + 1; i >= 0 && i < placed.length; i += way) {
      const { part, w, start, x } = placed[i];
      if (i === main) before = w;
      else {
        const inner = before === 0 ? placed[main].w : before;
        foot += way * (inner / 2 + apart + w / 2);
        before = w;
      }
      const turns = [];
      if (Math.abs(x - start.x) > 0.01) turns.push({ y: rows.rows[part.layer].y - clear - w / 2, x });
      if (i !== main && Math.abs(foot - x) > 0.01) {
        turns.push({ y: track - w / 2, x: foot });
        track -= w + apart;
      }
      ribbons.push({ ...partOf(part), value: part.value, width: w, foot, ...ribbonOf(start, turns, top, w) });
    }
  }
  return ribbons;
}

/** Returns a ribbon's width, beginning, and place in the lane, where ribbons from lower layers are further out. */
function inLane(part: Node, { flowing, widths, columns, rows: { size }, layers }: RibbonInput): Placed {
  const { apart } = widths;
  const wide = (value: number) => Math.max(value * widths.scale, widths.thin);
  const w = wide(part.value);
  const start = { x: columns.middle(part.slot), y: part.y };
  if (part.kind === 'embed') return { part, w, start: { ...start, x: part.x }, x: part.x };
  if (part.layer === layers - 1) return { part, w, start, x: start.x };
  const right = columns.toRight(part);
  // A ribbon of the top layer may be wider than its thumbnail, and then lanes begin further out.
  const above = flowing.find((other) => other.layer === layers - 1 && other.slot === part.slot);
  let out = Math.max(size / 2 + columns.pad, above ? wide(above.value) / 2 + apart : 0, part.width / 2 + columns.pad);
  for (const other of flowing)
    if (other.slot === part.slot && other.layer > part.layer && other.layer < layers - 1)
      out += wide(other.value) + apart;
  return { part, w, start, x: start.x + (right ? 1 : -1) * (out + w / 2) };
}

const partOf = ({ kind, layer, head }: Part): Part => ({ kind, layer, head });

/** Returns points on a quarter of an ellipse from one corner to another. */
function corner(x: number, y: number, toX: number, toY: number, upFirst = true) {
  return Array.from({ length: 7 }, (_, i) => {
    const angle = (i / 6) * (Math.PI / 2);
    const [a, b] = [1 - Math.cos(angle), Math.sin(angle)];
    return upFirst ? [x + (toX - x) * a, y + (toY - y) * b] : [x + (toX - x) * b, y + (toY - y) * a];
  });
}

/** Returns the outline of a ribbon that goes up, moves sideways at each turn, and ends at a height. */
function ribbonOf(start: { x: number; y: number }, turns: { x: number; y: number }[], end: number, w: number) {
  const half = w / 2;
  const [left, right] = [[[start.x - half, start.y]], [[start.x + half, start.y]]];
  const boxes = [];
  let { x, y } = start;
  for (const turn of turns) {
    const dx = turn.x - x;
    const [low, high] = [turn.y + half, turn.y - half];
    boxes.push(boxOf(x - half, high, x + half, y), boxOf(Math.min(x, turn.x), high, Math.max(x, turn.x), low));
    // If the radius is negative there is no room for two corners, so the ribbon is a smooth curve.
    const inner = Math.min((Math.abs(dx) - w) / 2, CORNER, Math.max(y - low, 0));
    if (inner < 0) {
      for (let i = 0; i <= 12; i++) {
        const share = i / 12;
        const at = x + dx * share * share * (3 - 2 * share);
        left.push([at - half, low + (high - low) * share]);
        right.push([at + half, low + (high - low) * share]);
      }
    } else {
      const way = Math.sign(dx);
      const outer = inner + w;
      // The edge on the outside of the first corner is on the inside of the second.
      const [first, second] = way > 0 ? [left, right] : [right, left];
      first.push(
        ...corner(x - way * half, low + inner, x - way * half + way * outer, high),
        ...corner(turn.x - way * half - way * inner, high, turn.x - way * half, high - inner, false),
      );
      second.push(
        ...corner(x + way * half, low + inner, x + way * half + way * inner, low),
        ...corner(turn.x + way * half - way * outer, low, turn.x + way * half, low - outer, false),
      );
    }
    x = turn.x;
    y = turn.y + half;
  }
  left.push([x - half, end]);
  right.push([x + half, end]);
  boxes.push(boxOf(x - half, end, x + half, y));
  const points = [...left, ...right.reverse()].map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`);
  return { d: `M${points.join('L')}Z`, boxes };
}
