// Reads the prompts of generate().

import { argumentError, HeadlightError, shapeError } from '../../check/errors.ts';
import { readNumbers, toLabels } from '../../ops/labels.ts';
import { type Cache, checkDecoder } from '../cache.ts';
import { type ModelInput, type PlainInput, readNamed, refuseTexts } from '../input.ts';
import type { Resolved } from '../options.ts';
import { encodePrompt } from '../results/encodePrompt.ts';
import type { Transformer } from '../transformer.ts';
import { CALLER } from './generateOptions.ts';

/** A prompt that may be in a list. */
export type PromptInput = Exclude<ModelInput, number | boolean | bigint>;
export type Prompt = { ids: number[]; encoder?: PlainInput };

/** True for a list of prompts. An array of numbers is one prompt. */
export const isList = (prompt: unknown): prompt is PromptInput[] =>
  Array.isArray(prompt) && prompt.length > 0 && !['number', 'bigint', 'boolean'].includes(typeof prompt[0]);

/** The first ids and, with an encoder, its input. called: name of the prompt in errors. */
export function readPrompt(model: Transformer, prompt: ModelInput, called = 'prompt'): Prompt {
  const { options, generation } = model;
  if (options.head !== 'logits' || options.classes > 0)
    throw new HeadlightError('STATE', `${CALLER}: this model has no logits of tokens`);
  checkDecoder(CALLER, options);
  if (options.encoder) {
    const { encoder = prompt, ids } = (
      typeof prompt === 'object' && prompt !== null && 'encoder' in prompt ? prompt : { encoder: prompt }
    ) as { encoder?: PlainInput; ids?: unknown };
    const input = typeof encoder === 'string' ? { ids: [...model.encode(encoder).ids] } : encoder;
    const start = ids === undefined ? [generation.start ?? 0] : readLabels(`${called}.ids`, ids, options);
    return { ids: start, encoder: input as PlainInput };
  }
  if (typeof prompt === 'string') return { ids: readLabels(called, encodePrompt(model, prompt), options) };
  const { ids, keep, keepName } = readTokens(called, prompt, options, 'a prompt accepts only ids');
  if (keep?.includes(0))
    throw argumentError(CALLER, keepName, keep, '1 for every token; leave padding out of the prompt');
  return { ids };
}

/** Reads one sequence of tokens and its padding. why: reason for which other parts of the input are refused. */
export function readTokens(
  called: string,
  input: unknown,
  options: Pick<Resolved, 'vocab'>,
  why: string,
): { ids: number[]; keep?: number[]; keepName: string } {
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

/** Reads one sequence: (T) or (1,T). */
function readLabels(parameter: string, given: any, { vocab }: Pick<Resolved, 'vocab'>) {
  const { ints, shape } = toLabels(readNumbers(given, CALLER, parameter), CALLER, vocab, undefined, parameter);
  if (shape.length !== 1 && !(shape.length === 2 && shape[0] === 1))
    throw shapeError(CALLER, parameter, shape, 'one sequence (T); pass several sequences as a list of prompts');
  if (ints.length === 0) throw argumentError(CALLER, parameter, given, 'at least one token');
  return [...ints];
}

/** room: tokens that fit after the prompt `start`; beyond: a longer sequence has other rotary angles for all tokens. */
export function findRoom({ context, rotary }: Resolved, cache: Cache | undefined, start: number, called = 'prompt') {
  // Beyond `beyond` all tokens must be computed again, which is impossible for those in the caller's cache: their ids
  // are unknown.
  const beyond = rotary?.long?.beyond ?? Infinity;
  const limit = cache && cache.length > 0 && !cache.far ? beyond : Infinity;
  const room = Math.min(context, cache?.capacity ?? context, limit) - (cache?.length ?? 0) - start;
  if (room < 0) throw shapeError(CALLER, called, [start], `at most ${start + room} tokens, as there is no more room`);
  return { beyond, room };
}
