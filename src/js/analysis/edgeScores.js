// Estimates the effects of edges as changes of contributions times gradients of inputs.

import { inputOf, partOf } from './edges.js';

/** @import { Numbers } from './arrays.js' */
/** @import { Edges } from './edges.js' */

/** @typedef {'right' | 'left' | 'middle'} Rule */
export const RULES = /** @type {const} */ (['right', 'left', 'middle']);

/**
 * Returns the interpolation factors at which gradients are computed. 0 is the corrupted run, 1 is the clean run.
 * @param {number} count
 * @param {string} rule
 */
export function sharesOf(count, rule) {
  if (count === 0) return [0];
  const offset = { right: 1, left: 0, middle: 1 / 2 }[rule] ?? 1;
  return Array.from({ length: count }, (_, k) => (k + offset) / count);
}

/**
 * Returns all edges, each as the indices of its source and target.
 * @param {Edges} edges
 * @returns {[source: number, target: number][]}
 */
export function placesOf({ sources, targets, before }) {
  return sources.flatMap((_, u) =>
    targets.flatMap((_, v) => (u < before(v) ? [/** @type {[number, number]} */ ([u, v])] : [])),
  );
}

/** Returns a + share · (b − a). @param {Numbers} a @param {Numbers} b @param {number} share @returns {Numbers} */
export const between = ({ data, shape }, b, share) => ({
  data: data.map((x, i) => x + share * (b.data[i] - x)),
  shape,
});

/**
 * Adds arrays, each divided by `count`, to the sums of the same name.
 * @param {Record<string, Numbers>} sums
 * @param {Readonly<Record<string, Numbers>>} arrays
 * @param {number} count
 */
export function addMean(sums, arrays, count) {
  for (const [name, { data, shape }] of Object.entries(arrays)) {
    const sum = (sums[name] ??= { data: new Float32Array(data.length), shape });
    for (let i = 0; i < data.length; i++) sum.data[i] += data[i] / count;
  }
}

/**
 * Estimates the effect of each edge: the change of its source's contribution times the gradient of its target's input.
 * @param {Edges} edges
 * @param {number} layers
 * @param {readonly Float32Array[]} changes change (T,C) of the contribution of each source
 * @param {Readonly<Record<string, Numbers>>} gradients of the inputs of the targets
 */
export function estimate({ sources, targets, before }, layers, changes, gradients) {
  const first = gradients[inputOf(targets[targets.length - 1], layers).at];
  const [, tokens, width] = first.shape;
  const scores = new Float32Array(sources.length * targets.length).fill(NaN);
  const terms = new Float32Array(scores.length * tokens).fill(NaN);
  targets.forEach((target, v) => {
    const gradient = partOf(gradients[inputOf(target, layers).at], target);
    for (let u = 0; u < before(v); u++) {
      const [change, at] = [changes[u], u * targets.length + v];
      let score = 0;
      for (let t = 0; t < tokens; t++) {
        let term = 0;
        for (let c = t * width; c < (t + 1) * width; c++) term += change[c] * gradient[c];
        terms[at * tokens + t] = term;
        score += term;
      }
      scores[at] = score;
    }
  });
  return { scores, terms, tokens };
}
