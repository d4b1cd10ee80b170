// Transcribes speech, by the letters of frames (wav2vec 2.0, HuBERT), or token by token (Whisper).

import { readOptions, readWord } from '../../check/arguments.js';
import { argumentError } from '../../check/errors.js';
import { Letters } from '../../text/letters.js';
import { runOnce, wrongModel } from './oneSequence.js';
import { logSoftmax } from './probabilities.js';
import { rateOf, readSound } from './readSound.js';

/** @import { GeneratedToken } from '../generateOptions.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { SoundInputOptions, SoundNumbers } from './readSound.js' */

/**
 * @typedef {object} WhisperOptions
 * @property {string} [language] such as 'en'; default: the likeliest language
 * @property {'transcribe' | 'translate'} [task] 'translate': into English; default 'transcribe'
 * @property {AbortSignal} [signal] on abort the text so far is returned
 * @property {(token: GeneratedToken) => unknown} [onToken] called with each token and its text
 */
/** @typedef {SoundInputOptions & WhisperOptions} TranscribeOptions only Whisper accepts WhisperOptions */
/**
 * ids of letters or tokens, with their log-probabilities; seconds: the time at which each letter begins; language: set
 * by a Whisper model with several languages.
 * @typedef {{ text: string, ids: number[], logProbs: number[], seconds?: number[], language?: string }} Transcription
 */

const CALLER = 'transcribe';
const OF_WHISPER = /** @type {const} */ (['language', 'task', 'signal', 'onToken']);
const LANGUAGE = /^<\|[a-z]{2,3}\|>$/;

/** @param {Transformer} model @param {ArrayLike<number>} samples @param {SoundInputOptions} options */
export const prepare = (model, samples, options) =>
  readSound('sound', model, samples, readOptions('sound', options, ['rate']));

/**
 * @param {Transformer} model
 * @param {ArrayLike<number>} samples
 * @param {TranscribeOptions} options
 * @returns {Promise<Transcription>}
 */
export async function transcribe(model, samples, options) {
  const given = readOptions(CALLER, options, ['rate', ...OF_WHISPER]);
  const input = readSound(CALLER, model, samples, given);
  if ('features' in input) return decodeTokens(model, input.features, given);
  const other = OF_WHISPER.find((name) => given[name] !== undefined);
  if (other) throw argumentError(CALLER, other, given[other], 'none, because only Whisper accepts it');
  return readLetters(model, input.samples);
}

/** @param {Transformer} model @param {SoundNumbers} samples @returns {Transcription} */
function readLetters(model, samples) {
  const { tokenizer, options } = model;
  if (options.head !== 'logits' || options.classes > 0) throw wrongModel(CALLER, 'this model has no head for letters');
  if (!(tokenizer instanceof Letters)) throw wrongModel(CALLER, 'the files of this model have no vocab.json');
  return runOnce(model, CALLER, { samples }, {}, ({ logits }) => spell(tokenizer, logits, stepOf(model)));
}

/** Returns the seconds from one frame to the next. @param {Transformer} model of samples */
export const stepOf = (model) => (model.options.sound?.strides ?? []).reduce((a, b) => a * b, 1) / rateOf(model);

/**
 * Returns the likeliest letters of all frames, without repetitions and blanks.
 * @param {Letters} letters
 * @param {{ data: Float32Array, shape: readonly number[] }} logits (1,N,V)
 * @param {number} step seconds from one frame to the next
 */
export function spell(letters, { data, shape: [, frames, count] }, step) {
  /** @type {{ ids: number[], logProbs: number[], seconds: number[] }} */
  const found = { ids: [], logProbs: [], seconds: [] };
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

/**
 * Transcribes with Whisper, greedily and without timestamps.
 * @param {Transformer} model
 * @param {SoundNumbers} features
 * @param {WhisperOptions} options
 * @returns {Promise<Transcription>}
 */
async function decodeTokens(model, features, { language, task, signal, onToken }) {
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
 * Returns the tokens of the prompt after the first one: language, task and <|notimestamps|>. If the files contain none
 * of these tokens, returns an empty list; generate() then uses the forced tokens in the model's files.
 * @param {Transformer} model
 * @param {ArrayLike<number>} logits after the first token
 * @param {WhisperOptions} options
 * @returns {{ ids: number[], language?: string }}
 */
export function promptOf(model, logits, { language, task }) {
  const fields = model.generationConfig ?? {};
  const idOf = (/** @type {string} */ token) =>
    /** @type {{ idOf?: (token: string) => number | undefined }} */ (model.tokenizer).idOf?.(token);
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
  const work = readWord(CALLER, 'task', task ?? 'transcribe', /** @type {const} */ (['transcribe', 'translate']));
  const workId = fields.task_to_id?.[work] ?? idOf(`<|${work}|>`);
  return {
    ids: [languages.get(`<|${chosen}|>`), ...(workId === undefined ? [] : [workId]), ...last],
    language: chosen,
  };
}

/** Returns en for <|en|>. @param {string} token */
const plain = (token) => token.slice(2, -2);

/** Returns the ids of languages by their tokens. @param {Transformer} model @returns {Map<string, number>} */
export function languagesOf({ generationConfig, tokenizer, options }) {
  if (generationConfig?.lang_to_id) return new Map(Object.entries(generationConfig.lang_to_id));
  const { tokenOf } = /** @type {{ tokenOf?: (id: number) => string | undefined }} */ (tokenizer);
  const found = Array.from({ length: options.vocab }, (_, id) => [tokenOf?.call(tokenizer, id) ?? '', id]);
  return new Map(/** @type {[string, number][]} */ (found).filter(([token]) => LANGUAGE.test(token)));
}
