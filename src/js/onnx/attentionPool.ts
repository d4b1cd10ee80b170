// Builds the graph of attention pooling, with the same structure as models/mixers/attentionPool.ts.

import { feedOf } from '../models/sublayers.ts';
import { attend, visibility } from './attention.ts';
import { FORMS } from './components.ts';
import { joinHeads, splitHeads, type Value } from './operators.ts';

import type { Stack } from './stack.ts';

/**
 * @param hidden (B,S,C)
 * @param keep (B,S)
 * @returns (B,1,C)
 */
export function attentionPool(stack: Stack, hidden: Value, keep?: Value): Value {
  const { graph, options, length } = stack;
  const { numHeads, kvHeads, headDim, dModel, mlp } = options;
  const at = 'pool.attention';
  const project = (name: 'query' | 'key' | 'value', x: Value, heads: number, rows: number | string) => {
    const product = stack.linear(`${at}.w${name[0]}`, x, `${at}.b${name[0]}`);
    return stack.pass(`pool.${name}`, splitHeads(graph, product, heads, headDim), ['batch', heads, rows, headDim]);
  };
  const sizes = graph.op('Concat', [stack.batch, graph.ints(1, dModel)], { axis: 0 });
  const probe = graph.op('Expand', [stack.needed('pool.probe'), sizes]);
  const weights = stack.captures('pool.weights');
  const result = attend(graph, {
    query: project('query', probe, numHeads, 1),
    key: project('key', hidden, kvHeads, length),
    value: project('value', hidden, kvHeads, length),
    ...{ heads: numHeads, kvHeads, scale: 1 / Math.sqrt(headDim), weights },
    ...(keep && visibility(graph, { queries: graph.ints(1), keys: stack.rows, keyPadding: keep })),
  });
  if (result.weights && weights) stack.pass('pool.weights', result.weights, ['batch', numHeads, 1, length]);
  const heads = stack.pass('pool.heads', result.output, ['batch', numHeads, 1, headDim]);
  const x = stack.linear(`${at}.wo`, joinHeads(graph, heads, numHeads * headDim), `${at}.bo`);
  if (mlp === 0) return x;
  const feed = FORMS[feedOf(options).name];
  return graph.op('Add', [x, feed.build(stack, (name) => `pool.${name}`, 0, stack.norm('pool.norm', x))]);
}
