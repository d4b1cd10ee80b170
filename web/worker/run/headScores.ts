// Computes scores of the attention weights of all heads on a text.

import { headRoles, headScores } from '../../../src/js/analysis/analysis.ts';

import type { HeadScores, NamedRoles } from '../../model/protocol/protocol.ts';
import type { Numbers } from '../sources/types.ts';

/** Copies the weights of every head into one array (L,H,T,S). */
export function weightsOf(layers: Numbers[]) {
  const parts = layers.map(({ data }) => data);
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Copies the weights (T,S) of one head of a layer (1,H,T,S). */
export const weightsOfHead = ({ data, shape: [, , T, S] }: Numbers, head: number) =>
  data.slice(head * T * S, (head + 1) * T * S);

/** The scores of all heads on a text, by layer and head, and the roles that these scores show. */
export type ScoredHeads = { scores: HeadScores[][]; named: NamedRoles };

/** Computes all heads' scores: measures of headRoles, entropy and distance. `weights`: of every layer, (1,H,T,T). */
export function scoreHeads(
  weights: Numbers[],
  ids: { data: ArrayLike<number>; shape: number[] },
  causal?: boolean,
): ScoredHeads {
  const { entropy, distance } = headScores(weights);
  const { names, weights: shares, mean } = headRoles(weights, { ids, causal });
  const [, heads] = weights[0].shape;
  const all = Object.entries({ ...mean, entropy, distance });
  const scores = weights.map((_, l) =>
    Array.from({ length: heads }, (__, h) =>
      Object.fromEntries(all.map(([name, { data }]) => [name, data[l * heads + h]])),
    ),
  );
  return { scores, named: { roles: names, weights: shares } };
}
