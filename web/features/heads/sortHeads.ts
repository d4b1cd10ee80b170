// Orders the heads of each layer by a value, the largest first.

import type { Run } from '../../drawing/types.ts';
import { weightsOf } from '../../model/derivation.ts';
import type { Ablation, AttentionPart } from '../../model/protocol/protocol.ts';

/** Returns 1 − the mean normalized entropy of rows: 0 for uniform rows, 1 for single keys. `weights`: (T,S). */
export function fromUniform(weights: Float32Array, T: number, S: number) {
  let sum = 0;
  let rows = 0;
  for (let t = 0; t < T; t++) {
    let [visible, entropy] = [0, 0];
    for (let s = 0; s < S; s++) {
      const w = weights[t * S + s];
      // A key after its query is masked if it has no weight.
      if (w > 0 || s <= t) visible++;
      if (w > 0) entropy -= w * Math.log(w);
    }
    if (visible < 2) continue;
    sum += 1 - entropy / Math.log(visible);
    rows++;
  }
  return rows ? sum / rows : 0;
}

/** Returns each layer's heads in order; null while the ablation is incomplete. `by`: 'effect', 'uniform' or a score. */
export function orderOf(
  by: string,
  run: Run,
  ablation: Ablation | null,
  shown: AttentionPart = 'decoder',
): number[][] | null {
  const { layers, heads } = run.about;
  if (by === 'effect' && (!ablation || ablation.switchedOff.length !== ablation.total)) return null;
  const losses = new Map(
    ablation?.switchedOff
      .filter(({ part }) => part === shown)
      .map(({ layer, head, value }) => [
        `${layer}.${head}`,
        ablation.measure === 'angle' ? value : ablation.before - value,
      ]),
  );
  const value = (l: number, h: number) => {
    if (by === 'effect') return losses.get(`${l}.${h}`) ?? 0;
    if (by !== 'uniform') return run.scores?.[l]?.[h]?.[by] ?? 0;
    const weights = weightsOf(run, l, h);
    return weights ? fromUniform(weights, run.T, run.S) : 0;
  };
  return Array.from({ length: layers }, (_, l) => {
    const values = Array.from({ length: heads }, (__, h) => value(l, h) || 0);
    return values.map((_, h) => h).sort((a, b) => values[b] - values[a] || a - b);
  });
}
