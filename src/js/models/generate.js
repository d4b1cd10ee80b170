// Writes on, token by token.

import { readNumber, readOptions, readSignal } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { shapeOf, viewOf } from '../memory/tensor.js';
import { readNumbers, toLabels } from '../ops/labels.js';
import { uniformSource } from '../ops/random.js';
import { sample } from '../text/sampling.js';
import { decodeStream, stopStream } from '../text/stream.js';
import { checkCache } from './cache.js';

/** @import { Cache } from './cache.js' */
/** @import { Edit } from './edits.js' */
/** @import { ModelInput, PlainInput } from './input.js' */
/** @import { Resolved } from './options.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * @typedef {object} GenerateOptions
 * @property {number} max tokens at most
 * @property {number} [temperature] 0, the default, takes the likeliest token
 * @property {number} [topK] of the likeliest so many
 * @property {number} [topP] of the likeliest that together have this probability
 * @property {number} [seed] default 0
 * @property {readonly (number | string)[]} [stop] tokens or texts that end it; default: the end tokens of the model's
 *   config
 * @property {Cache} [cache] what it holds comes before the prompt
 * @property {readonly Edit[]} [edit] applied to every token
 * @property {AbortSignal} [signal] the tokens so far are given then
 * @property {(token: GeneratedToken) => void} [onToken] text: what is certain
 *   with this token: a part of a character, or of a text that ends it, is held back, and the token itself until the
 *   next one or the end. The texts add up to that of the result
 */
/** @typedef {{ id: number, text: string, logProb: number }} GeneratedToken */
/** @typedef {{ ids: number[], text: string, logProbs: number[], ended: 'max' | 'stop' | 'signal' }} Generated */

const OPTIONS = ['max', 'temperature', 'topK', 'topP', 'seed', 'stop', 'cache', 'edit', 'signal', 'onToken'];
const CALLER = 'generate';
/** Milliseconds after which others get their turn. */
const TURN = 12;

/** @param {unknown} stop @param {Record<string, any> | undefined} config */
function readStop(stop, config) {
  const end = config?.eos_token_id ?? config?.text_config?.eos_token_id;
  const list = stop ?? (end === undefined || end === null ? [] : [end].flat());
  if (!Array.isArray(list)) throw argumentError(CALLER, 'stop', stop, 'a list of tokens and texts');
  for (const [i, entry] of list.entries())
    if (typeof entry !== 'string') readNumber(CALLER, `stop[${i}]`, entry, { integer: true, least: 0 });
  return {
    ids: new Set(list.filter((entry) => typeof entry === 'number')),
    texts: /** @type {string[]} */ (list.filter((entry) => typeof entry === 'string' && entry !== '')),
  };
}

/** The labels to begin with, and what goes to an encoder. @param {Transformer} model @param {ModelInput} prompt */
function readPrompt(model, prompt) {
  const { options, config } = model;
  if (options.head !== 'logits' || options.classes > 0)
    throw new HeadlightError('STATE', `${CALLER}: this model has no logits of tokens`);
  if (options.encoder) {
    const { encoder = prompt, ids } = /** @type {{ encoder?: PlainInput, ids?: unknown }} */ (
      typeof prompt === 'object' && prompt !== null && 'encoder' in prompt ? prompt : { encoder: prompt }
    );
    const input = typeof encoder === 'string' ? { ids: [...model.encode(encoder).ids] } : encoder;
    const start = ids === undefined ? [config?.decoder_start_token_id ?? 0] : readLabels('prompt.ids', ids, options);
    return { ids: start, encoder: /** @type {PlainInput} */ (input) };
  }
  /** @type {any} */
  const given = typeof prompt === 'string' ? model.encode(prompt).ids : prompt;
  return { ids: readLabels('prompt', isNamed(given) ? readNamed(given) : given, options), encoder: undefined };
}

/** @param {any} given */
const isNamed = (given) => typeof given === 'object' && given !== null && Object.hasOwn(given, 'ids');

/** @param {any} given */
const readNamed = (given) => readOptions(`${CALLER}: prompt`, given, ['ids']).ids;

/**
 * One sequence: (T) or (1,T).
 * @param {string} parameter
 * @param {any} given
 * @param {Resolved} options
 */
function readLabels(parameter, given, { vocab }) {
  const { ints, shape } = toLabels(readNumbers(given, CALLER, parameter), CALLER, vocab, undefined, parameter);
  if (shape.length !== 1 && !(shape.length === 2 && shape[0] === 1))
    throw shapeError(CALLER, parameter, shape, 'one sequence, (T): call forward for a batch');
  if (ints.length === 0) throw argumentError(CALLER, parameter, given, 'at least one token');
  return [...ints];
}

/**
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @param {GenerateOptions} options
 * @returns {Promise<Generated>}
 */
export async function generate(model, prompt, options) {
  const given = readOptions(CALLER, options, OPTIONS);
  const max = readNumber(CALLER, 'max', given.max, { integer: true, least: 0 });
  const temperature = readNumber(CALLER, 'temperature', given.temperature ?? 0, { least: 0 });
  const topK =
    given.topK === undefined ? undefined : readNumber(CALLER, 'topK', given.topK, { integer: true, least: 1 });
  const topP = given.topP === undefined ? undefined : readNumber(CALLER, 'topP', given.topP, { least: 0, most: 1 });
  const random = uniformSource(readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true }));
  const stop = readStop(given.stop, model.config);
  const { onToken, edit } = given;
  const signal = readSignal(CALLER, given.signal);
  if (onToken !== undefined && typeof onToken !== 'function')
    throw argumentError(CALLER, 'onToken', onToken, 'a function');
  if (given.cache !== undefined) checkCache(CALLER, model.options, given.cache);
  const { ids: start, encoder } = readPrompt(model, prompt);
  const { context, rotary } = model.options;
  // Beyond these all tokens turn by other angles: what is not known any more cannot be computed again.
  const beyond = rotary?.long?.beyond ?? Infinity;
  const near = given.cache && given.cache.length > 0 && !given.cache.far ? beyond : Infinity;
  const places = Math.min(context, given.cache?.capacity ?? context, near);
  const room = places - (given.cache?.length ?? 0) - start.length;
  if (room < 0)
    throw shapeError(CALLER, 'prompt', [start.length], `at most ${start.length + room} tokens: there is no more room`);
  // The last token need not enter the model.
  const most = Math.min(max, room + 1);
  const cache =
    given.cache ?? model.cache({ length: Math.min(start.length + max, Math.max(model.options.context, 1)) });
  /** @type {Generated} */
  const result = { ids: [], text: '', logProbs: [], ended: 'max' };
  const decoded = decodeStream(model.tokenizer ?? { decode: () => '' });
  const unstopped = stopStream(stop.texts);
  /** Of the last token some text is held back. @type {{ id: number, text: string, logProb: number } | undefined} */
  let late;
  /** @param {string} [rest] */
  const giveLate = (rest = '') => {
    if (late) onToken?.({ ...late, text: late.text + rest });
    late = undefined;
  };
  let next = start;
  let turn = Date.now();
  try {
    while (result.ids.length < most) {
      if (signal?.aborted) {
        result.ended = 'signal';
        break;
      }
      if (!cache.far && cache.length > 0 && cache.length + next.length > beyond) {
        next = [...start, ...result.ids];
        cache.rewind(0);
      }
      const input = encoder && cache.length === 0 ? { encoder, ids: next } : { ids: next };
      const output = model.forward(/** @type {ModelInput} */ (input), { cache, last: true, ...(edit && { edit }) });
      const logits = /** @type {import('../memory/tensor.js').Tensor} */ (output.logits);
      const row = viewOf(logits).slice(-(/** @type {number} */ (shapeOf(logits).at(-1))));
      output.dispose();
      const { id, logProb } = sample(row, { temperature, topK, topP, random });
      if (stop.ids.has(id)) {
        result.ended = 'stop';
        break;
      }
      giveLate();
      result.ids.push(id);
      result.logProbs.push(logProb);
      next = [id];
      const { text, stop: found } = unstopped.push(decoded.push(id));
      result.text += text;
      late = { id, text, logProb };
      if (found !== null || !(decoded.holds || unstopped.holds)) giveLate();
      if (found !== null) {
        result.ended = 'stop';
        return result;
      }
      if (Date.now() - turn > TURN) {
        await new Promise((resolve) => setTimeout(resolve));
        turn = Date.now();
      }
    }
    const rest = unstopped.push(decoded.end()).text + unstopped.end();
    result.text += rest;
    giveLate(rest);
    return result;
  } finally {
    if (!given.cache) cache.dispose();
  }
}
