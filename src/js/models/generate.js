// Generates tokens after a prompt.

import { readBoolean, readNumber, readOptions, readSignal } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { readNumbers, toLabels } from '../ops/labels.js';
import { uniformSource } from '../ops/random.js';
import { restrict, sample } from '../text/sampling.js';
import { decodeStream, stopStream } from '../text/stream.js';
import { checkCache, checkDecoder } from './cache.js';
import { GenerationSteps } from './generationSteps.js';
import { readNamed, refuseTexts } from './input.js';
import { encodePrompt } from './results/encodePrompt.js';

/** @import { Cache } from './cache.js' */
/** @import { Edit } from './edits.js' */
/** @import { GenerationDefaults } from './checkpoint/generationConfig.js' */
/** @import { ModelInput, PlainInput } from './input.js' */
/** @import { Resolved } from './options.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * Defaults come from the model's generation_config.json, in `model.generation`, else they are as described here.
 * @typedef {object} GenerateOptions
 * @property {number} [max] largest number of tokens; default: until an end token, or the end of the context or the
 *   cache
 * @property {number} [temperature] 0, the default, chooses the most probable token
 * @property {number} [topK] number of the most probable tokens that may be chosen
 * @property {number} [topP] only the most probable tokens that together have this probability may be chosen
 * @property {number} [repetitionPenalty] for tokens of the prompt and the generated text: positive logits are divided
 *   by it, negative ones multiplied; default 1
 * @property {readonly number[]} [suppress] tokens that are never chosen
 * @property {readonly number[]} [suppressFirst] tokens that are not chosen first, or first after forced tokens
 * @property {readonly (readonly [index: number, id: number])[]} [forced] tokens that are chosen at an index of
 *   the sequence
 * @property {number} [seed] default 0
 * @property {readonly (number | string)[]} [stop] tokens or texts that end it; default: the end tokens of the model
 * @property {Cache} [cache] its tokens come before the prompt; it cannot be used otherwise until the end
 * @property {readonly Edit[]} [edit] applied to every token
 * @property {boolean} [lookup] true: the tokens that followed an earlier occurrence of the last three are a draft,
 *   which one run checks: a text that repeats itself takes less time. Another token can only be chosen where two are
 *   almost equally likely, as the logits of several rows may differ in their last digits. Default false; no effect with
 *   edits
 * @property {AbortSignal} [signal] on abort the tokens so far are returned
 * @property {(token: GeneratedToken) => unknown} [onToken] called with each token and its text. If the token ends with
 *   a part of a character or of a stop text, it is held back until the next one or the end. The texts concatenated are
 *   the text of the result. A promise is awaited; if it rejects, generate rejects
 */
/** @typedef {{ id: number, text: string, logProb: number }} GeneratedToken */
/**
 * ended: 'context' if the context or the cache has no room for another token.
 * @typedef {{ ids: number[], text: string, logProbs: number[],
 *   ended: 'max' | 'context' | 'stop' | 'signal' }} Generated
 */
/** @typedef {ReturnType<typeof readGenerateOptions>} Request */
/** @typedef {{ ids: number[], encoder?: PlainInput }} Prompt */

const OPTIONS = [
  'max',
  'temperature',
  'topK',
  'topP',
  'repetitionPenalty',
  'suppress',
  'suppressFirst',
  'forced',
  'seed',
  'stop',
  'cache',
  'edit',
  'lookup',
  'signal',
  'onToken',
];
const CALLER = 'generate';
const COUNT = { integer: true, least: 0 };
/** Milliseconds after which the event loop runs: less than a frame of the screen. */
const YIELD_AFTER = 12;
/** Tokens after the prompt for which a new cache allocates memory at first. */
const INITIAL_ROOM = 64;

/** @param {string} parameter @param {unknown} value @param {import('../check/arguments.js').NumberRange} range */
const readOptional = (parameter, value, range) =>
  value === undefined ? undefined : readNumber(CALLER, parameter, value, range);

/** @param {unknown} stop */
function readStop(stop = []) {
  if (!Array.isArray(stop)) throw argumentError(CALLER, 'stop', stop, 'a list of tokens and texts');
  for (const [i, entry] of stop.entries())
    if (typeof entry !== 'string') readNumber(CALLER, `stop[${i}]`, entry, COUNT);
  return {
    ids: new Set(stop.filter((entry) => typeof entry === 'number')),
    texts: /** @type {string[]} */ (stop.filter((entry) => typeof entry === 'string' && entry !== '')),
  };
}

/** @param {string} parameter @param {unknown} ids @returns {number[]} */
function readIds(parameter, ids = []) {
  if (!Array.isArray(ids)) throw argumentError(CALLER, parameter, ids, 'a list of tokens');
  return ids.map((id, i) => readNumber(CALLER, `${parameter}[${i}]`, id, COUNT));
}

/** @param {unknown} forced @param {number} vocab @returns {Map<number, number>} ids by index */
function readForced(forced = [], vocab) {
  if (!Array.isArray(forced)) throw argumentError(CALLER, 'forced', forced, 'a list of [index, id]');
  const pairs = forced.map((pair, i) => {
    if (!Array.isArray(pair)) throw argumentError(CALLER, `forced[${i}]`, pair, '[index, id]');
    const index = readNumber(CALLER, `forced[${i}][0]`, pair[0], COUNT);
    const id = readNumber(CALLER, `forced[${i}][1]`, pair[1], { ...COUNT, most: vocab - 1 });
    return /** @type {const} */ ([index, id]);
  });
  return new Map(pairs);
}

/** The options with their defaults. @param {Transformer} model @param {GenerateOptions} options */
function readGenerateOptions(model, options) {
  const given = { ...model.generation, ...readOptions(CALLER, options, OPTIONS) };
  const { max = Infinity, onToken, edit, cache } = given;
  if (max !== Infinity) readNumber(CALLER, 'max', max, COUNT);
  if (onToken !== undefined && typeof onToken !== 'function')
    throw argumentError(CALLER, 'onToken', onToken, 'a function');
  if (cache !== undefined) checkCache(CALLER, model.options, cache);
  return {
    max,
    onToken,
    edit,
    cache,
    lookup: readBoolean(CALLER, 'lookup', given.lookup ?? false),
    signal: readSignal(CALLER, given.signal),
    stop: readStop(given.stop),
    repetitionPenalty: readNumber(CALLER, 'repetitionPenalty', given.repetitionPenalty ?? 1, { least: 1e-6 }),
    suppress: readIds('suppress', given.suppress),
    suppressFirst: readIds('suppressFirst', given.suppressFirst),
    forced: readForced(given.forced, model.options.vocab),
    sampling: {
      temperature: readNumber(CALLER, 'temperature', given.temperature ?? 0, { least: 0 }),
      topK: readOptional('topK', given.topK, { integer: true, least: 1 }),
      topP: readOptional('topP', given.topP, { least: 0, most: 1 }),
      random: uniformSource(readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true })),
    },
  };
}

/**
 * The first ids, and the input of an encoder.
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @returns {Prompt}
 */
function readPrompt(model, prompt) {
  const { options, generation } = model;
  if (options.head !== 'logits' || options.classes > 0)
    throw new HeadlightError('STATE', `${CALLER}: this model has no logits of tokens`);
  checkDecoder(CALLER, options);
  if (options.encoder) {
    const { encoder = prompt, ids } = /** @type {{ encoder?: PlainInput, ids?: unknown }} */ (
      typeof prompt === 'object' && prompt !== null && 'encoder' in prompt ? prompt : { encoder: prompt }
    );
    const input = typeof encoder === 'string' ? { ids: [...model.encode(encoder).ids] } : encoder;
    const start = ids === undefined ? [generation.start ?? 0] : readLabels('prompt.ids', ids, options);
    return { ids: start, encoder: /** @type {PlainInput} */ (input) };
  }
  if (typeof prompt === 'string') return { ids: readLabels('prompt', encodePrompt(model, prompt), options) };
  const { given, called } = readNamed(`${CALLER}: prompt`, prompt);
  const { ids, keep, ...others } = given;
  refuseTexts(CALLER, 'prompt', ids);
  const name = Object.keys(others)[0];
  if (name) throw argumentError(CALLER, `prompt.${called[name] ?? name}`, others[name], 'none: a prompt has only ids');
  if (keep !== undefined && readLabels(called.keep ?? 'keep', keep, { vocab: 2 }).includes(0))
    throw argumentError(CALLER, called.keep ?? 'keep', keep, '1 for every token: leave padding out of the prompt');
  return { ids: readLabels('prompt', ids, options) };
}

/**
 * One sequence: (T) or (1,T).
 * @param {string} parameter
 * @param {any} given
 * @param {Pick<Resolved, 'vocab'>} options
 */
function readLabels(parameter, given, { vocab }) {
  const { ints, shape } = toLabels(readNumbers(given, CALLER, parameter), CALLER, vocab, undefined, parameter);
  if (shape.length !== 1 && !(shape.length === 2 && shape[0] === 1))
    throw shapeError(CALLER, parameter, shape, 'one sequence, (T): call forward for a batch');
  if (ints.length === 0) throw argumentError(CALLER, parameter, given, 'at least one token');
  return [...ints];
}

/**
 * room: how many tokens fit after the prompt. beyond: the length of the sequence from which on all tokens are rotated
 * by other angles.
 * @param {Resolved} options
 * @param {Cache | undefined} cache
 * @param {number} start tokens of the prompt
 */
function findRoom({ context, rotary }, cache, start) {
  // From `beyond` on, all tokens must be computed again, which is impossible for the tokens of a given cache: their ids
  // are unknown.
  const beyond = rotary?.long?.beyond ?? Infinity;
  const limit = cache && cache.length > 0 && !cache.far ? beyond : Infinity;
  const room = Math.min(context, cache?.capacity ?? context, limit) - (cache?.length ?? 0) - start;
  if (room < 0) throw shapeError(CALLER, 'prompt', [start], `at most ${start + room} tokens: there is no more room`);
  return { beyond, room };
}

/** The generated tokens, and their text as far as it is certain. */
class Output {
  /** @type {number[]} */
  ids = [];
  /** @type {number[]} */
  logProbs = [];
  text = '';
  #decoder;
  #stops;
  #onToken;
  /**
   * The last token, if it is held back.
   * @type {GeneratedToken | undefined}
   */
  #held;

  /** @param {Transformer} model @param {Request} request */
  constructor({ tokenizer }, { stop, onToken }) {
    this.#decoder = decodeStream(tokenizer ?? { decode: () => '' });
    this.#stops = stopStream(stop.texts);
    this.#onToken = onToken;
  }

  async #emitHeld(rest = '') {
    const held = this.#held;
    this.#held = undefined;
    if (held) await this.#onToken?.({ ...held, text: held.text + rest });
  }

  /** @param {number} id @param {number} logProb @returns {Promise<boolean>} true at a stop text */
  async add(id, logProb) {
    await this.#emitHeld();
    this.ids.push(id);
    this.logProbs.push(logProb);
    const { text, stop } = this.#stops.push(this.#decoder.push(id));
    this.text += text;
    this.#held = { id, text, logProb };
    if (stop !== null || !(this.#decoder.holds || this.#stops.holds)) await this.#emitHeld();
    return stop !== null;
  }

  /** Emits the text that was held back. */
  async flush() {
    const rest = this.#stops.push(this.#decoder.end()).text + this.#stops.end();
    this.text += rest;
    await this.#emitHeld(rest);
  }
}

/**
 * Chooses the next token by the logits of the last one.
 * @param {Float32Array} logits
 * @param {Request} request
 * @param {{ before: () => readonly number[], index: number, first: number }} at the ids before it, its index in the
 *   sequence, and the index of the first generated token
 */
function choose(logits, request, { before, index, first }) {
  const { forced, suppress, suppressFirst, repetitionPenalty, sampling } = request;
  const begin = Math.max(first, ...[...forced.keys()].map((forcedIndex) => forcedIndex + 1));
  restrict(logits, {
    repeated: repetitionPenalty === 1 ? [] : before(),
    repetitionPenalty,
    suppress: index === begin ? [...suppress, ...suppressFirst] : suppress,
    forced: forced.get(index),
  });
  return sample(logits, sampling);
}

/**
 * @param {Transformer} model
 * @param {Request} request
 * @param {Prompt} prompt
 * @param {Cache} cache which this call has locked
 * @param {{ room: number, beyond: number }} limits
 * @returns {Promise<Generated>}
 */
async function generateTokens(model, request, { ids: start, encoder }, cache, { room, beyond }) {
  const { edit, lookup, signal, stop, max } = request;
  const output = new Output(model, request);
  const steps = new GenerationSteps(model, cache, { encoder, edit, beyond, lookup });
  const end = (/** @type {Generated['ended']} */ ended) => {
    const { ids, text, logProbs } = output;
    steps.end();
    return { ids, text, logProbs, ended };
  };
  const first = cache.length + start.length;
  // The last token does not enter the model, so that one more than `room` fits.
  const limit = Math.min(max, room + 1);
  let next = start;
  let lastYield = Date.now();
  while (output.ids.length < limit) {
    if (signal?.aborted) {
      await output.flush();
      return end('signal');
    }
    const before = () => [...start, ...output.ids];
    const logits = steps.after(next, before);
    const { id, logProb } = choose(logits, request, { before, index: first + output.ids.length, first });
    if (stop.ids.has(id)) {
      await output.flush();
      return end('stop');
    }
    if (await output.add(id, logProb)) return end('stop');
    next = [id];
    if (Date.now() - lastYield > YIELD_AFTER) {
      await new Promise((resolve) => setTimeout(resolve));
      lastYield = Date.now();
    }
  }
  await output.flush();
  return end(output.ids.length < max ? 'context' : 'max');
}

/**
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @param {GenerateOptions} options
 * @returns {Promise<Generated>}
 */
export async function generate(model, prompt, options) {
  const request = readGenerateOptions(model, options);
  const read = readPrompt(model, prompt);
  const start = read.ids.length;
  const limits = findRoom(model.options, request.cache, start);
  const length = Math.min(start + limits.room, start + request.max);
  const cache = request.cache ?? model.growingCache({ length: Math.max(length, 1) }, start + INITIAL_ROOM);
  cache.lock(CALLER);
  try {
    return await generateTokens(model, request, read, cache, limits);
  } finally {
    cache.unlock();
    if (!request.cache) cache.dispose();
  }
}
