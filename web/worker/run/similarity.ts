// Computes the similarity of two sentences for a sentence encoder, and the shares of their tokens in it.

import { tokenSimilarity } from '../../../src/js/analysis/similarity.ts';
import type { About, Comparison, Run, Similarity, SimilarTokens } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { Numbers, TransformerSource } from '../sources/types.ts';
import { readRun } from './modelInput.ts';
import type { ValuesOf } from './showTransformer.ts';

/** Returns the run of the second sentence, without changes at tokens of the first one. */
const secondOf = (run: Run) => ({ ...runOf(run), text: run.second ?? '', second: '', patch: {}, painted: {} });

/** Computes the similarity of a run's sentences; null without a second. `other`: the run to compare with. */
export function similarityOf(
  source: TransformerSource,
  run: Run,
  other: { kind: Comparison['kind']; run: Run },
  valuesOf: ValuesOf,
): Similarity | null {
  const pooling = source.about.compares as NonNullable<About['compares']>;
  const texts = [run, secondOf(run)];
  const [first, second] = texts.map((text) => readRun(source, text).pieces.map(({ name }) => name));
  if (first.length === 0 || second.length === 0) return null;
  const { cosine, ...shares } = compare(texts, pooling, valuesOf);
  // A pinned run may have only one sentence, which is compared with the second sentence of this run.
  const before = { ...other.run, second: other.run.second || run.second };
  const isWhole = readRun(source, before).ids.length > 0;
  return {
    cosine,
    kind: other.kind,
    other: isWhole ? compare([before, secondOf(before)], pooling, valuesOf).cosine : null,
    tokens: pooling === 'mean' ? tokensOf(shares, [first, second]) : null,
  };
}

/** `runs`: two of them. */
function compare(runs: Run[], pooling: NonNullable<About['compares']>, valuesOf: ValuesOf) {
  const [a, b] = runs.map((run) => pooled(valuesOf(run).hidden, pooling));
  return tokenSimilarity(a, b);
}

/** Returns rows whose mean is the sentence's vector: all of `hidden` (1,T,C) for 'mean', otherwise one. */
function pooled({ data, shape: [, T, C] }: Numbers, pooling: NonNullable<About['compares']>): Numbers {
  if (pooling === 'mean') return { data, shape: [T, C] };
  if (pooling === 'first') return { data: data.subarray(0, C), shape: [1, C] };
  if (pooling === 'last') return { data: data.subarray((T - 1) * C), shape: [1, C] };
  const most = new Float32Array(C).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < data.length; i++) most[i % C] = Math.max(most[i % C], data[i]);
  return { data: most, shape: [1, C] };
}

const tokensOf = (
  { first, second, pairs }: Omit<ReturnType<typeof tokenSimilarity>, 'cosine'>,
  names: string[][],
): SimilarTokens => ({
  names,
  first: first.data,
  second: second.data,
  pairs: pairs.data,
});
