// Places of the figures next to lines: the first place of each line that covers neither a part nor another figure.

/** @typedef {{ x: number, y: number, width: number, height: number }} Area */
/** @typedef {{ name: string, points: number[][], width: number, cost: number }} Drawn */

/** Width and height of a figure. */
const [WIDTH, HEIGHT] = [34, 15];

const overlaps = (/** @type {Area} */ a, /** @type {Area} */ b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Parts of a line, the longest first. @param {number[][]} points */
const pieces = (points) =>
  points
    .slice(1)
    .map(([x, y], i) => ({ a: points[i], b: [x, y], length: Math.hypot(x - points[i][0], y - points[i][1]) }))
    .sort((p, q) => q.length - p.length);

/** Possible corners of a figure, the best first. @param {Drawn} line */
function* candidates({ points, width }) {
  const [, top] = [points[0], points[points.length - 1]];
  yield { x: top[0] + width / 2 + 3, y: top[1] + 4 };
  yield { x: points[0][0] + width / 2 + 3, y: points[0][1] - HEIGHT - 1 };
  yield { x: points[0][0] - width / 2 - WIDTH - 1, y: points[0][1] - HEIGHT - 1 };
  yield { x: top[0] - width / 2 - WIDTH - 1, y: top[1] + 4 };
  for (const { a, b } of pieces(points))
    for (const share of [0.5, 0.25, 0.75]) {
      const [x, y] = [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
      if (a[1] === b[1]) yield { x: x - WIDTH / 2, y: y - width / 2 - HEIGHT };
      else {
        yield { x: x + width / 2 + 3, y: y - HEIGHT / 2 };
        yield { x: x - width / 2 - WIDTH - 1, y: y - HEIGHT / 2 };
      }
    }
}

/**
 * The left ends and base lines of figures, by the names of lines; the costliest line is first to choose.
 * @param {readonly Drawn[]} lines @param {readonly Area[]} parts @param {number} width of the drawing
 */
export function figuresOf(lines, parts, width) {
  /** @type {Map<string, { x: number, y: number }>} */
  const figures = new Map();
  /** @type {Area[]} */
  const taken = [...parts];
  for (const line of lines)
    for (const { a, b } of pieces(line.points))
      taken.push({
        x: Math.min(a[0], b[0]) - line.width / 2,
        y: Math.min(a[1], b[1]) - line.width / 2,
        width: Math.abs(a[0] - b[0]) + line.width,
        height: Math.abs(a[1] - b[1]) + line.width,
      });
  for (const line of [...lines].sort((p, q) => p.cost - q.cost))
    for (const { x, y } of candidates(line)) {
      const area = { x, y, width: WIDTH, height: HEIGHT };
      if (x < 0 || x + WIDTH > width || taken.some((other) => overlaps(area, other))) continue;
      taken.push(area);
      figures.set(line.name, { x, y: y + HEIGHT - 3 });
      break;
    }
  return figures;
}
