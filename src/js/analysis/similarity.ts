// Decomposes the similarity of two texts into a sum over pairs of their tokens.

import { shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { type Numbers, readArray } from './arrays.ts';

export type TokenSimilarity = {
  /** cosine of the two means; 0 if one of them has length 0 */
  cosine: number;
  /** (T,S): the share of each pair of tokens in the cosine */
  pairs: Numbers;
  /** (T): the shares of the first text's tokens, which are the sums of the rows of pairs */
  first: Numbers;
  /** (S): the shares of the second text's tokens, which are the sums of the columns of pairs */
  second: Numbers;
};

/**
 * Decomposes the cosine similarity of the mean hidden states of two texts, which a sentence encoder with mean pooling
 * computes. It is a sum over the pairs of tokens:
 *
 *     cos(Σ aₜ / T, Σ bₛ / S) = Σₜₛ aₜ·bₛ / (‖Σ aₜ‖ ‖Σ bₛ‖)
 * @param first (T,C), or (1,T,C) as forward returns it
 * @param second (S,C) or (1,S,C)
 */
export function tokenSimilarity(first: TensorLike, second: TensorLike): TokenSimilarity {
  const [a, b] = [readStates('first', first), readStates('second', second)];
  if (a.width !== b.width)
    throw shapeError('tokenSimilarity', 'second', [b.count, b.width], `(S,${a.width}), with the width of first`);
  const lengths = lengthOfSum(a) * lengthOfSum(b);
  const pairs = new Float32Array(a.count * b.count);
  const rows = new Float64Array(a.count);
  const columns = new Float64Array(b.count);
  for (let t = 0; t < a.count; t++)
    for (let s = 0; s < b.count; s++) {
      const share = lengths === 0 ? 0 : dot(a, t, b, s) / lengths;
      pairs[t * b.count + s] = share;
      rows[t] += share;
      columns[s] += share;
    }
  return {
    cosine: rows.reduce((sum, x) => sum + x, 0),
    pairs: { data: pairs, shape: [a.count, b.count] },
    first: { data: Float32Array.from(rows), shape: [a.count] },
    second: { data: Float32Array.from(columns), shape: [b.count] },
  };
}

export type States = { data: Float32Array; count: number; width: number };

function readStates(name: 'first' | 'second', given: TensorLike): States {
  const { floats, shape } = readArray('tokenSimilarity', name, given, 'TC', 'BTC');
  if (shape.length === 3 && shape[0] !== 1)
    throw shapeError('tokenSimilarity', name, shape, 'the states of one text: (T,C) or (1,T,C)');
  const [count, width] = shape.slice(-2);
  return { data: floats, count, width };
}

function lengthOfSum({ data, width }: States) {
  const sum = new Float64Array(width);
  for (let i = 0; i < data.length; i++) sum[i % width] += data[i];
  return Math.sqrt(sum.reduce((total, x) => total + x * x, 0));
}

function dot(a: States, t: number, b: States, s: number) {
  let sum = 0;
  for (let c = 0; c < a.width; c++) sum += a.data[t * a.width + c] * b.data[s * b.width + c];
  return sum;
}
