// Writes on, token by token.

import { readNumber, readOptions, readSignal } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { shapeOf, viewOf } from '../memory/tensor.js';
import { readNumbers, toLabels } from '../ops/labels.js';
import { uniformSource } from '../ops/random.js';
import { restrict, sample } from '../text/sampling.js';
import { decodeStream, stopStream } from '../text/stream.js';
import { checkCache, checkDecoder } from './cache.js';
import { readNamed, refuseTexts } from './input.js';

/** @import { Cache } from './cache.js' */
/** @import { Edit } from './edits.js' */
/** @import { GenerationDefaults } from './checkpoint/generationConfig.js' */
/** @import { ModelInput, PlainInput } from './input.js' */
/** @import { Resolved } from './options.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * Defaults are those of the model's generation_config.json, in `model.generation`, and without one as described here.
 * @typedef {object} GenerateOptions
 * @property {number} [max] tokens at most; default: until an end token, or the end of the context or the cache
 * @property {number} [temperature] 0, the default, takes the likeliest token
 * @property {number} [topK] only so many of the likeliest may be chosen
 * @property {number} [topP] only the likeliest that together have this probability may be chosen
 * @property {number} [repetitionPenalty] positive logits of tokens in the prompt and the text so far are divided by it,
 *   negative ones multiplied; default 1
 * @property {readonly number[]} [suppress] tokens that are never chosen
 * @property {readonly number[]} [suppressFirst] tokens that are not chosen first; after forced tokens, if there are any
 * @property {readonly (readonly [place: number, id: number])[]} [forced] tokens that are chosen at a place of the
 *   sequence, whose first token is at place 0
 * @property {number} [seed] default 0
 * @property {readonly (number | string)[]} [stop] tokens or texts that end it; default: the end tokens of the model
 * @property {Cache} [cache] its tokens come before the prompt; nobody else may use it until the end
 * @property {readonly Edit[]} [edit] applied to every token
 * @property {AbortSignal} [signal] the tokens so far are given then
 * @property {(token: GeneratedToken) => unknown} [onToken] text: as much as is certain
 *   with this token: a part of a character, or of a text that ends it, is held back, and the token itself until the
 *   next one or the end. The texts add up to that of the result. A promise is awaited; if it rejects, so does generate
 */
/** @typedef {{ id: number, text: string, logProb: number }} GeneratedToken */
/**
 * ended: 'context' where there is no room for another token, in the context or in the cache.
 * @typedef {{ ids: number[], text: string, logProbs: number[],
 *   ended: 'max' | 'context' | 'stop' | 'signal' }} Generated
 */
/** @typedef {ReturnType<typeof readAsked>} Asked */
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
  'signal',
  'onToken',
];
const CALLER = 'generate';
const COUNT = { integer: true, least: 0 };
/** Milliseconds after which others get their turn. */
const TURN = 12;
/** Tokens beyond the prompt that a cache has room for at first. */
const ROOM = 64;

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

/** @param {unknown} forced @param {number} vocab @returns {Map<number, number>} ids by their place */
function readForced(forced = [], vocab) {
  if (!Array.isArray(forced)) throw argumentError(CALLER, 'forced', forced, 'a list of [place, id]');
  const pairs = forced.map((pair, i) => {
    if (!Array.isArray(pair)) throw argumentError(CALLER, `forced[${i}]`, pair, '[place, id]');
    const place = readNumber(CALLER, `forced[${i}][0]`, pair[0], COUNT);
    const id = readNumber(CALLER, `forced[${i}][1]`, pair[1], { ...COUNT, most: vocab - 1 });
    return /** @type {const} */ ([place, id]);
  });
  return new Map(pairs);
}

/** The options, with defaults. @param {Transformer} model @param {GenerateOptions} options */
function readAsked(model, options) {
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
 * The ids to begin with, and the input of an encoder.
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
  if (typeof prompt === 'string') return { ids: readLabels('prompt', model.encode(prompt).ids, options) };
  const { given, called } = readNamed(`${CALLER}: prompt`, prompt);
  const { ids, keep, ...others } = given;
  refuseTexts(CALLER, 'prompt', ids);
  const name = Object.keys(others)[0];
  if (name) throw argumentError(CALLER, `prompt.${called[name] ?? name}`, others[name], 'none: a prompt has ids alone');
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
 * How many tokens fit after the prompt, and up to which length of the sequence all turn by the same angles.
 * @param {Resolved} options
 * @param {Cache | undefined} cache
 * @param {number} start tokens of the prompt
 */
function findRoom({ context, rotary }, cache, start) {
  // Beyond these all tokens turn by other angles: tokens of a cache that are not known cannot be computed again.
  const beyond = rotary?.long?.beyond ?? Infinity;
  const near = cache && cache.length > 0 && !cache.far ? beyond : Infinity;
  const room = Math.min(context, cache?.capacity ?? context, near) - (cache?.length ?? 0) - start;
  if (room < 0) throw shapeError(CALLER, 'prompt', [start], `at most ${start + room} tokens: there is no more room`);
  return { beyond, room };
}

/** The tokens so far, and their text as far as it is certain. */
class Written {
  /** @type {number[]} */
  ids = [];
  /** @type {number[]} */
  logProbs = [];
  text = '';
  #decoded;
  #unstopped;
  #onToken;
  /**
   * The last token while some of its text is held back.
   * @type {GeneratedToken | undefined}
   */
  #late;

  /** @param {Transformer} model @param {Asked} asked */
  constructor({ tokenizer }, { stop, onToken }) {
    this.#decoded = decodeStream(tokenizer ?? { decode: () => '' });
    this.#unstopped = stopStream(stop.texts);
    this.#onToken = onToken;
  }

  async #giveLate(rest = '') {
    const late = this.#late;
    this.#late = undefined;
    if (late) await this.#onToken?.({ ...late, text: late.text + rest });
  }

  /** @param {number} id @param {number} logProb @returns {Promise<boolean>} whether a text that ends it has come */
  async add(id, logProb) {
    await this.#giveLate();
    this.ids.push(id);
    this.logProbs.push(logProb);
    const { text, stop } = this.#unstopped.push(this.#decoded.push(id));
    this.text += text;
    this.#late = { id, text, logProb };
    if (stop !== null || !(this.#decoded.holds || this.#unstopped.holds)) await this.#giveLate();
    return stop !== null;
  }

  /** Gives the text that was held back. */
  async flush() {
    const rest = this.#unstopped.push(this.#decoded.end()).text + this.#unstopped.end();
    this.text += rest;
    await this.#giveLate(rest);
  }
}

/**
 * The next token, by the logits of the last one.
 * @param {Float32Array} logits
 * @param {Asked} asked
 * @param {{ before: () => readonly number[], place: number, first: number }} at ids before it, its place in the
 *   sequence, and that of the first token
 */
function choose(logits, asked, { before, place, first }) {
  const { forced, suppress, suppressFirst, repetitionPenalty, sampling } = asked;
  const begin = Math.max(first, ...[...forced.keys()].map((forcedPlace) => forcedPlace + 1));
  restrict(logits, {
    repeated: repetitionPenalty === 1 ? [] : before(),
    repetitionPenalty,
    suppress: place === begin ? [...suppress, ...suppressFirst] : suppress,
    forced: forced.get(place),
  });
  return sample(logits, sampling);
}

/**
 * @param {Transformer} model
 * @param {Asked} asked
 * @param {Prompt} prompt
 * @param {Cache} cache that is locked for this
 * @param {{ room: number, beyond: number }} places
 * @returns {Promise<Generated>}
 */
async function write(model, asked, { ids: start, encoder }, cache, { room, beyond }) {
  const { edit, signal, stop, max } = asked;
  const written = new Written(model, asked);
  const end = (/** @type {Generated['ended']} */ ended) => {
    const { ids, text, logProbs } = written;
    return { ids, text, logProbs, ended };
  };
  const logitsAfter = (/** @type {number[]} */ next) => {
    const input = encoder && cache.length === 0 ? { encoder, ids: next } : { ids: next };
    const output = model.forwardFor(CALLER, /** @type {ModelInput} */ (input), { cache, last: true, edit });
    const logits = /** @type {import('../memory/tensor.js').Tensor} */ (output.logits);
    const row = viewOf(logits).slice(-(/** @type {number} */ (shapeOf(logits).at(-1))));
    output.dispose();
    return row;
  };
  const first = cache.length + start.length;
  // The last token need not enter the model.
  const most = Math.min(max, room + 1);
  let next = start;
  let turn = Date.now();
  while (written.ids.length < most) {
    if (signal?.aborted) {
      await written.flush();
      return end('signal');
    }
    const before = () => [...start, ...written.ids];
    const logits = cache.forUser(() => {
      if (!cache.far && cache.length > 0 && cache.length + next.length > beyond) {
        next = before();
        cache.rewind(0);
      }
      return logitsAfter(next);
    });
    const { id, logProb } = choose(logits, asked, { before, place: first + written.ids.length, first });
    if (stop.ids.has(id)) {
      await written.flush();
      return end('stop');
    }
    if (await written.add(id, logProb)) return end('stop');
    next = [id];
    if (Date.now() - turn > TURN) {
      await new Promise((resolve) => setTimeout(resolve));
      turn = Date.now();
    }
  }
  await written.flush();
  return end(written.ids.length < max ? 'context' : 'max');
}

/**
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @param {GenerateOptions} options
 * @returns {Promise<Generated>}
 */
export async function generate(model, prompt, options) {
  const asked = readAsked(model, options);
  const read = readPrompt(model, prompt);
  const start = read.ids.length;
  const places = findRoom(model.options, asked.cache, start);
  const length = Math.min(start + places.room, start + asked.max);
  const cache = asked.cache ?? model.growingCache({ length: Math.max(length, 1) }, start + ROOM);
  cache.lock(CALLER);
  try {
    return await write(model, asked, read, cache, places);
  } finally {
    cache.unlock();
    if (!asked.cache) cache.dispose();
  }
}
