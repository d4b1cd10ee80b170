// Transcribes speech, by the letters of frames (wav2vec 2.0, HuBERT), or token by token (Whisper).

import { readOptions, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { Letters } from '../../text/letters.ts';
import type { GeneratedToken } from '../generation/generateOptions.ts';
import type { Transformer } from '../transformer.ts';
import { runOnce, wrongModel } from './oneSequence.ts';
import { logSoftmax } from './probabilities.ts';
import { rateOf, readSound, type SoundInputOptions, type SoundNumbers } from './readSound.ts';

export type WhisperOptions = {
  /** such as 'en'; default: the likeliest language */
  language?: string | undefined;
  /** 'translate': into English; default 'transcribe' */
  task?: 'transcribe' | 'translate' | undefined;
  /** on abort the text so far is returned */
  signal?: AbortSignal | undefined;
  /** called with each token and its text */
  onToken?: ((token: GeneratedToken) => unknown) | undefined;
};
/** only Whisper accepts WhisperOptions */
export type TranscribeOptions = SoundInputOptions & WhisperOptions;
/**
 * ids of letters or tokens, with log-probabilities; seconds: when each letter begins; language: of a Whisper model with
 * several.
 */
export type Transcription = { text: string; ids: number[]; logProbs: number[]; seconds?: number[]; language?: string };

const CALLER = 'transcribe';
const OF_WHISPER = ['language', 'task', 'signal', 'onToken'] as const;
const LANGUAGE = /^<\|[a-z]{2,3}\|>$/;

export const prepare = (model: Transformer, samples: ArrayLike<number>, options: SoundInputOptions) =>
  readSound('sound', model, samples, readOptions('sound', options, ['rate']));

export async function transcribe(
  model: Transformer,
  samples: ArrayLike<number>,
  options: TranscribeOptions,
): Promise<Transcription> {
  const given = readOptions(CALLER, options, ['rate', ...OF_WHISPER]);
  const input = readSound(CALLER, model, samples, given);
  if ('features' in input) return decodeTokens(model, input.features, given);
  const other = OF_WHISPER.find((name) => given[name] !== undefined);
  if (other) throw argumentError(CALLER, other, given[other], 'none, because only Whisper accepts it');
  return readLetters(model, input.samples);
}

function readLetters(model: Transformer, samples: SoundNumbers): Transcription {
  const { tokenizer, options } = model;
  if (options.head !== 'logits' || options.classes > 0) throw wrongModel(CALLER, 'this model has no head for letters');
  if (!(tokenizer instanceof Letters)) throw wrongModel(CALLER, 'the files of this model have no vocab.json');
  return runOnce(model, CALLER, { samples }, {}, ({ logits }) => spell(tokenizer, logits, stepOf(model)));
}

/** Returns the seconds from one frame to the next. model: of samples. */
export const stepOf = (model: Transformer) =>
  (model.options.sound?.strides ?? []).reduce((a, b) => a * b, 1) / rateOf(model);

/** The likeliest letters of frames (1,N,V), without repetitions and blanks. step: seconds between frames. */
export function spell(
  letters: Letters,
  { data, shape: [, frames, count] }: { data: Float32Array; shape: readonly number[] },
  step: number,
) {
  const found: { ids: number[]; logProbs: number[]; seconds: number[] } = { ids: [], logProbs: [], seconds: [] };
  let before = letters.blank;
  for (let t = 0; t < frames; t++) {
    const row = logSoftmax(Float64Array.from(data.subarray(t * count, (t + 1) * count)));
    const id = row.reduce((best, x, i) => (x > row[best] ? i : best), 0);
    if (id !== before && id !== letters.blank) {
      found.ids.push(id);
      found.logProbs.push(row[id]);
      found.seconds.push(t * step);
    }
    before = id;
  }
  return { text: letters.decode(found.ids).trim(), ...found };
}

/** Transcribes with Whisper, greedily and without timestamps. */
async function decodeTokens(
  model: Transformer,
  features: SoundNumbers,
  { language, task, signal, onToken }: WhisperOptions,
): Promise<Transcription> {
  if (!model.tokenizer) throw wrongModel(CALLER, 'the files of this model have no tokenizer.json');
  const start = model.generation.start ?? 0;
  const cache = model.growingCache({ length: model.options.context }, 64);
  try {
    const logits = runOnce(model, CALLER, { encoder: { features }, ids: [start] }, { cache, last: true }, (result) =>
      Float64Array.from(result.logits.data),
    );
    const { ids, language: chosen } = promptOf(model, logits, { language, task });
    if (ids.length === 0) cache.rewind(0);
    const prompt = { encoder: { features }, ids: ids.length === 0 ? [start] : ids };
    const settings = { cache, temperature: 0, ...(ids.length > 0 && { forced: [] }) };
    const result = await model.generate(prompt, {
      ...settings,
      ...(signal && { signal }),
      ...(onToken && { onToken }),
    });
    const { text, ids: made, logProbs } = result;
    return { text: text.trim(), ids: made, logProbs, ...(chosen !== undefined && { language: chosen }) };
  } finally {
    cache.dispose();
  }
}

/**
 * Tokens after the first: language, task and <|notimestamps|>. Without any in the files, generate() uses the forced
 * tokens. logits: after the first token.
 */
export function promptOf(
  model: Transformer,
  logits: ArrayLike<number>,
  { language, task }: WhisperOptions,
): { ids: number[]; language?: string } {
  const fields = model.generationConfig ?? {};
  const idOf = (token: string) => (model.tokenizer as { idOf?: (token: string) => number | undefined }).idOf?.(token);
  const silent = fields.no_timestamps_token_id ?? idOf('<|notimestamps|>');
  const last = silent === undefined ? [] : [silent];
  const languages = fields.is_multilingual === false ? new Map() : languagesOf(model);
  if (languages.size === 0) {
    const [name, got] = language !== undefined ? ['language', language] : ['task', task];
    if (got !== undefined) throw argumentError(CALLER, name, got, 'none, as this model has only one language');
    return { ids: last };
  }
  const tokens = [...languages.keys()];
  const best = tokens.reduce((a, b) => (logits[languages.get(b)] > logits[languages.get(a)] ? b : a));
  const chosen = language === undefined ? plain(best) : readWord(CALLER, 'language', language, tokens.map(plain));
  const work = readWord(CALLER, 'task', task ?? 'transcribe', ['transcribe', 'translate'] as const);
  const workId = fields.task_to_id?.[work] ?? idOf(`<|${work}|>`);
  return {
    ids: [languages.get(`<|${chosen}|>`), ...(workId === undefined ? [] : [workId]), ...last],
    language: chosen,
  };
}

/** Returns en for <|en|>. */
const plain = (token: string) => token.slice(2, -2);

/** Returns the ids of languages by their tokens. */
export function languagesOf({ generationConfig, tokenizer, options }: Transformer): Map<string, number> {
  if (generationConfig?.lang_to_id) return new Map(Object.entries(generationConfig.lang_to_id));
  const { tokenOf } = tokenizer as { tokenOf?: (id: number) => string | undefined };
  const found = Array.from({ length: options.vocab }, (_, id) => [tokenOf?.call(tokenizer, id) ?? '', id]);
  return new Map((found as [string, number][]).filter(([token]) => LANGUAGE.test(token)));
}
