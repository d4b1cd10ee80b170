// Estimates the effects of edges as changes of contributions times gradients of inputs.

import type { Numbers } from '../arrays.ts';
import { type Edges, inputOf, partOf } from './edges.ts';

export type Rule = 'right' | 'left' | 'middle';
export const RULES = ['right', 'left', 'middle'] as const;

/** Returns the interpolation factors at which gradients are computed. 0 is the corrupted run, 1 is the clean run. */
export function sharesOf(count: number, rule: string) {
  if (count === 0) return [0];
  const offset = { right: 1, left: 0, middle: 1 / 2 }[rule] ?? 1;
  return Array.from({ length: count }, (_, k) => (k + offset) / count);
}

export function placesOf({ sources, targets, before }: Edges): [source: number, target: number][] {
  return sources.flatMap((_, u) => targets.flatMap((_, v) => (u < before(v) ? [[u, v] as [number, number]] : [])));
}

export const between = ({ data, shape }: Numbers, b: Numbers, share: number): Numbers => ({
  data: data.map((x, i) => x + share * (b.data[i] - x)),
  shape,
});

/** Adds arrays, each divided by `count`, to the sums of the same name. */
export function addMean(sums: Record<string, Numbers>, arrays: Readonly<Record<string, Numbers>>, count: number) {
  for (const [name, { data, shape }] of Object.entries(arrays)) {
    const sum = (sums[name] ??= { data: new Float32Array(data.length), shape });
    for (let i = 0; i < data.length; i++) sum.data[i] += data[i] / count;
  }
}

/** Estimates effects: change (T,C) of each source's contribution times the gradient of each target's input. */
export function estimate(
  { sources, targets, before }: Edges,
  layers: number,
  changes: readonly Float32Array[],
  gradients: Readonly<Record<string, Numbers>>,
) {
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
