// Chooses the positions of the names on the map. The name of a role is written once, where most of its heads are. Some
// heads have their names next to their shapes. If there is room, a name covers no other name and no shape of another
// head.

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {Point & { width: number, height: number }} Box x, y: upper left corner */
/** @typedef {{ width: number, height: number }} Size */

/** Maximum distance in pixels of heads that count as near each other. */
const NEAR = 60;
/** Half the size of a shape if the caller does not set it, and the gap between a shape and its name. */
const [HALF, GAP] = [8, 3];
/** Distances in pixels from the centre of the heads at which a role's name is tried. */
const DISTANCES = [22, 32, 44, 60, 80];
const DIRECTIONS = 12;

/** @param {Box} a @param {Box} b @returns {boolean} */
export const overlap = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** @param {Box} box @param {Size} room */
const isInside = ({ x, y, width, height }, room) =>
  x >= 0 && y >= 0 && x + width <= room.width && y + height <= room.height;

/** @param {Point} point @param {number} half @returns {Box} */
const shapeAt = ({ x, y }, half) => ({ x: x - half, y: y - half, width: 2 * half, height: 2 * half });

/**
 * Returns the mean point of the densest group: the head that has most other heads near it, and those heads.
 * @param {readonly Point[]} points
 */
export function densest(points) {
  /** @type {readonly Point[]} */
  let best = [];
  for (const { x, y } of points) {
    const near = points.filter((other) => Math.hypot(other.x - x, other.y - y) <= NEAR);
    if (near.length > best.length) best = near;
  }
  const mean = (/** @type {(point: Point) => number} */ of) => best.reduce((sum, p) => sum + of(p), 0) / best.length;
  return { x: mean(({ x }) => x), y: mean(({ y }) => y) };
}

/**
 * Returns the candidate that covers the fewest shapes and names; the first one if several are equal.
 * @param {Box[]} candidates
 * @param {readonly Box[]} shapes
 * @param {readonly Box[]} names
 * @param {Size} room
 */
function bestOf(candidates, shapes, names, room) {
  /** @type {{ box: Box, covered: number } | null} */
  let best = null;
  for (const box of candidates) {
    if (!isInside(box, room)) continue;
    const covered =
      shapes.filter((shape) => overlap(shape, box)).length + 20 * names.filter((name) => overlap(name, box)).length;
    if (!best || covered < best.covered) best = { box, covered };
    if (covered === 0) break;
  }
  return best;
}

/**
 * @template {string} R
 * @param {readonly { role: R, points: readonly Point[], size: Size }[]} roles
 * @param {readonly Point[]} points of all heads
 * @param {Size} room
 * @param {number} [half] half the size of a shape
 * @returns {{ role: R, box: Box }[]}
 */
export function placeRoles(roles, points, room, half = HALF) {
  const shapes = points.map((point) => shapeAt(point, half));
  /** @type {{ role: R, box: Box }[]} */
  const placed = [];
  for (const { role, points: own, size } of roles) {
    if (own.length === 0) continue;
    const { x, y } = densest(own);
    const candidates = DISTANCES.flatMap((distance) =>
      Array.from({ length: DIRECTIONS }, (_, i) => {
        const angle = (2 * Math.PI * i) / DIRECTIONS + Math.PI / 2;
        // A name is wider than high, so it is placed nearer to the heads above and below than on either side.
        const [dx, dy] = [
          Math.cos(angle) * (distance + half - HALF + size.width / 2),
          Math.sin(angle) * (distance + half - HALF),
        ];
        return { x: x + dx - size.width / 2, y: y + dy - size.height / 2, ...size };
      }),
    );
    const found = bestOf(
      candidates,
      shapes,
      placed.map(({ box }) => box),
      room,
    );
    if (found) placed.push({ role, box: found.box });
  }
  return placed;
}

/**
 * Puts names of heads to the right or left of their shapes, in order of importance. A name is left out if both
 * positions are occupied, unless the name must be shown.
 * @param {readonly { head: number, point: Point, size: Size, needed: boolean }[]} heads
 * @param {readonly Point[]} points of all heads
 * @param {readonly Box[]} names that are already placed
 * @param {Size} room
 * @param {number} [half] half the size of a shape
 * @returns {{ head: number, box: Box }[]}
 */
export function placeHeads(heads, points, names, room, half = HALF) {
  /** @type {{ head: number, box: Box }[]} */
  const placed = [];
  for (const { head, point, size, needed } of heads) {
    const shapes = points.filter((other) => other !== point).map((other) => shapeAt(other, half));
    const y = point.y - size.height / 2;
    const gap = needed ? half + 2.5 * GAP : half + GAP;
    const sides = [
      { x: point.x + gap, y, ...size },
      { x: point.x - gap - size.width, y, ...size },
    ];
    const found = bestOf(sides, shapes, [...names, ...placed.map(({ box }) => box)], room);
    if (found && (needed || found.covered === 0)) placed.push({ head, box: found.box });
  }
  return placed;
}

/** Returns the heads whose points are inside a frame. @param {readonly Point[]} points @param {Box} frame */
export const headsIn = (points, { x, y, width, height }) =>
  points.flatMap((point, head) =>
    point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height ? [head] : [],
  );

/** Returns the heads nearest to a point, at most `count`, within `reach` pixels. */
export const nearestHeads = (
  /** @type {readonly Point[]} */ points,
  /** @type {Point} */ { x, y },
  /** @type {number} */ reach,
  count = 5,
) =>
  points
    .map((point, head) => ({ head, distance: Math.hypot(point.x - x, point.y - y) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count);

/**
 * Returns the next head in a direction: the nearest one within 45° of that direction.
 * @param {readonly Point[]} points
 * @param {number} from
 * @param {{ dx: number, dy: number }} direction one component is 0
 * @returns {number} `from` if there is no head in that direction
 */
export function nextHead(points, from, { dx, dy }) {
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
