// The slider from the strongest to the weakest passages of a head: see HeadVis' intervals.

/** @import { AtlasSample } from '../../store/atlasProtocol.js' */

/** Passages that are listed at once. */
export const LISTED = 10;

/** The intervals of samples, the one with the largest weights first. @param {readonly AtlasSample[]} samples */
export const intervalsOf = (samples) => [...new Set(samples.map(({ interval }) => interval))].sort((a, b) => b - a);

/**
 * The passages at a position of the slider: 0 shows the strongest, each further one an interval with weaker ones.
 * @param {readonly AtlasSample[]} samples
 * @param {number} position
 * @param {(sample: AtlasSample) => number} strength
 * @returns {AtlasSample[]} at most LISTED, the strongest first
 */
export function passagesAt(samples, position, strength) {
  const intervals = intervalsOf(samples);
  const interval = intervals[Math.min(Math.max(position, 0), intervals.length - 1)];
  return samples
    .filter((sample) => sample.interval === interval)
    .map((sample) => ({ sample, key: strength(sample) }))
    .sort((a, b) => b.key - a.key || a.sample.sequence - b.sample.sequence)
    .slice(0, LISTED)
    .map(({ sample }) => sample);
}
