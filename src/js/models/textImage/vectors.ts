// Vectors of length 1, their similarities, and probabilities computed from the similarities, in float64.

import { logSoftmax, sigmoid } from '../results/probabilities.ts';

/** independent: a text's probability is a sigmoid of its logit, whatever the other texts are. */
export type Similarity = Readonly<{ scale: number; bias: number; independent: boolean }>;

/** Returns the rows, each divided by its length. rows: (N,D); width: D. */
export function unitRows(rows: ArrayLike<number>, width: number): Float64Array[] {
  const all = Float64Array.from(rows);
  return Array.from({ length: width > 0 ? all.length / width : 0 }, (_, i) => {
    const row = all.subarray(i * width, (i + 1) * width);
    const length = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    return row.map((x) => x / length);
  });
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** Returns scale · cosine + bias for each of `rows` (N) with each of `columns` (M): (N,M), row by row. */
export const similarities = (
  rows: readonly Float64Array[],
  columns: readonly Float64Array[],
  { scale, bias }: Pick<Similarity, 'scale' | 'bias'>,
) => Float64Array.from(rows.flatMap((row) => columns.map((column) => scale * dot(row, column) + bias)));

export const probabilitiesOf = (logits: Float64Array, { independent }: Pick<Similarity, 'independent'>) =>
  independent ? logits.map(sigmoid) : logSoftmax(logits).map(Math.exp);
