// The map before the first scan, on which the current text alone determines the positions of the heads.

import type { AtlasMap, AtlasMeasure } from '../../../model/protocol/atlasProtocol.ts';
import type { Run } from '../../../model/types.ts';

const NAMES = [
  'selfAttention',
  'previous',
  'entropy',
  'distance',
  'distanceVariance',
  'induction',
  'first',
  'duplicate',
] as const;

/** Returns null if the run has no scores, has a single token, or is too large. */
export function sentenceMap(run: Run | null): AtlasMap | null {
  if (!run?.scores || run.large || run.T < 2 || run.T !== run.S) return null;
  const { layers, heads } = run.about;
  const size = run.T * run.T;
  const measures = Object.fromEntries(NAMES.map((name) => [name, new Float32Array(layers * heads)])) as Record<
    AtlasMeasure,
    Float32Array
  >;
  for (let i = 0; i < layers * heads; i++) {
    const scores = run.scores[Math.floor(i / heads)][i % heads];
    const variance = varianceOf(run.weights.subarray(i * size, (i + 1) * size), run.T);
    const all: Record<string, number> = { ...scores, selfAttention: scores.itself, distanceVariance: variance };
    for (const name of NAMES) measures[name][i] = all[name] ?? Number.NaN;
  }
  return {
    ...{ key: '', layers, heads, title: '', passages: 1, done: 1, tokens: run.T, skipped: [], truncated: 0 },
    ...{ longest: run.T, measures, means: {}, chances: {}, state: 'finished', time: 0, source: 'sentence' },
  };
}

function varianceOf(weights: Float32Array, T: number) {
  let [sum, squares] = [0, 0];
  for (let t = 0; t < T; t++)
    for (let s = 0; s < T; s++) {
      const w = weights[t * T + s];
      if (!(w > 0)) continue;
      sum += w * Math.abs(t - s);
      squares += w * (t - s) ** 2;
    }
  return squares / T - (sum / T) ** 2;
}
