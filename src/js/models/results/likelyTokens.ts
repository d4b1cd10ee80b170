// Finds the likeliest tokens after a text, or in place of a mask.

import { readNumber } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { ModelInput } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { encodePrompt } from './encodePrompt.ts';
import { onlyRow, runOnce, wrongModel } from './oneSequence.ts';
import { largest, logSoftmax } from './probabilities.ts';
import { tokenOf } from './tokenOf.ts';

/** token: as in encode(), or '' without a tokenizer; text: the token as text. */
export type LikelyToken = { token: string; text: string; id: number; probability: number; logProbability: number };

const MASKS = ['[MASK]', '<mask>'];
const COUNT = { integer: true, least: 1 };

function likeliest({ tokenizer }: Transformer, logits: Float64Array, n: number): LikelyToken[] {
  const logProbabilities = logSoftmax(logits);
  return largest(logProbabilities, n).map((id) => {
    return {
      token: tokenOf(tokenizer, id),
      text: tokenizer ? tokenizer.decode([id]) : '',
      id,
      probability: Math.exp(logProbabilities[id]),
      logProbability: logProbabilities[id],
    };
  });
}

export function nextTokens(model: Transformer, input: ModelInput, n: number): LikelyToken[] {
  const caller = 'next';
  const { causal, head, classes, encoder } = model.options;
  if (!causal) throw wrongModel(caller, 'this model is not causal; fill() predicts a token in place of a mask');
  if (head !== 'logits' || classes > 0) throw wrongModel(caller, 'this model does not predict tokens');
  readNumber(caller, 'n', n, COUNT);
  const read = typeof input === 'string' && !encoder ? encodePrompt(model, input) : input;
  return runOnce(model, caller, read, { last: true }, ({ logits }) => likeliest(model, onlyRow(caller, logits), n));
}

export function fillMask(model: Transformer, text: string, n: number): LikelyToken[] {
  const caller = 'fill';
  const { causal, head, classes, tokenTypes } = model.options;
  if (causal) throw wrongModel(caller, 'this model is causal; next() predicts the token after a text');
  if (head !== 'logits' || classes > 0) throw wrongModel(caller, 'this model does not predict tokens');
  readNumber(caller, 'n', n, COUNT);
  const mask = maskOf(model, caller);
  const { ids, typeIds } = model.encode(text);
  const places = ids.flatMap((id, i) => (id === mask.id ? [i] : []));
  if (places.length !== 1)
    throw argumentError(caller, 'text', text, `a text with one ${mask.token}, not ${places.length} of them`);
  const input = { ids, ...(tokenTypes > 0 && { typeIds }) };
  return runOnce(model, caller, input, {}, ({ logits }) => {
    const vocab = logits.shape[1];
    const row = logits.data.subarray(places[0] * vocab, (places[0] + 1) * vocab);
    return likeliest(model, Float64Array.from(row), n);
  });
}

function maskOf({ tokenizer }: Transformer, caller: string) {
  const idOf = (tokenizer as { idOf?: (token: string) => number | undefined } | undefined)?.idOf;
  for (const token of MASKS) {
    const id = idOf?.call(tokenizer, token);
    if (id !== undefined) return { token, id };
  }
  throw wrongModel(caller, `the tokenizer of this model has no ${MASKS.join(' and no ')}`);
}
