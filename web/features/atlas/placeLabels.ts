// Chooses the positions of the names on the map. The name of a head is next to its shape. Where there is no room, it is
// further away, and a line leads to the shape.

export type Point = { x: number; y: number };
/** x, y: upper left corner */
export type Box = Point & { width: number; height: number };
export type Size = { width: number; height: number };
/** A name on the map. line: from the edge of the shape to the name, if the name is not next to the shape. */
export type PlacedName = { head: number; box: Box; line: [from: Point, to: Point] | null };

/** Half the usual size of a shape, the gap to its name, and the space for the ring around one with a needed name. */
const [HALF, GAP, RING] = [8, 3, 7];
/** Distances in pixels from a shape to a name with a line, and the number of directions that are tried. */
const DISTANCES = [20, 32, 46, 62, 80, 100, 124, 150];
const DIRECTIONS = 16;
/** Distance in pixels between the points of a line at which it is compared with shapes and names. */
const STEP = 3;

export const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const isInside = ({ x, y, width, height }: Box, room: Size) =>
  x >= 0 && y >= 0 && x + width <= room.width && y + height <= room.height;

const shapeAt = ({ x, y }: Point, half: number): Box => ({
  x: x - half,
  y: y - half,
  width: 2 * half,
  height: 2 * half,
});

function crosses(from: Point, to: Point, box: Box) {
  const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / STEP);
  for (let i = 0; i <= steps; i++) {
    const x = from.x + ((to.x - from.x) * i) / Math.max(steps, 1);
    const y = from.y + ((to.y - from.y) * i) / Math.max(steps, 1);
    if (x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height) return true;
  }
  return false;
}

/** Returns the boxes in which a name can be next to its shape: on the right, on the left, above and below. */
function boxesBeside({ x, y }: Point, size: Size, half: number): Box[] {
  const { width, height } = size;
  return [
    { x: x + half + GAP, y: y - height / 2, ...size },
    { x: x - half - GAP - width, y: y - height / 2, ...size },
    { x: x - width / 2, y: y - half - height, ...size },
    { x: x - width / 2, y: y + half, ...size },
  ];
}

/** Returns the boxes in which a name is connected with its shape by a line, the nearest first. */
const boxesWithLine = (point: Point, size: Size, half: number): { box: Box; line: [from: Point, to: Point] }[] =>
  DISTANCES.flatMap((distance) =>
    Array.from({ length: DIRECTIONS }, (_, i) => {
      const angle = (2 * Math.PI * i) / DIRECTIONS;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const from = { x: point.x + dx * half, y: point.y + dy * half };
      const to = { x: point.x + dx * (half + distance), y: point.y + dy * (half + distance) };
      const x = to.x + ((dx - 1) / 2) * size.width;
      const y = to.y + ((dy - 1) / 2) * size.height;
      return { box: { x, y, ...size }, line: [from, to] as [Point, Point] };
    }),
  );

/**
 * Places the names of heads, in order of importance. A name covers no shape and no other name, and no line crosses one.
 * A name without such a place is left out, unless it is `needed`; a `near` name has only the places next to its shape.
 * half: half the size of a shape; taken: other boxes that must stay free.
 */
export function placeNames(
  names: readonly { head: number; size: Size; needed?: boolean; near?: boolean }[],
  points: readonly Point[],
  room: Size,
  half: number = HALF,
  taken: readonly Box[] = [],
): PlacedName[] {
  const shapes = points.map((point) => shapeAt(point, half));
  const placed: PlacedName[] = [];
  for (const { head, size, needed = false, near = false } of names) {
    const boxes = [...taken, ...placed.map(({ box }) => box)];
    const isFree = (box: Box) =>
      isInside(box, room) &&
      !boxes.some((other) => overlap(other, box)) &&
      !shapes.some((shape, i) => i !== head && overlap(shape, box)) &&
      !placed.some(({ line }) => line && crosses(line[0], line[1], box));
    const isClear = ([from, to] = [points[head], points[head]] as [Point, Point]) =>
      !boxes.some((other) => crosses(from, to, other)) &&
      !points.some((point, i) => i !== head && crosses(from, to, shapeAt(point, half / 2)));
    const beside = boxesBeside(points[head], size, needed ? half + RING : half);
    const next = beside.find(isFree);
    if (next) {
      placed.push({ head, box: next, line: null });
      continue;
    }
    const found = near
      ? undefined
      : boxesWithLine(points[head], size, half).find(({ box, line }) => isFree(box) && isClear(line));
    if (found) placed.push({ head, ...found });
    else if (needed) placed.push({ head, box: beside.find((box) => isInside(box, room)) ?? beside[0], line: null });
  }
  return placed;
}

export const headsIn = (points: readonly Point[], { x, y, width, height }: Box) =>
  points.flatMap((point, head) =>
    point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height ? [head] : [],
  );

/** Returns the heads nearest to a point, at most `count`, within `reach` pixels. */
export const nearestHeads = (points: readonly Point[], { x, y }: Point, reach: number, count = 5) =>
  points
    .map((point, head) => ({ head, distance: Math.hypot(point.x - x, point.y - y) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count);

/** Returns the nearest head within 45° of a direction, one component of which is 0; `from` if there is none. */
export function nextHead(points: readonly Point[], from: number, { dx, dy }: { dx: number; dy: number }): number {
  const at = points[from];
  let [best, nearest] = [from, Infinity];
  points.forEach(({ x, y }, head) => {
    if (head === from || Number.isNaN(x) || Number.isNaN(y)) return;
    const along = (x - at.x) * dx + (y - at.y) * dy;
    const across = Math.abs((x - at.x) * dy) + Math.abs((y - at.y) * dx);
    // Heads at the same point follow each other by number, so that the keyboard reaches each of them.
    const same = along === 0 && across === 0 && (head > from ? dx + dy > 0 : dx + dy < 0);
    if (!same && (along <= 0 || across > along)) return;
    const distance = same ? Math.abs(head - from) * 1e-6 : along + 2 * across;
    if (distance < nearest) [best, nearest] = [head, distance];
  });
  return best;
}
