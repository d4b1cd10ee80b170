// The histogram of the distances between query and key, drawn with one bar for each doubling of the distance.

/** from: least distance of the bar; share: height as a share of the highest bar */
export type Bar = { from: number; weight: number; share: number };

/** Distances up to this number of tokens always have a bar, even without weight. */
const USUAL = 64;

/** Returns the bars up to the last one with a weight, and at least up to USUAL. */
export function barsOf({ edges, values }: { edges: ArrayLike<number>; values: ArrayLike<number> }): Bar[] {
  const all = Array.from(values, (weight, i) => ({ from: edges[i], weight }));
  const last = all.findLastIndex(({ weight, from }) => weight > 0 || from <= USUAL);
  const shown = all.slice(0, last + 1);
  const highest = shown.reduce((most, { weight }) => Math.max(most, weight), 0);
  return shown.map((bar) => ({ ...bar, share: highest > 0 ? bar.weight / highest : 0 }));
}
