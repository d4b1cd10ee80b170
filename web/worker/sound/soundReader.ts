// Lets a source read sound. The frames of the sound are the tokens of the model. An encoder with a fixed length reads
// silence after the sound, of which only a little is shown.

import type { Numbers } from '../../../src/js/analysis/arrays.ts';
import { logMel } from '../../../src/js/io/sound/logMel.ts';
import type { PlainInput } from '../../../src/js/models/input.ts';
import { stepOf } from '../../../src/js/models/results/transcribe.ts';
import type { Run, ShownSound } from '../../model/protocol/protocol.ts';
import { encoded, pieceOf, type Read } from '../run/modelInput.ts';
import { Problem } from '../sources/problem.ts';
import { predictsTokens } from '../sources/sources.ts';
import type { Transformer, TransformerSource } from '../sources/types.ts';
import { runFrames } from './soundRun.ts';
import { promptFor } from './speech.ts';
import { RATE, risingTones } from './tones.ts';
/** count: frames that the model reads; shown: those of the sound and a little silence; step: seconds between frames */
export type Prepared = { input: PlainInput; count: number; shown: number; step: number; sound: ShownSound };

/** Maximum length of a sound. The rest of a longer sound is dropped. */
const MAX_SECONDS = 30;
/** Minimum length of a sound. A shorter sound has no frames. */
const MIN_SECONDS = 0.1;
/** Seconds of silence that are shown after the sound. */
const AFTER = 0.2;
/** Columns of the spectrogram per second, and the difference between the largest and the smallest shown value. */
const [COLUMNS, RANGE] = [100, 2];
/** Seconds from one frame of Whisper to the next. */
const WHISPER_STEP = 0.02;

export async function readSoundOf(source: TransformerSource) {
  let prepared = await prepare(source.model, risingTones(), RATE);
  const { about, model } = source;
  if (model.options.encoder) about.prompt = promptFor(source);
  else if (about.guess === 'classes') about.hears = 'sounds';
  else if (model.options.head === 'logits') about.hears = predictsTokens(model) ? 'letters' : 'frames';
  source.sound = {
    async hear(samples = risingTones(), rate = RATE) {
      prepared = await prepare(model, samples, rate);
      source.version = (source.version ?? 0) + 1;
    },
    read: (run, part) => readFrames(source, prepared, run, part),
    forward: (hl, input, edits, place) => runFrames(hl, source, input, edits, place, prepared),
    shown: (part) => shownSound(prepared, model.options.encoder ? part : 'encoder'),
  };
}

async function prepare(model: Transformer, given: Float32Array, rate: number): Promise<Prepared> {
  const { encoder } = model.options;
  const step = encoder ? WHISPER_STEP : stepOf(model);
  const most = encoder ? Math.min(encoder.context * WHISPER_STEP, MAX_SECONDS) : MAX_SECONDS;
  if (!(given.length >= MIN_SECONDS * rate)) throw new Problem('shortSound');
  const samples = given.subarray(0, Math.floor(most * rate));
  const seconds = samples.length / rate;
  const input = await model.sound(samples, { rate });
  const count = encoder ? encoder.context : framesOf(model, (input as { samples: Numbers }).samples.shape[1]);
  const shown = encoder ? Math.min(Math.ceil((seconds + AFTER) / step), count) : count;
  const mel = 'features' in input ? input.features : logMel(samples, { rate, seconds: Math.max(seconds + AFTER, 1) });
  const cut = given.length > samples.length;
  const spectrogram = spectrogramOf(mel, Math.round(shown * step * COLUMNS));
  return { input, count, shown, step, sound: { spectrogram, step, seconds, cut, unseen: (count - shown) * step } };
}

/** Returns the sound if an attention's keys are its frames. place: in an encoder the middle frame, shown first. */
function shownSound({ sound, step, shown }: Prepared, part: string) {
  if (part === 'decoder') return {};
  const middle = Math.min(Math.floor(sound.seconds / 2 / step), shown - 1);
  return { sound, ...(part === 'encoder' && { place: middle }) };
}

/** Returns the number of frames after all convolutions. */
function framesOf({ options: { sound } }: Transformer, samples: number) {
  const { kernels = [], strides = [] } = sound ?? {};
  return kernels.reduce((n, kernel, i) => Math.floor((n - kernel) / strides[i]) + 1, samples);
}

/** Returns a spectrogram's first columns as bytes: 255 is the largest, 0 that − RANGE or less. `mel`: (1,bins,N). */
function spectrogramOf(
  { data, shape: [, bins, all] }: { data: Float32Array; shape: readonly number[] },
  wanted: number,
) {
  const columns = Math.min(wanted, all);
  const least = data.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) - RANGE;
  const bytes = new Uint8ClampedArray(bins * columns);
  for (let bin = 0; bin < bins; bin++)
    for (let i = 0; i < columns; i++) bytes[bin * columns + i] = ((data[bin * all + i] - least) / RANGE) * 255;
  return { data: bytes, bins, columns };
}

function readFrames(source: TransformerSource, { input, count, shown, step }: Prepared, run: Run, part?: string): Read {
  const frames = Array.from({ length: shown }, (_, i) => pieceOf(`${(i * step).toFixed(2)} s`));
  const all = Array.from({ length: count }, (_, i) => i);
  const { model, about } = source;
  if (!model.options.encoder)
    return { pieces: frames, ids: all, cut: false, input, place: about.guess === 'classes' ? 0 : null };
  const start = model.generation.start ?? 0;
  const text = textOf(source, run.second ?? '');
  const ids = [start, ...text.ids];
  const answer = [pieceOf(source.tokenizer.tokenOf(start) ?? String(start)), ...text.pieces];
  return {
    pieces: part === 'encoder' ? frames : answer,
    ...(part === 'cross' && { keys: frames }),
    ids: part === 'encoder' ? all : ids,
    cut: text.cut,
    input: { encoder: input, ids: { data: Int32Array.from(ids), shape: [1, ids.length] } },
    place: ids.length - 1,
  };
}

/** Encodes the decoder's text without the tokens that the tokenizer inserts. */
function textOf(source: TransformerSource, text: string) {
  const { ids, pieces, cut } = encoded(source, text);
  const isInserted = (i: number) => pieces[i].start === pieces[i].end;
  const from = ids.findIndex((_, i) => !isInserted(i));
  if (from < 0) return { ids: [], pieces: [], cut };
  const end = source.model.config?.eos_token_id;
  const to = Math.min(
    ids.at(-1) === end && isInserted(ids.length - 1) ? ids.length - 1 : ids.length,
    from + source.about.context - 1,
  );
  return { ids: ids.slice(from, to), pieces: pieces.slice(from, to), cut: cut || to - from < ids.length - from - 1 };
}
