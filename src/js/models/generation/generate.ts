// Generates tokens after a prompt.

import { HeadlightError } from '../../check/errors.ts';
import type { Cache } from '../cache.ts';
import type { ModelInput } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { ContinuedText, Pauses } from './continuedText.ts';
import { CALLER, type Generated, type GenerateOptions, type Request, readGenerateOptions } from './generateOptions.ts';
import { GenerationSteps } from './generationSteps.ts';
import { findRoom, isList, type Prompt, readPrompt } from './prompts.ts';
import { TokenStream } from './tokenStream.ts';

/** Number of tokens after the prompt for which a new cache has memory. It grows if more tokens are generated. */
const INITIAL_ROOM = 64;

/** cache: which this call has locked */
async function continueText(
  model: Transformer,
  request: Request,
  { ids: start, encoder }: Prompt,
  cache: Cache,
  { room, beyond }: { room: number; beyond: number },
): Promise<Generated> {
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

async function generateOne(model: Transformer, prompt: ModelInput, request: Request): Promise<Generated> {
  const read = readPrompt(model, prompt);
  const start = read.ids.length;
  const limits = findRoom(model.options, request.cache, start);
  if (request.beams) {
    const { searchBeams } = await import('./beamSearch.ts');
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

/** iterates: true if the caller iterates over the tokens */
async function generate(
  model: Transformer,
  prompt: ModelInput | readonly ModelInput[],
  options: GenerateOptions,
  iterates: boolean,
): Promise<Generated | Generated[]> {
  if (!isList(prompt)) return generateOne(model, prompt as ModelInput, readGenerateOptions(model, options, false));
  if (iterates)
    throw new HeadlightError('STATE', `${CALLER}: the tokens of several texts cannot be iterated over; use onToken`, {
      parameter: 'prompt',
    });
  const request = readGenerateOptions(model, options, true);
  const { continueTexts } = await import('./continueTexts.ts');
  return continueTexts(model, prompt, request);
}

/** The stream has the promise of the result. iterates: the caller iterates over the tokens. */
export function begin(
  model: Transformer,
  prompt: ModelInput | readonly ModelInput[],
  options: GenerateOptions,
  iterates: boolean,
) {
  const stream = new TokenStream();
  stream.finished = generate(model, prompt, iterates ? stream.wrap(options) : options, iterates);
  return { stream };
}
