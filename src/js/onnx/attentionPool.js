// Builds the graph of attention pooling, with the same structure as models/attentionPool.js.

import { attend, visibility } from './attention.js';
import { feed } from './block.js';
import { joinHeads, splitHeads } from './operators.js';

/** @import { Value } from './operators.js' */
/** @import { Stack } from './stack.js' */

/**
 * @param {Stack} stack
 * @param {Value} hidden (B,S,C)
 * @param {Value} [keep] (B,S)
 * @returns {Value} (B,1,C)
 */
export function attentionPool(stack, hidden, keep) {
  const { graph, options, length } = stack;
  const { numHeads, kvHeads, headDim, dModel, mlp } = options;
  const at = 'pool.attention';
  /** @param {'query' | 'key' | 'value'} name @param {Value} x @param {number} heads @param {number | string} rows */
  const project = (name, x, heads, rows) => {
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
  return graph.op('Add', [x, feed(stack, 'pool', stack.norm('pool.norm', x))]);
}
