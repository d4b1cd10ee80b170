// Resamples sound. Each new sample is a sum of near old samples, weighted by a windowed sinc, which removes frequencies
// that the new rate cannot represent.

import { readNumber } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';

/** Number of zeros of the sinc on each side, and the share of the frequency range of the lower rate that is kept. */
const [ZEROS, ROLLOFF] = [16, 0.97];

/** Resamples one channel between rates in hertz. */
export function resample(samples: ArrayLike<number>, from: number, to: number): Float64Array {
  for (const [name, rate] of [
    ['from', from],
    ['to', to],
  ] as const)
    readNumber('resample', name, rate, { least: 1000, most: 768_000 });
  checkSamples('resample', samples);
  if (from === to) return Float64Array.from(samples);
  const cutoff = (ROLLOFF * Math.min(from, to)) / from;
  const reach = ZEROS / cutoff;
  return Float64Array.from({ length: Math.ceil((samples.length * to) / from) }, (_, i) => {
    const at = (i * from) / to;
    let sum = 0;
    const last = Math.min(Math.floor(at + reach), samples.length - 1);
    for (let s = Math.max(Math.ceil(at - reach), 0); s <= last; s++) sum += samples[s] * weightAt((s - at) * cutoff);
    return sum * cutoff;
  });
}

export function checkSamples(caller: string, samples: unknown) {
  const isList = Array.isArray(samples) || (ArrayBuffer.isView(samples) && 'length' in samples);
  if (!isList) throw argumentError(caller, 'samples', samples, 'a list of numbers');
  // All elements of a typed array have the same type.
  const first = Array.isArray(samples) ? samples : Array.from((samples as Float32Array).subarray(0, 1));
  const other = first.findIndex((x) => typeof x !== 'number');
  if (other >= 0) throw argumentError(caller, `samples[${other}]`, first[other], 'a number');
}

/** Returns the value of a sinc in a Hann window. x: in zeros of the sinc. */
function weightAt(x: number) {
  const window = Math.cos((Math.PI * x) / ZEROS / 2) ** 2;
  return x === 0 ? 1 : (window * Math.sin(Math.PI * x)) / (Math.PI * x);
}
