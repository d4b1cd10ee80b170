// Computes attention and projections of heads without a model, with the core.

import { visible } from '../../model/hiddenCells.ts';
import { effective } from '../../model/modelEdits.ts';

import type { Run } from '../../model/protocol/protocol.ts';
import type { Hl, LayerHeads, Numbers } from './types.ts';
/** (T,S), (T,S) and (T,D) */
export type Attended = { weights: Float32Array; scores: Float32Array; mixture: Float32Array };

/** Returns the rows of one head of (H,N,D). */
export function rowsOfHead({ data, shape: [, N, D] }: Numbers, h: number) {
  return { data: data.subarray(h * N * D, (h + 1) * N * D), shape: [1, 1, N, D] };
}

/** Computes one head with the changes of a run. `causal`: the head is causal without changes. */
export function attend(
  hl: Hl,
  { q, k, v }: LayerHeads,
  run: Run,
  layer: number,
  head: number,
  causal = false,
): Attended {
  const [, T, D] = q.shape;
  const S = k.shape[1];
  const name = effective(run.mask, layer, head, 'causal');
  const painted = effective(run.painted, layer, head, '');
  const hides = causal || name !== 'causal' || painted !== '';
  const scale = effective(run.scale, layer, head, 1);
  return hl.scope(() => {
    const { output, weights, scores } = hl.attention(rowsOfHead(q, head), rowsOfHead(k, head), rowsOfHead(v, head), {
      scale: 1 / (Math.sqrt(D) * effective(run.temperature, layer, head, 1)),
      ...(hides && { mask: visible(painted, name, T, causal, S) }),
      weights: true,
      scores: 'masked',
    });
    const mixture = output.copy();
    if (scale !== 1) for (let i = 0; i < mixture.length; i++) mixture[i] *= scale;
    return { weights: weights.copy(), scores: scores.copy(), mixture };
  });
}

/** Computes x (N,C) · weightᵀ + bias, (N,out), as the core's raw scores: rows of x are queries, of weight keys. */
export function project(
  hl: Hl,
  { data, shape: [N, C] }: Numbers,
  weight: Numbers,
  bias?: { data: Float32Array } | null,
): Numbers {
  const out = weight.shape[0];
  return hl.scope(() => {
    const values = { data: new Float32Array(0), shape: [1, 1, out, 0] };
    const keys = { data: weight.data, shape: [1, 1, out, C] };
    const { scores } = hl.attention({ data, shape: [1, 1, N, C] }, keys, values, { scores: 'raw', scale: 1 });
    const sums = scores.copy();
    if (bias) for (let i = 0; i < sums.length; i++) sums[i] += bias.data[i % out];
    return { data: sums, shape: [N, out] };
  });
}

/** Rearranges (N,heads·D) to (heads,N,D). */
export function splitHeads({ data, shape: [N, C] }: Numbers, heads: number): Numbers {
  const D = C / heads;
  const to = new Float32Array(data.length);
  for (let n = 0; n < N; n++)
    for (let h = 0; h < heads; h++) to.set(data.subarray(n * C + h * D, n * C + (h + 1) * D), (h * N + n) * D);
  return { data: to, shape: [heads, N, D] };
}
