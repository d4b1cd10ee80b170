// One cell followed back through the algorithm: its numbers, as the core gave them.

/** @import { Explained } from './types.js' */

/** @param {number[] | Float32Array} numbers */
const sumOf = (numbers) => {
  let sum = 0;
  for (const x of numbers) sum += x;
  return sum;
};

/**
 * Everything between the inputs and one weight, and between that weight and the output.
 * @typedef {object} Parts vectors of query, key and value; scores at each step and weights of the query's row
 * @property {Float32Array} q
 * @property {Float32Array} k
 * @property {Float32Array} v
 * @property {Float32Array} raw
 * @property {Float32Array} scaled
 * @property {Float32Array} capped
 * @property {Float32Array | null} seen 0 where a mask hides; null: nowhere
 * @property {Float32Array} weights
 * @property {number} factor
 * @property {Float32Array} concat the outputs of all heads
 * @property {Float32Array} output
 * @property {boolean} projected
 * @property {number} head
 *
 * @param {Parts} parts
 * @param {number} key which key
 * @returns {Explained}
 */
export function explain({ q, k, v, raw, scaled, capped, seen, weights, factor, concat, output, projected, head }, key) {
  const masked = seen ? capped.map((score, s) => (seen[s] === 0 ? -Infinity : score)) : capped;
  const most = masked.reduce((a, b) => Math.max(a, b), -Infinity);
  const exponents = Array.from(masked, (score) => (score === -Infinity ? 0 : Math.exp(score - most)));
  const weight = weights[key];
  const part = [head * v.length, (head + 1) * v.length];
  return {
    q,
    k,
    v,
    products: Array.from(q, (x, d) => x * k[d]),
    raw: raw[key],
    factor,
    scaled: scaled[key],
    capped: capped[key],
    masked: masked[key],
    /** By a mask; a score of −∞ of its own is not. */
    hidden: seen ? seen[key] === 0 : false,
    most,
    exponent: exponents[key],
    sum: sumOf(exponents),
    weight,
    weights,
    rank: 1 + weights.reduce((count, w) => count + Number(w > weight), 0),
    seen: seen ? seen.reduce((count, visible) => count + Number(visible !== 0), 0) : masked.length,
    total: sumOf(weights),
    contribution: Array.from(v, (x) => weight * x),
    heads: concat.subarray(...part),
    concat,
    part,
    output,
    projected,
  };
}
