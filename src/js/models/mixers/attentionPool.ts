// Pooling by attention, as in SigLIP: one more block, whose only query is a learned vector that attends to all rows.
//
//   x = attention(probe; hidden), pooled = x + down(activation(up(norm(x))))

import type { Tensor } from '../../memory/tensor.ts';
import { type LayerShape, norm } from '../layerShapes.ts';
import type { Resolved } from '../options.ts';
import { pickRows } from '../rowOperations.ts';
import type { Run } from '../run.ts';
import { feedOf } from '../sublayers.ts';
import { attendAcross } from './attendHeads.ts';
import { attentionLayer } from './attention.ts';

export function* poolLayers(options: Resolved): Generator<LayerShape> {
  yield { name: 'pool', random: true, parameters: [['probe', [1, options.dModel], 'normal']] };
  yield attentionLayer('pool.attention', { ...options, queryKeyNorm: false, sinks: false });
  if (options.mlp === 0) return;
  yield* norm('pool.norm', options.dModel, options);
  yield* feedOf(options).parameters('pool', options);
}

/**
 * @param hidden (B,T,C)
 * @returns (B,C)
 */
export function poolByAttention(run: Run, hidden: Tensor): Tensor {
  const { graph, batch, options, input } = run;
  const first = new Int32Array(batch);
  const probe = graph.rows(run.requiredWeight('pool.probe'), first, [batch, 1]);
  const project = (name: 'q' | 'k' | 'v' | 'o', rows = hidden) =>
    run.linear(`pool.attention.w${name}`, rows, `pool.attention.b${name}`);
  const pair = { key: project('k'), value: project('v'), padding: input.keep };
  const x = project('o', attendAcross(run, 'pool.', 0, project('q', probe), pair));
  if (options.mlp === 0) return pickRows(graph, x, first);
  const y = feedOf(options).forward(run, (name) => `pool.${name}`, 0, run.norm('pool.norm', x), x);
  return pickRows(graph, graph.add(x, y), first);
}
