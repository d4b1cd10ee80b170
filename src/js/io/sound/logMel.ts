// Computes the log-mel spectrogram that Whisper reads.

import { readNumber, readOptions } from '../../check/arguments.ts';
import { Fourier } from './fourier.ts';
import { melFilters } from './melFilters.ts';
import { checkSamples, resample } from './resample.ts';

export type LogMelOptions = {
  /** sampling rate in hertz; default 16000. Sound of another rate is resampled */
  rate?: number | undefined;
  /** `num_mel_bins` of the model; default 80, large-v3 has 128 */
  bins?: number | undefined;
  /** length of the spectrogram: shorter sound is padded with silence, longer sound is cut; default 30, at least 0.02 */
  seconds?: number | undefined;
};

const CALLER = 'logMel';
const RATE = 16000;
/** Number of samples of a window, and between the beginnings of adjacent windows. */
const [WINDOW, HOP] = [400, 160];
/** A window is mirrored at both ends, so the shortest spectrogram has two frames. */
const [MIN_SECONDS, MAX_SECONDS] = [(2 * HOP) / RATE, 3600];

/** Range of the logarithms below their maximum, in powers of ten. Smaller values are raised to its lower end. */
const RANGE = 8;

/** Computes (1,bins,100·seconds), for { features }, of one channel from −1 to 1. */
export function logMel(
  samples: ArrayLike<number>,
  options: LogMelOptions = {},
): { data: Float32Array; shape: [1, number, number] } {
  const { rate = RATE, bins = 80, seconds = 30 } = readOptions(CALLER, options, ['rate', 'bins', 'seconds']);
  readNumber(CALLER, 'rate', rate, { least: 1000, most: 768_000 });
  readNumber(CALLER, 'bins', bins, { integer: true, least: 1, most: 512 });
  readNumber(CALLER, 'seconds', seconds, { least: MIN_SECONDS, most: MAX_SECONDS });
  checkSamples(CALLER, samples);
  const frames = Math.round((seconds * RATE) / HOP);
  const length = Math.ceil((frames * HOP * rate) / RATE);
  const sound = resample(Array.prototype.slice.call(samples, 0, length), rate, RATE);
  return { data: spectrogram(sound, bins, frames), shape: [1, bins, frames] };
}

/** returns (bins,frames) */
function spectrogram(sound: Float64Array, bins: number, frames: number): Float32Array {
  const length = frames * HOP;
  const padded = new Float64Array(length);
  padded.set(sound.subarray(0, length));
  const window = Float64Array.from({ length: WINDOW }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW));
  const fourier = new Fourier(WINDOW);
  const filters = melFilters(bins, WINDOW / 2 + 1, RATE).map(nonZero);
  const [part, power] = [new Float64Array(WINDOW), new Float64Array(WINDOW / 2 + 1)];
  const logs = new Float64Array(bins * frames);
  let most = Number.NEGATIVE_INFINITY;
  for (let frame = 0; frame < frames; frame++) {
    for (let i = 0; i < WINDOW; i++) part[i] = window[i] * padded[mirrored(frame * HOP + i - WINDOW / 2, length)];
    fourier.power(part, power);
    for (let bin = 0; bin < bins; bin++) {
      const { from, weights } = filters[bin];
      let sum = 0;
      for (let k = 0; k < weights.length; k++) sum += weights[k] * power[from + k];
      const log = Math.log10(Math.max(sum, 1e-10));
      logs[bin * frames + frame] = log;
      if (log > most) most = log;
    }
  }
  return Float32Array.from(logs, (log) => (Math.max(log, most - RANGE) + 4) / 4);
}

function nonZero(filter: Float64Array) {
  const from = Math.max(
    filter.findIndex((x) => x > 0),
    0,
  );
  let to = filter.length;
  while (to > from && filter[to - 1] === 0) to--;
  return { from, weights: filter.subarray(from, to) };
}

/** Mirrors an index outside of the sound at the nearer end of it. */
const mirrored = (i: number, length: number) => (i < 0 ? -i : i < length ? i : 2 * (length - 1) - i);
