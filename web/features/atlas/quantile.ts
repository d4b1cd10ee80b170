// The slider from the strongest to the weakest passages of a head. Its positions are intervals of strength, as in
// HeadVis.

import type { AtlasSample } from '../../model/protocol/atlasProtocol.ts';

/** Number of passages that are listed at once. */
export const LISTED = 10;

/** Returns the intervals of samples, the interval with the largest weights first. */
export const intervalsOf = (samples: readonly AtlasSample[]) =>
  [...new Set(samples.map(({ interval }) => interval))].sort((a, b) => b - a);

/** Returns at most LISTED passages at a slider position, the strongest first. Position 0 is the strongest interval. */
export function passagesAt(
  samples: readonly AtlasSample[],
  position: number,
  strength: (sample: AtlasSample) => number,
): AtlasSample[] {
  const intervals = intervalsOf(samples);
  const interval = intervals[Math.min(Math.max(position, 0), intervals.length - 1)];
  return samples
    .filter((sample) => sample.interval === interval)
    .map((sample) => ({ sample, key: strength(sample) }))
    .sort((a, b) => b.key - a.key || a.sample.sequence - b.sample.sequence)
    .slice(0, LISTED)
    .map(({ sample }) => sample);
}
