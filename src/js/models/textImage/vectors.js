// Vectors of length 1, their similarities, and probabilities computed from the similarities, in float64.

import { logSoftmax, sigmoid } from '../results/probabilities.js';

/**
 * How vectors are compared. independent: the probability of a text is a sigmoid of its logit, and does not depend on
 * the other texts.
 * @typedef {Readonly<{ scale: number, bias: number, independent: boolean }>} Similarity
 */

/**
 * Returns the rows, each divided by its length.
 * @param {ArrayLike<number>} rows (N,D)
 * @param {number} width D
 * @returns {Float64Array[]}
 */
export function unitRows(rows, width) {
  const all = Float64Array.from(rows);
  return Array.from({ length: width > 0 ? all.length / width : 0 }, (_, i) => {
    const row = all.subarray(i * width, (i + 1) * width);
    const length = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    return row.map((x) => x / length);
  });
}

/** @param {Float64Array} a @param {Float64Array} b */
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/**
 * Returns scale · cosine + bias for each of `rows` (N) with each of `columns` (M): (N,M), row by row.
 * @param {readonly Float64Array[]} rows
 * @param {readonly Float64Array[]} columns
 * @param {Pick<Similarity, 'scale' | 'bias'>} factors
 */
export const similarities = (rows, columns, { scale, bias }) =>
  Float64Array.from(rows.flatMap((row) => columns.map((column) => scale * dot(row, column) + bias)));

/**
 * Returns the probabilities of texts, given their logits.
 * @param {Float64Array} logits
 * @param {Pick<Similarity, 'independent'>} similarity
 */
export const probabilitiesOf = (logits, { independent }) =>
  independent ? logits.map(sigmoid) : logSoftmax(logits).map(Math.exp);
