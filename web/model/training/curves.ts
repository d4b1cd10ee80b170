// The curves of training as marks for the charts: how curves are extended, and which frame of the film is at a step.

export type Mark = [step: number, value: number];
export type Curves = {
  loss: Mark[];
  /** accuracy on held-out sequences */
  right: Mark[];
  /** scores of heads, by 'score layer.head' */
  scores: Record<string, Mark[]>;
};

/** Maximum number of marks of a curve. More marks cannot be distinguished on a chart. */
const MAX_MARKS = 600;

export const noCurves = (): Curves => ({ loss: [], right: [], scores: {} });

/** Returns the marks of a curve. If there are too many, only every second mark and the last one. */
const thinned = (marks: Mark[]) =>
  marks.length > MAX_MARKS ? marks.filter((_, i) => i % 2 === 0 || i === marks.length - 1) : marks;

/** Returns the marks with `more` appended. Marks at or after the first step of `more` are replaced. */
function joined(marks: Mark[], more: Mark[]) {
  if (more.length === 0) return marks;
  const from = more[0][0];
  const kept = marks.length > 0 && marks[marks.length - 1][0] >= from ? marks.filter(([step]) => step < from) : marks;
  return thinned([...kept, ...more]);
}

export function extended(
  curves: Curves,
  {
    points = [],
    step = 0,
    scores = {},
  }: { points?: [step: number, loss: number, right?: number][]; step?: number; scores?: Record<string, number> },
): Curves {
  const loss = points.filter((point) => Number.isFinite(point[1])).map(([at, x]) => [at, x] as Mark);
  const right = points.flatMap(([at, , x]) => (x === undefined ? [] : [[at, x] as Mark]));
  const all = { ...curves.scores };
  for (const [name, x] of Object.entries(scores))
    if (Number.isFinite(x)) all[name] = joined(all[name] ?? [], [[step, x]]);
  return { loss: joined(curves.loss, loss), right: joined(curves.right, right), scores: all };
}

/** Returns the index of the frame nearest to a step. */
export function nearest(film: { step: number }[], step: number) {
  let best = 0;
  film.forEach((frame, i) => {
    if (Math.abs(frame.step - step) < Math.abs(film[best].step - step)) best = i;
  });
  return best;
}
