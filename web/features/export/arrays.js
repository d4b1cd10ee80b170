// Writes the weights of all heads as one array, in file formats that this page and other programs can open.

import { writeNpy, writeSafetensors } from '../../../src/js/io/formats.js';

/** @import { Run } from '../../store/types.js' */

/** @typedef {{ weights: Float32Array, shape: number[], queries: string[], keys: string[] }} All weights (L,H,T,S) */

/**
 * Returns all heads of a run, or only the shown head of a large run.
 * @param {Run} run @param {string[]} queries @param {string[]} keys @returns {All}
 */
export function allOf({ weights, large, about, T, S }, queries, keys) {
  return { weights, shape: large ? [1, 1, T, S] : [about.layers, about.heads, T, S], queries, keys };
}

/** @param {All} all */
export const toNpy = ({ weights, shape }) => writeNpy({ data: weights, shape });

/** @param {All} all */
export const toSafetensors = ({ weights, shape, queries, keys }) =>
  writeSafetensors(
    { attentions: { data: weights, shape } },
    { queries: JSON.stringify(queries), keys: JSON.stringify(keys) },
  );

/** Returns the array as JSON, in which NaN becomes null. @param {All} all */
export const toJson = ({ weights, shape, queries, keys }) =>
  JSON.stringify({ tokens: queries, queries, keys, attentions: { data: Array.from(weights), shape } });
