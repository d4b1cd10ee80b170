// Chooses the positions of the pictures of heads on the map. A picture is at the values of its head, unless it would
// cover another picture. Then it is moved, and a line leads to its values.

import type { Box, Point, Size } from './placeLabels.ts';
/** side: of a picture, in pixels; points: their centres; captions: true if names of roles fit below the pictures. */
export type Pictures = { side: number; points: Point[]; captions: boolean };

/** Sides of a picture, of which the largest one that fits is chosen. */
const SIDES = [32, 24, 18];
/** Height of a line of text below a picture, and the gap between two pictures. */
export const LINE = 15;
const GAP = 4;
/** Pictures fit if they cover at most this share of the map. */
const MAX_COVERED = 0.45;
/** Distance in pixels between places that are tried. */
const RING = 6;

/** Returns the free point nearest to a point, at most `most` pixels away; null if there is none. */
function nearestFree({ x, y }: Point, most: number, isFree: (point: Point) => boolean) {
  if (isFree({ x, y })) return { x, y };
  for (let radius = RING; radius <= most; radius += RING) {
    const count = Math.max(8, Math.round((2 * Math.PI * radius) / RING));
    for (let i = 0; i < count; i++) {
      const angle = (2 * Math.PI * i) / count;
      const point = { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
      if (isFree(point)) return point;
    }
  }
  return null;
}

/** Moves each box to the nearest free place, those with few overlaps first, so that they stay. Null without room. */
export function separate(centres: readonly Point[], sizes: readonly Size[], room: Box): Point[] | null {
  const inside = ({ x, y }: Point, { width, height }: Size) => ({
    x: Math.min(Math.max(x, room.x + width / 2), room.x + room.width - width / 2),
    y: Math.min(Math.max(y, room.y + height / 2), room.y + room.height - height / 2),
  });
  const wanted = centres.map((centre, i) => inside(centre, sizes[i]));
  const areApart = (i: number, a: Point, j: number, b: Point) =>
    2 * Math.abs(a.x - b.x) >= sizes[i].width + sizes[j].width ||
    2 * Math.abs(a.y - b.y) >= sizes[i].height + sizes[j].height;
  const crowds = wanted.map((a, i) => wanted.filter((b, j) => !areApart(i, a, j, b)).length);
  const order = wanted.map((_, i) => i).sort((a, b) => crowds[a] - crowds[b] || a - b);
  const points: Point[] = [];
  const placed = [] as number[];
  for (const i of order) {
    const found = nearestFree(wanted[i], Math.hypot(room.width, room.height), (point) => {
      const { x, y } = inside(point, sizes[i]);
      return x === point.x && y === point.y && placed.every((j) => areApart(i, point, j, points[j]));
    });
    if (!found) return null;
    points[i] = found;
    placed.push(i);
  }
  return points;
}

/** Puts boxes of one size into cells of a grid, those nearest to the middle first, each into the nearest free cell. */
function inGrid(centres: readonly Point[], size: Size, room: Box) {
  const columns = Math.max(Math.floor(room.width / size.width), 1);
  const rows = Math.max(Math.floor(room.height / size.height), Math.ceil(centres.length / columns));
  const cells = Array.from({ length: columns * rows }, (_, i) => ({
    x: room.x + ((i % columns) + 0.5) * (room.width / columns),
    y: room.y + (Math.floor(i / columns) + 0.5) * (room.height / rows),
  }));
  return centres.map((centre) => {
    const far = (cell: Point) => Math.hypot(cell.x - centre.x, cell.y - centre.y);
    const nearest = cells.reduce((best, cell, i) => (far(cell) < far(cells[best]) ? i : best), 0);
    return cells.splice(nearest, 1)[0];
  });
}

/** Returns the box of a picture around a point, with its captions. */
export const boxOfPicture = ({ x, y }: Point, side: number, { width, height }: Size): Box => ({
  x: x - width / 2,
  y: y - side / 2,
  width,
  height,
});

/** `points`: at the heads' values; `widths`: of the names of the heads' roles, 0 for a head without a role. */
export function placePictures(points: readonly Point[], widths: readonly number[], room: Box): Pictures {
  const sizesFor = (side: number, captions: boolean) =>
    widths.map((width) => ({
      width: Math.max(side, captions ? width : 0) + GAP,
      height: side + LINE * (captions && width > 0 ? 2 : 1) + GAP,
    }));
  for (const captions of [true, false])
    for (const side of captions ? SIDES.slice(0, 1) : SIDES) {
      const sizes = sizesFor(side, captions);
      const covered = sizes.reduce((sum, { width, height }) => sum + width * height, 0);
      if (covered > MAX_COVERED * room.width * room.height) continue;
      const centres = points.map(({ x, y }, i) => ({ x, y: y + (sizes[i].height - side) / 2 }));
      const found = separate(centres, sizes, room);
      if (found)
        return { side, captions, points: found.map(({ x, y }, i) => ({ x, y: y - (sizes[i].height - side) / 2 })) };
    }
  const side = SIDES.at(-1) as number;
  const size = { width: side + GAP, height: side + LINE + GAP };
  const cells = inGrid(points, size, room);
  return { side, captions: false, points: cells.map(({ x, y }) => ({ x, y: y - LINE / 2 })) };
}
