// Chooses the positions of the numbers next to lines and of the roles next to heads. Each text gets the first candidate
// position at which it covers nothing else.

export type Area = { x: number; y: number; width: number; height: number };
export type Drawn = { name: string; points: number[][]; width: number; cost: number };
/** The name of a role, next to a head. */
export type Words = { key: string; box: Area; width: number };

/** Width and height of a number, as multiples of the height of a letter. */
const [WIDTH, HEIGHT] = [2.6, 1.15];
/** Pixels between a head and the name of its role. */
const BESIDE = 8;

const overlaps = (a: Area, b: Area) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Returns the segments of a line, the longest first. */
const pieces = (points: number[][]) =>
  points
    .slice(1)
    .map(([x, y], i) => ({ a: points[i], b: [x, y], length: Math.hypot(x - points[i][0], y - points[i][1]) }))
    .sort((p, q) => q.length - p.length);

/** Generates possible upper left corners of a number, the best first. */
function* candidates({ points, width: thick }: Drawn, { width, height }: { width: number; height: number }) {
  const [bottom, top] = [points[0], points[points.length - 1]];
  const [right, left] = [thick / 2 + 3, -thick / 2 - width - 1];
  yield { x: top[0] + right, y: top[1] + 4 };
  yield { x: bottom[0] + right, y: bottom[1] - height - 1 };
  yield { x: bottom[0] + left, y: bottom[1] - height - 1 };
  yield { x: top[0] + left, y: top[1] + 4 };
  for (const { a, b } of pieces(points))
    for (const share of [0.5, 0.25, 0.75]) {
      const [x, y] = [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
      if (a[1] === b[1]) yield { x: x - width / 2, y: y - thick / 2 - height };
      else for (const by of [right, left]) yield { x: x + by, y: y - height / 2 };
    }
}

/** Returns the corners of numbers by line, costliest first, then of roles by head. `letter`: height of a letter. */
export function figuresOf(
  lines: readonly Drawn[],
  parts: readonly Area[],
  words: readonly Words[],
  { left, right, letter }: { left: number; right: number; letter: number },
) {
  const figure = { width: WIDTH * letter, height: HEIGHT * letter };
  const taken: Area[] = [...parts, ...lines.flatMap(areasOf)];
  const isFree = (area: Area) =>
    area.x >= left && area.x + area.width <= right && !taken.some((other) => overlaps(area, other));
  const figures: Map<string, { x: number; y: number }> = new Map();
  const put = (name: string, areas: Iterable<Area>) => {
    for (const area of areas) {
      if (!isFree(area)) continue;
      taken.push(area);
      figures.set(name, { x: area.x, y: area.y });
      return;
    }
  };
  for (const line of [...lines].sort((p, q) => p.cost - q.cost))
    put(
      line.name,
      [...candidates(line, figure)].map((corner) => ({ ...corner, ...figure })),
    );
  for (const { key, box, width } of words)
    put(
      key,
      [box.x - width - BESIDE, box.x + box.width + BESIDE].map((x) => ({ x, y: box.y + 8, width, height: 18 })),
    );
  return figures;
}

const areasOf = ({ points, width }: Drawn): Area[] =>
  pieces(points).map(({ a, b }) => ({
    x: Math.min(a[0], b[0]) - width / 2,
    y: Math.min(a[1], b[1]) - width / 2,
    width: Math.abs(a[0] - b[0]) + width,
    height: Math.abs(a[1] - b[1]) + width,
  }));
