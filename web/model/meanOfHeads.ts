// The mean of several heads, and attention rollout, as the weights of one picture.

import { identity, rolloutStep } from '../../src/js/analysis/rollout.ts';
import { weightsOf } from './derivation.ts';
import type { Run } from './types.ts';

/** Contents of the large picture: the head, the mean of its layer, the mean of all heads, or rollout over layers. */
export const MEANS = ['head', 'layer', 'all', 'rollout'] as const;

const cache: WeakMap<object, Record<string, Float32Array>> = new WeakMap();

function meanOf(list: Float32Array[]) {
  const sum = new Float32Array(list[0].length);
  for (const weights of list) for (let i = 0; i < sum.length; i++) sum[i] += weights[i] / list.length;
  return sum;
}

/** Returns true if all heads' weights were received; rollout also needs the same tokens as queries and keys. */
export const canMean = (run: Run | null, mean: string) =>
  mean === 'head' || Boolean(run && !run.large && run.T > 0 && (mean !== 'rollout' || canRollOut(run)));
const canRollOut = ({ T, S, sound }: Run) => T === S && !sound?.unseen;

/** Returns the weights (T,S) of the large picture. `mean`: one of MEANS. */
export function shownWeights(run: Run, mean: string): Float32Array {
  const { layer, head, about, weights } = run;
  if (mean === 'head' || !canMean(run, mean)) return weightsOf(run, layer, head) as Float32Array;
  const known = cache.get(weights) ?? {};
  cache.set(weights, known);
  const name = mean === 'layer' ? `layer ${layer}` : mean;
  const ofLayer = (l: number) => Array.from({ length: about.heads }, (_, h) => weightsOf(run, l, h) as Float32Array);
  const layers = Array.from({ length: about.layers }, (_, l) => l);
  if (mean === 'rollout') known[name] ??= rolloutOf(run);
  else known[name] ??= meanOf(mean === 'layer' ? ofLayer(layer) : layers.flatMap(ofLayer));
  return known[name];
}

/** Computes attention rollout over all layers, (T,T). */
function rolloutOf({ about: { layers, heads }, T, weights }: Pick<Run, 'about' | 'T' | 'weights'>): Float32Array {
  const size = heads * T * T;
  let flow = identity(T);
  for (let l = 0; l < layers; l++) flow = rolloutStep(flow, weights.subarray(l * size, (l + 1) * size), heads, T);
  return Float32Array.from(flow);
}
