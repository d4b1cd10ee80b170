// The ONNX form of softmax(q·kᵀ + bias)·v of all heads.

import { attend, type Visible } from '../../onnx/attention.ts';
import type { Dim } from '../../onnx/graph.ts';
import { joinHeads, splitHeads, type Value } from '../../onnx/operators.ts';
import type { Parameters } from '../../onnx/parameters.ts';
import type { Stack } from '../../onnx/stack.ts';
import { scaleOf } from '../options.ts';

/**
 * Projects x and splits the result into heads, (B,heads,N,D).
 * @param at prefix of the names of the weights
 * @param normalize a norm of all heads together
 */
export function projectHeads(
  parameters: Parameters,
  at: string,
  name: 'q' | 'k' | 'v',
  x: Value,
  normalize: (product: Value) => Value = (product) => product,
) {
  const { numHeads, kvHeads, headDim } = parameters.options;
  const product = normalize(parameters.linear(`${at}.w${name}`, x, `${at}.b${name}`));
  return splitHeads(parameters.graph, product, name === 'q' ? numHeads : kvHeads, headDim);
}

/**
 * Returns (B,T,H·D).
 * @param at prefix of the names of values
 * @param given (B,H,T,D), (B,G,S,D), (B,G,S,D)
 * @param keys S, the size or name of the axis of keys in outputs
 */
export function attendHeads(
  stack: Stack,
  at: string,
  i: number,
  given: Record<'query' | 'key' | 'value', Value>,
  seen: Visible & { sinks?: Value },
  keys: Dim,
) {
  const { graph, length } = stack;
  const { numHeads, kvHeads, headDim, softcap } = stack.options;
  const scale = scaleOf(stack.options, i);
  for (const [name, heads, rows] of [
    ['query', numHeads, length],
    ['key', kvHeads, keys],
    ['value', kvHeads, keys],
  ] as const)
    stack.pass(at + name, given[name], ['batch', heads, rows, headDim]);
  const returnsWeights = stack.captures(`${at}weights`);
  const how = { heads: numHeads, kvHeads, scale, softcap, weights: returnsWeights };
  const { output, weights } = attend(graph, { ...given, ...seen, ...how });
  if (returnsWeights) stack.pass(`${at}weights`, weights as Value, ['batch', numHeads, length, keys]);
  return joinHeads(graph, stack.pass(`${at}heads`, output, ['batch', numHeads, length, headDim]), numHeads * headDim);
}
