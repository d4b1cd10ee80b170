// The input of an encoder–decoder that classifies.

import { argumentError } from '../../check/errors.ts';
import { readNumbers, toLabels } from '../../ops/labels.ts';
import { type ModelInput, readNamed } from '../input.ts';

import type { Transformer } from '../transformer.ts';

/**
 * The decoder reads the encoder's tokens after a start token and without the last, so that its last token is in the
 * place of the end token.
 */
export function withDecoder(model: Transformer, caller: string, input: ModelInput): ModelInput {
  const { given, called } = readNamed(
    caller,
    typeof input === 'string' ? { ids: [...model.encode(input).ids] } : input,
  );
  if (given.encoder !== undefined) return input;
  const name = called.ids ?? 'ids';
  const { ints } = toLabels(readNumbers(given.ids, caller, name), caller, model.options.vocab, undefined, name);
  const { eos_token_id: end = 2, decoder_start_token_id: start = 2 } = model.config ?? {};
  if (ints.at(-1) !== end) throw argumentError(caller, name, given.ids, `tokens of which the last is ${end}`);
  return { encoder: { ids: [...ints] }, ids: [start, ...ints.subarray(0, -1)] };
}
