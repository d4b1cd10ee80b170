// The routes of lines through a circuit. A line goes up from the head or MLP where its edge begins, along the gap above
// the row of that box, up between the boxes of the rows above, along the gap below the box where the edge ends, and
// into the base of that box. No line crosses a box.

/** left, right: x coordinates */
export type Span = { left: number; right: number };
/** A line before it has a route. from, to: x at its ends; low, high: gaps at its two boxes; gap g is below row g. */
export type Way = { name: string; from: number; to: number; low: number; high: number; width: number };
/** The route of a line. x: x of the vertical segment. */
export type Route = Way & { x: number };
/** A horizontal segment of a route. */
export type Along = { route: Route; gap: number; left: number; right: number; y: number };

/** Pixels between two lines, and between a line and a box. */
const [BETWEEN, BESIDE] = [4, 6];
/** A line whose ends differ by less than this in x goes straight up. */
const STRAIGHT = 1.5;

/** Returns the sections of the bounds that no span covers. */
export function freeOf(taken: Span[], bounds: Span): Span[] {
  const free: Span[] = [];
  let { left } = bounds;
  for (const span of [...taken].sort((a, b) => a.left - b.left)) {
    if (span.left > left) free.push({ left, right: Math.min(span.left, bounds.right) });
    left = Math.max(left, span.right);
  }
  if (left < bounds.right) free.push({ left, right: bounds.right });
  return free.filter(({ left: a, right: b }) => b > a);
}

/** Chooses the x of vertical segments, the widest line first, as near to both ends as is free. `rows`: boxes by row. */
export function routesOf(ways: readonly Way[], rows: readonly Span[][], bounds: Span): Route[] {
  const routes: Route[] = [];
  const order = [...ways].sort((a, b) => b.width - a.width || a.high - a.low - (b.high - b.low));
  for (const way of order) {
    const { low, high, from, to, width } = way;
    const half = width / 2;
    const parts = rows.slice(low, high).flat();
    const lines = routes.filter((other) => other.low < high && other.high > low && other.low !== other.high);
    const taken = [
      ...parts.map(({ left, right }) => ({ left: left - half - BESIDE, right: right + half + BESIDE })),
      ...lines.map(({ x, width: w }) => ({ left: x - half - w / 2 - BETWEEN, right: x + half + w / 2 + BETWEEN })),
    ];
    const spans = low === high ? [bounds] : freeOf(taken, bounds);
    const cost = (x: number) => Math.abs(x - from) + Math.abs(x - to) + (x === to || x === from ? 0 : 30);
    const candidates = spans.flatMap(({ left, right }) =>
      [to, from, left, right].map((x) => Math.min(Math.max(x, left), right)),
    );
    const x = candidates.sort((a, b) => cost(a) - cost(b))[0] ?? to;
    routes.push({ ...way, x });
  }
  return routes;
}

/** Assigns horizontal segments to the tracks of each gap, from bottom to top; a track is as high as its widest line. */
export function tracksOf(routes: readonly Route[], gaps: number) {
  const tracks: { list: Omit<Along, 'y'>[]; height: number }[][] = Array.from({ length: gaps }, () => []);
  const pieces = routes.flatMap((route) => {
    const { from, to, x, low, high } = route;
    const along = (gap: number, a: number, b: number) =>
      Math.abs(a - b) < STRAIGHT ? [] : [{ route, gap, left: Math.min(a, b), right: Math.max(a, b) }];
    return low === high ? along(low, from, to) : [...along(low, from, x), ...along(high, x, to)];
  });
  pieces.sort((a, b) => a.right - a.left - (b.right - b.left));
  for (const piece of pieces) {
    const isFree = ({ list }: { list: Omit<Along, 'y'>[] }) =>
      list.every(({ left, right }) => right + 10 < piece.left || left > piece.right + 10);
    let track = tracks[piece.gap].find(isFree);
    if (!track) {
      track = { list: [], height: 0 };
      tracks[piece.gap].push(track);
    }
    track.list.push(piece);
    track.height = Math.max(track.height, piece.route.width);
  }
  return tracks;
}

export const heightOf = (tracks: ReturnType<typeof tracksOf>[number]) =>
  tracks.reduce((sum, { height }) => sum + height + BETWEEN, 0);

/** Returns the corners of a route from y `bottom` to y `top`. `yOf`: y of its horizontal segment in a gap, or null. */
export function pointsOf(route: Route, yOf: (route: Route, gap: number) => number | null, bottom: number, top: number) {
  const { from, to, x, low, high } = route;
  const points = [[from, bottom]];
  const first = yOf(route, low);
  if (first !== null) points.push([from, first], [low === high ? to : x, first]);
  const second = low === high ? null : yOf(route, high);
  if (second !== null) points.push([x, second], [to, second]);
  points.push([points[points.length - 1][0], top]);
  return points;
}
