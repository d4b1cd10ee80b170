// Attention knock-out: makes edits that prevent a query from attending to a key.

import { checkOptions, readNumber, readWord } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';

import type { Edit } from '../models/edits.ts';
import type { AttentionPart } from './ablateHeads.ts';

export type KnockOutOptions = {
  /** number of keys S, which is the number of tokens of the sequence, or of the encoder for cross-attention */
  length: number;
  /** kind of attention, for a model with an encoder; default 'decoder' */
  part?: AttentionPart | undefined;
  /** default: all */
  layers?: number | readonly number[] | undefined;
  /** default: all */
  heads?: number | readonly number[] | undefined;
};

const CALLER = 'knockOut';
/** First and last part of the names of scores. The number of the block is between them. */
const AT: Record<AttentionPart, [stack: 'blocks' | 'encoder.blocks', value: 'scores' | 'cross.scores']> = {
  encoder: ['encoder.blocks', 'scores'],
  decoder: ['blocks', 'scores'],
  cross: ['blocks', 'cross.scores'],
};

/**
 * Makes edits for forward, one for each layer and query, that set the attention weight of key s for query t to 0, for
 * each pair [t, s] (Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models").
 * The score becomes −∞ before the softmax, so the other weights of the row still sum to 1. A row without any visible
 * key is 0.
 */
export function knockOut(pairs: readonly (readonly [number, number])[], options: KnockOutOptions): Edit[] {
  checkOptions(CALLER, options, ['length', 'part', 'layers', 'heads']);
  const part = readWord(CALLER, 'part', options.part ?? 'decoder', ['encoder', 'decoder', 'cross'] as const);
  const length = readNumber(CALLER, 'length', options.length, { integer: true, least: 1, most: 2 ** 24 });
  const layers = readList('layers', options.layers);
  const heads = readList('heads', options.heads);
  if (!Array.isArray(pairs)) throw argumentError(CALLER, 'pairs', pairs, 'a list of pairs [t, s]');
  /** Values (S) to add to the scores, by query. */
  const hidden: Map<number, Float32Array> = new Map();
  pairs.forEach((pair, i) => {
    // In cross-attention the queries are tokens of the decoder, whose number is not known here.
    checkPair(pair, i, [part === 'cross' ? Infinity : length, length]);
    const [t, s] = pair;
    const row = hidden.get(t) ?? new Float32Array(length);
    row[s] = Number.NEGATIVE_INFINITY;
    hidden.set(t, row);
  });
  const [stack, name] = AT[part];
  return (layers ?? ['*']).flatMap((layer) =>
    [...hidden].map(([token, data]) => ({
      at: `${stack}.${layer}.${name}` as Edit['at'],
      ...(heads && { head: heads }),
      token,
      add: { data, shape: [length] },
    })),
  );
}

function checkPair(pair: unknown, i: number, lengths: [queries: number, keys: number]) {
  const fail = (name: string, got: unknown, expected: string) =>
    new HeadlightError('ARGUMENT', `${CALLER}: ${name} is ${quote(got)}, expected ${expected}`, {
      parameter: 'pairs',
      expected,
      got,
    });
  if (!Array.isArray(pair) || pair.length !== 2)
    throw fail(`pairs[${i}]`, pair, '[t, s]: the positions of a query and a key');
  for (const [axis, position] of pair.entries())
    if (!(Number.isInteger(position) && position >= 0 && position < lengths[axis]))
      throw fail(`pairs[${i}][${axis}]`, position, `a position from 0 to ${lengths[axis] - 1}`);
}

function readList(name: string, value: number | readonly number[] | undefined) {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  return list.map((n) => readNumber(CALLER, name, n, { integer: true, least: 0, most: 2 ** 20 }));
}
