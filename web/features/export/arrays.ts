// Writes the weights of all heads as one array, in file formats that this page and other programs can open.

import { writeNpy, writeSafetensors } from '../../../src/js/io/formats.ts';

import type { Run } from '../../model/types.ts';

/** weights (L,H,T,S) */
export type All = { weights: Float32Array; shape: number[]; queries: string[]; keys: string[] };

/** Returns all heads of a run, or only the shown head of a large run. */
export function allOf({ weights, large, about, T, S }: Run, queries: string[], keys: string[]): All {
  return { weights, shape: large ? [1, 1, T, S] : [about.layers, about.heads, T, S], queries, keys };
}

export const toNpy = ({ weights, shape }: All) => writeNpy({ data: weights, shape });

export const toSafetensors = ({ weights, shape, queries, keys }: All) =>
  writeSafetensors(
    { attentions: { data: weights, shape } },
    { queries: JSON.stringify(queries), keys: JSON.stringify(keys) },
  );

/** Returns the array as JSON, in which NaN becomes null. */
export const toJson = ({ weights, shape, queries, keys }: All) =>
  JSON.stringify({ tokens: queries, queries, keys, attentions: { data: Array.from(weights), shape } });
