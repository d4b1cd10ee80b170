// Pooling by attention, as in SigLIP: one more block, whose only query is a learned vector that attends to all rows.
//
//   x = attention(probe; hidden), pooled = x + down(activation(up(norm(x))))

import type { Tensor } from '../../memory/tensor.ts';
import { attendAcross, feed } from '../block.ts';
import { pickRows } from '../rowOperations.ts';
import type { Run } from '../run.ts';

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
  const y =
    options.mlp > 0
      ? graph.add(
          x,
          feed(run, (name) => `pool.${name}`, run.norm('pool.norm', x)),
        )
      : x;
  return pickRows(graph, y, first);
}
