// Pooling by attention, as in SigLIP: one more block, whose only query is a learned vector that attends to all rows.
//
//   x = attention(probe; hidden), pooled = x + down(activation(up(norm(x))))

import { attendAcross, feed } from './block.js';
import { pickRows } from './rowOperations.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Run } from './run.js' */

/** @param {Run} run @param {Tensor} hidden (B,T,C) @returns {Tensor} (B,C) */
export function poolByAttention(run, hidden) {
  const { graph, batch, options, input } = run;
  const first = new Int32Array(batch);
  const probe = graph.rows(run.requiredWeight('pool.probe'), first, [batch, 1]);
  const project = (/** @type {'q' | 'k' | 'v' | 'o'} */ name, rows = hidden) =>
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
