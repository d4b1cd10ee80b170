// The options of generate().

import { type NumberRange, readBoolean, readNumber, readOptions, readSignal } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { Tensor } from '../../memory/tensor.ts';
import { type Cache, checkCache } from '../cache.ts';
import type { Edit } from '../edits.ts';
import type { Transformer } from '../transformer.ts';
import type { ValueName } from '../valueName.ts';

/**
 * Defaults come from the model's generation_config.json, in `model.generation`. Without it they are as described here.
 */
export type GenerateOptions = {
  /** largest number of generated tokens; default: until an end token, or until the context or the cache is full */
  max?: number | undefined;
  /** 0, the default, chooses the most probable token */
  temperature?: number | undefined;
  /** number of the most probable tokens that may be chosen */
  topK?: number | undefined;
  /** only the most probable tokens that together have this probability may be chosen */
  topP?: number | undefined;
  /** positive logits of tokens so far, with the prompt, are divided by it, negative ones multiplied; default 1 */
  repetitionPenalty?: number | undefined;
  /** no sequence of this many tokens occurs twice in the prompt and the generated text; default 0, no limit */
  noRepeatNgram?: number | undefined;
  /** smallest number of generated tokens before an end token; default 0 */
  min?: number | undefined;
  /** smallest number of all tokens, with those of the prompt, before an end token */
  minLength?: number | undefined;
  /** sequences of tokens that are never completed */
  badWords?: readonly (readonly number[])[] | undefined;
  /** one of these tokens is chosen as the last one that `max` allows */
  forcedEnd?: readonly number[] | undefined;
  /** tokens that are never chosen */
  suppress?: readonly number[] | undefined;
  /** tokens that are not chosen as the first generated token, or as the first token after forced tokens */
  suppressFirst?: readonly number[] | undefined;
  /** tokens that are chosen at an index of the sequence */
  forced?: readonly (readonly [index: number, id: number])[] | undefined;
  /** default 0; each of several texts has a random source of its own with this seed */
  seed?: number | undefined;
  /** tokens or texts that end the generated text; default: the end tokens of the model */
  stop?: readonly (number | string)[] | undefined;
  /** a cache whose tokens come before the prompt; nothing else can use it until generate ends */
  cache?: Cache | undefined;
  /** edits that are applied in every run */
  edit?: readonly Edit[] | undefined;
  /**
   * values, named as in forward(), of the run that predicted each token: of the prompt for the first token, of the
   * token before for later ones; 'logits' has the last row only. Needs a loop over the tokens, or onToken
   */
  capture?: readonly ValueName[] | undefined;
  /**
   * true: the tokens after an earlier occurrence of the last three are drafted and checked in one run, which is faster
   * for texts that repeat themselves. The result can differ only where two tokens are almost equally likely, because
   * logits of several rows may differ in their last digits. Default false; no effect with edits or captured values
   */
  lookup?: boolean | undefined;
  /**
   * texts that a beam search, which samples nothing, continues at once; default 1, no search. `num_beams` in files is
   * ignored
   */
  beams?: number | undefined;
  /** with beams: a text of n tokens, with the end token, scores `sum of logProbs / n ** lengthPenalty`; default 1 */
  lengthPenalty?: number | undefined;
  /**
   * with beams, what happens when as many texts have ended as there are beams. true: the search ends; false, the
   * default: it continues while the best unfinished text would, if it ended now, score better than the worst ended one;
   * 'never': the same with its score at the maximum length
   */
  earlyStopping?: boolean | 'never' | undefined;
  /** on abort the tokens so far are returned */
  signal?: AbortSignal | undefined;
  /**
   * called with each token and its text, and the index in a list of prompts. Part of a character or of a stop text is
   * held back until the next token or the end; all texts concatenated are the result. A promise is awaited; if it
   * rejects, generate rejects
   */
  onToken?: ((token: GeneratedToken, index: number) => unknown) | undefined;
};
/**
 * token: as in encode(), or '' without a tokenizer; captured: valid until the loop asks for the next token or leaves,
 * or the promise of onToken settles. Copy what is needed longer.
 */
export type GeneratedToken = {
  id: number;
  token: string;
  text: string;
  logProb: number;
  captured: Record<string, Tensor>;
};
/** logProbs: of each token. ended: 'context' if context or cache is full. score: of the text in a beam search. */
export type Generated = {
  ids: number[];
  text: string;
  logProbs: number[];
  ended: 'max' | 'context' | 'stop' | 'signal';
  score?: number;
};
export type BeamOptions = { count: number; lengthPenalty: number; earlyStopping: boolean | 'never' };
export type Request = ReturnType<typeof readGenerateOptions>;

const OPTIONS = [
  'max',
  'temperature',
  'topK',
  'topP',
  'repetitionPenalty',
  'suppress',
  'suppressFirst',
  'forced',
  'noRepeatNgram',
  'min',
  'minLength',
  'badWords',
  'forcedEnd',
  'seed',
  'stop',
  'cache',
  'edit',
  'capture',
  'lookup',
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'signal',
  'onToken',
];
export const CALLER = 'generate';
const COUNT = { integer: true, least: 0 };
/** Options that several texts, or beams, do not accept, and the value that errors say is expected. */
const NOT_WITH_SEVERAL = { cache: 'none', edit: 'none', capture: 'none', lookup: 'false', beams: '1' };
const NOT_WITH_BEAMS = { cache: 'none', capture: 'none', lookup: 'false', temperature: '0', onToken: 'none' };

const readOptional = (parameter: string, value: unknown, range: NumberRange) =>
  value === undefined ? undefined : readNumber(CALLER, parameter, value, range);

function readStop(stop: unknown = []) {
  if (!Array.isArray(stop)) throw argumentError(CALLER, 'stop', stop, 'a list of tokens and texts');
  for (const [i, entry] of stop.entries())
    if (typeof entry !== 'string') readNumber(CALLER, `stop[${i}]`, entry, COUNT);
  return {
    ids: new Set(stop.filter((entry) => typeof entry === 'number')),
    texts: stop.filter((entry) => typeof entry === 'string' && entry !== '') as string[],
  };
}

function readIds(parameter: string, ids: unknown = []): number[] {
  if (!Array.isArray(ids)) throw argumentError(CALLER, parameter, ids, 'a list of tokens');
  return ids.map((id, i) => readNumber(CALLER, `${parameter}[${i}]`, id, COUNT));
}

function readForced(forced: unknown = [], vocab: number): Map<number, number> {
  if (!Array.isArray(forced)) throw argumentError(CALLER, 'forced', forced, 'a list of [index, id]');
  const pairs = forced.map((pair, i) => {
    if (!Array.isArray(pair)) throw argumentError(CALLER, `forced[${i}]`, pair, '[index, id]');
    const index = readNumber(CALLER, `forced[${i}][0]`, pair[0], COUNT);
    const id = readNumber(CALLER, `forced[${i}][1]`, pair[1], { ...COUNT, most: vocab - 1 });
    return [index, id] as const;
  });
  return new Map(pairs);
}

function readBadWords(words: unknown = []): number[][] {
  if (!Array.isArray(words)) throw argumentError(CALLER, 'badWords', words, 'a list of lists of tokens');
  return words.map((word, i) => {
    const parameter = `badWords[${i}]`;
    const ids = readIds(parameter, word ?? null);
    if (ids.length === 0) throw argumentError(CALLER, parameter, word, 'at least one token');
    return ids;
  });
}

function readForcedEnd(ids: unknown, vocab: number) {
  const read = readIds('forcedEnd', ids);
  for (const [i, id] of read.entries()) readNumber(CALLER, `forcedEnd[${i}]`, id, { ...COUNT, most: vocab - 1 });
  return read;
}

/** others: names of options, with the value that is expected; reason: 'beams', 'several texts' … */
function refuse(given: Record<string, any>, others: Record<string, string>, reason: string) {
  for (const [name, expected] of Object.entries(others)) {
    const value = given[name];
    const isDefault = value === undefined || value === false || String(value) === expected;
    if (!isDefault) throw argumentError(CALLER, name, value, `${expected} with ${reason}`);
  }
}

/** undefined without a search */
function readBeams(given: GenerateOptions): BeamOptions | undefined {
  const { lengthPenalty, earlyStopping = false } = given;
  const count = readNumber(CALLER, 'beams', given.beams ?? 1, { integer: true, least: 1, most: 1024 });
  if (count === 1) {
    refuse(given, { lengthPenalty: 'none', earlyStopping: 'none' }, 'one beam');
    return undefined;
  }
  refuse(given, NOT_WITH_BEAMS, 'beams');
  const text = given.stop?.find((entry) => typeof entry === 'string');
  if (text !== undefined)
    throw argumentError(CALLER, 'stop', given.stop, 'only token ids, because beam search does not support stop texts');
  if (earlyStopping !== true && earlyStopping !== false && earlyStopping !== 'never')
    throw argumentError(CALLER, 'earlyStopping', earlyStopping, "true, false or 'never'");
  return {
    count,
    lengthPenalty: readNumber(CALLER, 'lengthPenalty', lengthPenalty ?? 1, {}),
    earlyStopping,
  };
}

/** Returns the options with their defaults. several: true for a list of prompts. */
export function readGenerateOptions(model: Transformer, options: GenerateOptions, several: boolean) {
  const own = readOptions(CALLER, options, OPTIONS) as GenerateOptions;
  const given = { ...model.generation, ...own };
  const { max = Infinity, onToken, edit, capture, cache } = given;
  if (max !== Infinity) readNumber(CALLER, 'max', max, COUNT);
  if (onToken !== undefined && typeof onToken !== 'function')
    throw argumentError(CALLER, 'onToken', onToken, 'a function');
  if (cache !== undefined) checkCache(CALLER, model.options, cache);
  const stop = readStop(given.stop);
  const isEnd = (word: number[]) => word.length === 1 && stop.ids.has(word[0]);
  if (several) refuse(own, NOT_WITH_SEVERAL, 'several texts');
  if (capture !== undefined && !onToken && !own.beams)
    throw argumentError(CALLER, 'capture', capture, 'none without a loop over the tokens, or onToken');
  return {
    max,
    onToken,
    edit,
    capture,
    cache,
    lookup: readBoolean(CALLER, 'lookup', given.lookup ?? false),
    signal: readSignal(CALLER, given.signal),
    stop,
    repetitionPenalty: readNumber(CALLER, 'repetitionPenalty', given.repetitionPenalty ?? 1, { least: 1e-6 }),
    suppress: readIds('suppress', given.suppress),
    suppressFirst: readIds('suppressFirst', given.suppressFirst),
    forced: readForced(given.forced, model.options.vocab),
    // The files' forced end is not chosen if the call says that this token does not end a text.
    forcedEnd: readForcedEnd(given.forcedEnd, model.options.vocab).filter((id) => own.forcedEnd || stop.ids.has(id)),
    noRepeatNgram: readNumber(CALLER, 'noRepeatNgram', given.noRepeatNgram ?? 0, COUNT),
    min: readNumber(CALLER, 'min', given.min ?? 0, COUNT),
    minLength: readNumber(CALLER, 'minLength', given.minLength ?? 0, COUNT),
    // As in the library transformers, an end token alone is no bad word.
    badWords: readBadWords(given.badWords).filter((word) => !isEnd(word)),
    sampling: {
      temperature: readNumber(CALLER, 'temperature', given.temperature ?? 0, { least: 0 }),
      topK: readOptional('topK', given.topK, { integer: true, least: 1 }),
      topP: readOptional('topP', given.topP, { least: 0, most: 1 }),
    },
    seed: readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true }),
    // Only the call's options: a temperature in the model's files must not make a beam search fail.
    beams: readBeams(own),
  };
}
