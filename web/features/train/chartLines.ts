// The lines of the charts of training, computed from its curves, and the frames of its film.

import { type Curves, type Mark, nearest } from '../../model/training/curves.ts';

export function smoothed(marks: Mark[]): Mark[] {
  let mean = marks[0]?.[1] ?? 0;
  let weight = 0;
  return marks.map(([step, x]) => {
    weight = 0.86 * weight + 1;
    mean += (x - mean) / weight;
    return [step, mean];
  });
}

/** Returns the value at a step, which is that of the last mark up to the step. */
export function valueAt(marks: Mark[], step: number) {
  let found = marks[0]?.[1];
  for (const [at, x] of marks) {
    if (at > step) break;
    found = x;
  }
  return found;
}

/** Minimum score of a head that counts as having a role. The names under the thumbnails need as much. */
const FORMED = 0.5;

/** Returns the heads of the third chart: those that have a watched role, the best first, or else the best one. */
export function watched(
  { scores }: Curves,
  watch: string[],
): { name: string; score: string; layer: number; head: number; marks: Mark[] }[] {
  const all = Object.entries(scores)
    .map(([name, marks]) => {
      const [score, place] = name.split(' ');
      const [layer, head] = place.split('.').map(Number);
      return { name, score, layer, head, marks, last: marks[marks.length - 1][1] };
    })
    .filter(({ score }) => watch.includes(score));
  return watch.flatMap((kind) => {
    const best = all.filter(({ score }) => score === kind).sort((a, b) => b.last - a.last);
    const formed = best.filter(({ last }) => last >= FORMED);
    return formed.length > 0 ? formed : best.slice(0, 1);
  });
}

/** Returns the lines with a name, at most `room`, in the order of `lines`: of each role the best ones. */
export function namedLines<Line extends { score: string }>(lines: Line[], room: number): Line[] {
  const rank = (line: Line) => lines.filter(({ score }) => score === line.score).indexOf(line);
  const kept = lines.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.max(room, 1));
  return lines.filter((line) => kept.includes(line));
}

/** Returns the step at which a head first had the last of the watched roles; null if none has. */
export function formedAt(curves: Curves, watch: string[]) {
  const kind = watch[watch.length - 1];
  const steps = Object.entries(curves.scores)
    .filter(([name]) => name.startsWith(`${kind} `))
    .flatMap(([, marks]) => marks.find(([, x]) => x >= FORMED)?.[0] ?? []);
  return steps.length > 0 ? Math.min(...steps) : null;
}

/** Returns the frame at each of `places` equal steps from 0 to `end`; null after the last of `steps`, those so far. */
export function framesOf(film: { step: number }[], end: number, places: number, steps: number): (number | null)[] {
  return Array.from({ length: places }, (_, i) => {
    const at = (i * end) / Math.max(places - 1, 1);
    if (at > steps || film.length === 0) return null;
    return nearest(film, at);
  });
}

/** Returns positions of labels at line ends, moved apart, at most `most` (bottom). `wanted`: preferred positions. */
export function parted(wanted: number[], apart: number, most: number) {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  order.forEach((one, k) => {
    if (k > 0) one.y = Math.max(one.y, order[k - 1].y + apart);
  });
  for (let k = order.length - 1, room = most; k >= 0; k--, room -= apart) order[k].y = Math.min(order[k].y, room);
  const found = new Array(wanted.length);
  for (const { y, i } of order) found[i] = y;
  return found;
}
