// The curves of training as marks for the charts: how curves are extended, and which frame of the film is at a step.

/** @typedef {[step: number, value: number]} Mark */
/**
 * @typedef {object} Curves
 * @property {Mark[]} loss
 * @property {Mark[]} right accuracy on held-out sequences
 * @property {Record<string, Mark[]>} scores scores of heads, by 'score layer.head'
 */

/** Maximum number of marks of a curve. More marks cannot be distinguished on a chart. */
const MAX_MARKS = 600;

/** @returns {Curves} */
export const noCurves = () => ({ loss: [], right: [], scores: {} });

/**
 * Returns the marks of a curve. If there are too many, only every second mark and the last one.
 * @param {Mark[]} marks
 */
const thinned = (marks) =>
  marks.length > MAX_MARKS ? marks.filter((_, i) => i % 2 === 0 || i === marks.length - 1) : marks;

/**
 * Returns the marks with `more` appended. Marks at or after the first step of `more` are replaced.
 * @param {Mark[]} marks @param {Mark[]} more
 */
function joined(marks, more) {
  if (more.length === 0) return marks;
  const from = more[0][0];
  const kept = marks.length > 0 && marks[marks.length - 1][0] >= from ? marks.filter(([step]) => step < from) : marks;
  return thinned([...kept, ...more]);
}

/**
 * @param {Curves} curves
 * @param {{ points?: [step: number, loss: number, right?: number][], step?: number, scores?: Record<string,
 *   number> }} more
 * @returns {Curves}
 */
export function extended(curves, { points = [], step = 0, scores = {} }) {
  const loss = points.filter((point) => Number.isFinite(point[1])).map(([at, x]) => /** @type {Mark} */ ([at, x]));
  const right = points.flatMap(([at, , x]) => (x === undefined ? [] : [/** @type {Mark} */ ([at, x])]));
  const all = { ...curves.scores };
  for (const [name, x] of Object.entries(scores))
    if (Number.isFinite(x)) all[name] = joined(all[name] ?? [], [[step, x]]);
  return { loss: joined(curves.loss, loss), right: joined(curves.right, right), scores: all };
}

/** Returns the index of the frame nearest to a step. @param {{ step: number }[]} film @param {number} step */
export function nearest(film, step) {
  let best = 0;
  film.forEach((frame, i) => {
    if (Math.abs(frame.step - step) < Math.abs(film[best].step - step)) best = i;
  });
  return best;
}
