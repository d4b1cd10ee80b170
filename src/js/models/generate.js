// Generates tokens after a prompt.

import { HeadlightError } from '../check/errors.js';
import { ContinuedText, Pauses } from './continuedText.js';
import { CALLER, readGenerateOptions } from './generateOptions.js';
import { GenerationSteps } from './generationSteps.js';
import { findRoom, isList, readPrompt } from './prompts.js';
import { TokenStream } from './tokenStream.js';

/** @import { Cache } from './cache.js' */
/** @import { Generated, GenerateOptions, Request } from './generateOptions.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Prompt } from './prompts.js' */
/** @import { Transformer } from './transformer.js' */

/** Number of tokens after the prompt for which a new cache has memory. It grows if more tokens are generated. */
const INITIAL_ROOM = 64;

/**
 * @param {Transformer} model
 * @param {Request} request
 * @param {Prompt} prompt
 * @param {Cache} cache which this call has locked
 * @param {{ room: number, beyond: number }} limits
 * @returns {Promise<Generated>}
 */
async function continueText(model, request, { ids: start, encoder }, cache, { room, beyond }) {
  const { edit, capture, lookup, signal } = request;
  const text = new ContinuedText(model, request, { start, past: cache.length, room });
  const steps = new GenerationSteps(model, cache, { encoder, edit, capture, beyond, lookup });
  const pauses = new Pauses();
  try {
    while (!text.ended) {
      if (signal?.aborted) await text.end('signal');
      else
        await text.choose(
          steps.after(text.next, () => text.all),
          steps.captured,
        );
      if (!text.ended) await pauses.next();
    }
    steps.end();
  } finally {
    steps.dispose();
  }
  return text.result;
}

/**
 * @param {Transformer} model
 * @param {ModelInput} prompt
 * @param {Request} request
 * @returns {Promise<Generated>}
 */
async function generateOne(model, prompt, request) {
  const read = readPrompt(model, prompt);
  const start = read.ids.length;
  const limits = findRoom(model.options, request.cache, start);
  if (request.beams) {
    const { searchBeams } = await import('./beamSearch.js');
    return searchBeams(model, request, request.beams, read, limits);
  }
  const length = Math.min(start + limits.room, start + request.max);
  const cache = request.cache ?? model.growingCache({ length: Math.max(length, 1) }, start + INITIAL_ROOM);
  cache.lock(CALLER);
  try {
    return await continueText(model, request, read, cache, limits);
  } finally {
    cache.unlock();
    if (!request.cache) cache.dispose();
  }
}

/**
 * @param {Transformer} model
 * @param {ModelInput | readonly ModelInput[]} prompt
 * @param {GenerateOptions} options
 * @param {boolean} iterates true if the caller iterates over the tokens
 * @returns {Promise<Generated | Generated[]>}
 */
async function generate(model, prompt, options, iterates) {
  if (!isList(prompt))
    return generateOne(model, /** @type {ModelInput} */ (prompt), readGenerateOptions(model, options, false));
  if (iterates)
    throw new HeadlightError('STATE', `${CALLER}: the tokens of several texts cannot be iterated over; use onToken`, {
      parameter: 'prompt',
    });
  const request = readGenerateOptions(model, options, true);
  const { continueTexts } = await import('./continueTexts.js');
  return continueTexts(model, prompt, request);
}

/**
 * Begins to generate. The stream has the promise of the result.
 * @param {Transformer} model
 * @param {ModelInput | readonly ModelInput[]} prompt
 * @param {GenerateOptions} options
 * @param {boolean} iterates true if the caller iterates over the tokens
 */
export function begin(model, prompt, options, iterates) {
  const stream = new TokenStream();
  stream.finished = generate(model, prompt, iterates ? stream.wrap(options) : options, iterates);
  return { stream };
}
