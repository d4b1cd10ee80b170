// Encodes several texts as one batch, padded at the end.

import { argumentError } from '../../check/errors.ts';
import { largestOf } from '../../check/extremes.ts';
import type { Encoding } from '../../text/processors.ts';
import { shorten } from '../../text/shorten.ts';
import type { Transformer } from '../transformer.ts';

/** keep is 0 for padding; typeIds only for models with token types. */
export type EncodedBatch = {
  /** (B,T) */
  ids: { data: Int32Array; shape: [number, number] };
  /** (B,T) */
  keep: { data: Int32Array; shape: [number, number] };
  /** (B,T) */
  typeIds?: { data: Int32Array; shape: [number, number] } | undefined;
  /** of each text, without padding */
  tokens: string[][];
  /** of each text, without padding */
  offsets: [begin: number, end: number][][];
};

/** most: largest number of tokens of a text; a longer text is cut, but keeps its special tokens */
export function encodeBatch(
  model: Transformer,
  caller: string,
  texts: readonly string[],
  most: number = Infinity,
): EncodedBatch {
  if (!Array.isArray(texts) || texts.length === 0 || texts.some((text) => typeof text !== 'string'))
    throw argumentError(caller, 'texts', texts, 'a list of texts');
  const encodings = texts.map((text) => shorten(model.encode(text), most));
  const length = largestOf(encodings.map(({ ids }) => ids.length));
  const pad = Math.max(model.config?.pad_token_id ?? 0, 0);
  const padded = (of: (encoding: Encoding) => ArrayLike<number>, filling: number) => {
    const data = new Int32Array(texts.length * length).fill(filling);
    encodings.forEach((encoding, row) => data.set(of(encoding), row * length));
    return { data, shape: [texts.length, length] as [number, number] };
  };
  return {
    ids: padded(({ ids }) => ids, pad),
    keep: padded(({ ids }) => ids.map(() => 1), 0),
    ...(model.options.tokenTypes > 0 && { typeIds: padded(({ typeIds }) => typeIds, 0) }),
    tokens: encodings.map(({ tokens }) => tokens),
    offsets: encodings.map(({ offsets }) => offsets),
  };
}
