// Encodes one text or two texts as the input of one run.

import { argumentError } from '../../check/errors.ts';
import type { ModelInput } from '../input.ts';
import { rarePart } from '../rareParts.ts';
import type { Transformer } from '../transformer.ts';
import type { Classifiable } from './classify.ts';

const isPair = (input: unknown): input is { text: string; pair: string } =>
  typeof input === 'object' && input !== null && 'pair' in input;

export function readPair(model: Transformer, caller: string, input: Classifiable): ModelInput {
  const read = isPair(input) ? encodePair(model, caller, input) : input;
  return model.options.encoder ? rarePart('shiftedInput', caller).withDecoder(model, caller, read) : read;
}

function encodePair(model: Transformer, caller: string, input: { text: string; pair: string }) {
  for (const name of ['text', 'pair'] as const)
    if (typeof input[name] !== 'string') throw argumentError(caller, name, input[name], 'a text');
  const { ids, typeIds } = model.encode(input.text, input.pair);
  return { ids, ...(model.options.tokenTypes > 0 && { typeIds }) };
}
