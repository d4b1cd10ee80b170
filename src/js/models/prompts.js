// Reads the prompts of generate().

import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { readNumbers, toLabels } from '../ops/labels.js';
import { checkDecoder } from './cache.js';
import { CALLER } from './generateOptions.js';
import { readNamed, refuseTexts } from './input.js';
import { encodePrompt } from './results/encodePrompt.js';

/** @import { Cache } from './cache.js' */
/** @import { ModelInput, PlainInput } from './input.js' */
/** @import { Resolved } from './options.js' */
/** @import { Transformer } from './transformer.js' */

/** A prompt that may be in a list. @typedef {Exclude<ModelInput, number | boolean | bigint>} PromptInput */
/** @typedef {{ ids: number[], encoder?: PlainInput }} Prompt */

/**
 * True for a list of prompts. An array of numbers is one prompt.
 * @param {unknown} prompt
 * @returns {prompt is PromptInput[]}
 */
export const isList = (prompt) =>
  Array.isArray(prompt) && prompt.length > 0 && !['number', 'bigint', 'boolean'].includes(typeof prompt[0]);

/**
 * Returns the first ids of the sequence and, in a model with an encoder, the input of the encoder.
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @param {string} [called] name of the prompt in errors
 * @returns {Prompt}
 */
export function readPrompt(model, prompt, called = 'prompt') {
  const { options, generation } = model;
  if (options.head !== 'logits' || options.classes > 0)
    throw new HeadlightError('STATE', `${CALLER}: this model has no logits of tokens`);
  checkDecoder(CALLER, options);
  if (options.encoder) {
    const { encoder = prompt, ids } = /** @type {{ encoder?: PlainInput, ids?: unknown }} */ (
      typeof prompt === 'object' && prompt !== null && 'encoder' in prompt ? prompt : { encoder: prompt }
    );
    const input = typeof encoder === 'string' ? { ids: [...model.encode(encoder).ids] } : encoder;
    const start = ids === undefined ? [generation.start ?? 0] : readLabels(`${called}.ids`, ids, options);
    return { ids: start, encoder: /** @type {PlainInput} */ (input) };
  }
  if (typeof prompt === 'string') return { ids: readLabels(called, encodePrompt(model, prompt), options) };
  const { ids, keep, keepName } = readTokens(called, prompt, options, 'a prompt accepts only ids');
  if (keep?.includes(0))
    throw argumentError(CALLER, keepName, keep, '1 for every token; leave padding out of the prompt');
  return { ids };
}

/**
 * Reads one sequence of tokens and its padding.
 * @param {string} called
 * @param {unknown} input
 * @param {Pick<Resolved, 'vocab'>} options
 * @param {string} why reason for which other parts of the input are refused
 * @returns {{ ids: number[], keep?: number[], keepName: string }}
 */
export function readTokens(called, input, options, why) {
  const { given, called: names } = readNamed(`${CALLER}: ${called}`, input);
  const { ids, keep, ...others } = given;
  refuseTexts(CALLER, called, ids);
  const name = Object.keys(others)[0];
  if (name) throw argumentError(CALLER, `${called}.${names[name] ?? name}`, others[name], `none, because ${why}`);
  const keepName = names.keep ?? 'keep';
  return {
    ids: readLabels(called, ids, options),
    keep: keep === undefined ? undefined : readLabels(keepName, keep, { vocab: 2 }),
    keepName,
  };
}

/**
 * Reads one sequence: (T) or (1,T).
 * @param {string} parameter
 * @param {any} given
 * @param {Pick<Resolved, 'vocab'>} options
 */
function readLabels(parameter, given, { vocab }) {
  const { ints, shape } = toLabels(readNumbers(given, CALLER, parameter), CALLER, vocab, undefined, parameter);
  if (shape.length !== 1 && !(shape.length === 2 && shape[0] === 1))
    throw shapeError(CALLER, parameter, shape, 'one sequence (T); pass several sequences as a list of prompts');
  if (ints.length === 0) throw argumentError(CALLER, parameter, given, 'at least one token');
  return [...ints];
}

/**
 * Returns room, the number of tokens that fit after the prompt, and beyond: in a sequence with more tokens than
 * this, all tokens are rotated by other angles.
 * @param {Resolved} options
 * @param {Cache | undefined} cache
 * @param {number} start tokens of the prompt
 * @param {string} [called]
 */
export function findRoom({ context, rotary }, cache, start, called = 'prompt') {
  // When a sequence becomes longer than `beyond`, all its tokens must be computed again. This is impossible for the
  // tokens in the caller's cache, because their ids are unknown.
  const beyond = rotary?.long?.beyond ?? Infinity;
  const limit = cache && cache.length > 0 && !cache.far ? beyond : Infinity;
  const room = Math.min(context, cache?.capacity ?? context, limit) - (cache?.length ?? 0) - start;
  if (room < 0) throw shapeError(CALLER, called, [start], `at most ${start + room} tokens, as there is no more room`);
  return { beyond, room };
}
