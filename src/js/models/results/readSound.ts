// Converts sound to normalized samples or a spectrogram, by preprocessor_config.json.

import { readNumber } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { logMel } from '../../io/sound/logMel.ts';
import { checkSamples, resample } from '../../io/sound/resample.ts';
import type { Transformer } from '../transformer.ts';
import { wrongModel } from './oneSequence.ts';

export type SoundNumbers = { data: Float32Array; shape: number[] };
export type SoundInputOptions = {
  /** rate of the samples in hertz; default: the rate of the model, usually 16000 */
  rate?: number | undefined;
};

const RATE = 16000;
const RANGE = { least: 1000, most: 768_000 };
/** Settings of the spectrogram that logMel computes. dither: the strength of noise that is added to the samples. */
const SPECTROGRAM = { sampling_rate: RATE, n_fft: 400, hop_length: 160, dither: 0 };
/** The class that prepares sound, by the input of the model. */
const CLASSES = { sound: 'Wav2Vec2FeatureExtractor', audio: 'WhisperFeatureExtractor' };
/** Number that is added to the variance of samples, as in the Python library transformers. */
const EPS = 1e-7;

/** Returns the rate of the sound that the model reads. */
export const rateOf = ({ preprocessor }: Transformer) => preprocessor?.sampling_rate ?? RATE;

/** samples: one channel, from −1 to 1 */
export function readSound(
  caller: string,
  model: Transformer,
  samples: ArrayLike<number>,
  { rate = rateOf(model) }: SoundInputOptions,
): { samples: SoundNumbers } | { features: SoundNumbers } {
  const { options, preprocessor } = model;
  const reader = options.encoder ?? options;
  if (reader.input !== 'sound' && reader.input !== 'audio') throw wrongModel(caller, 'this model does not read sound');
  readNumber(caller, 'rate', rate, RANGE);
  checkSamples(caller, samples);
  if (typeof preprocessor !== 'object' || preprocessor === null)
    throw wrongModel(caller, 'the files of this model have no preprocessor_config.json');
  expectFields(caller, preprocessor, { feature_extractor_type: CLASSES[reader.input] });
  if (reader.input === 'sound') {
    const data = resample(samples, rate, rateOf(model));
    return { samples: { data: normalized(data, preprocessor.do_normalize ?? true), shape: [1, data.length] } };
  }
  const seconds = (2 * reader.context * SPECTROGRAM.hop_length) / RATE;
  expectFields(caller, preprocessor, { ...SPECTROGRAM, feature_size: reader.channels, chunk_length: seconds });
  if (samples.length > seconds * rate) {
    const got = `${samples.length} samples`;
    throw argumentError(caller, 'samples', got, `at most ${seconds} seconds, which are ${seconds * rate} samples`);
  }
  return { features: logMel(samples, { rate, bins: reader.channels, seconds }) };
}

function expectFields(caller: string, preprocessor: Record<string, any>, expected: Record<string, string | number>) {
  for (const [field, value] of Object.entries(expected))
    if ((preprocessor[field] ?? value) !== value)
      throw wrongModel(caller, `preprocessor_config.json: ${field} is ${preprocessor[field]}, expected ${value}`);
}

/** Shifts and scales samples to mean 0 and variance 1, if this is wanted. */
function normalized(samples: Float64Array, wanted: boolean) {
  if (!wanted || samples.length === 0) return Float32Array.from(samples);
  const mean = samples.reduce((sum, x) => sum + x, 0) / samples.length;
  const square = samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / samples.length;
  const factor = 1 / Math.sqrt(square + EPS);
  return Float32Array.from(samples, (x) => (x - mean) * factor);
}
