// The ONNX form of self-attention.

import type { ComponentForm } from '../../onnx/components.ts';
import { layerNorm, rmsNorm, type Value } from '../../onnx/operators.ts';
import type { Stack } from '../../onnx/stack.ts';
import type { At } from '../component.ts';
import { attendHeads, projectHeads } from './attendHeads.onnx.ts';

/**
 * Normalizes queries or keys, if the model has such a norm.
 * @param name of the weight
 * @param x (B,heads,N,D), or (B,N,heads·D) for a norm of all heads together
 */
function headNorm(stack: Stack, name: string, x: Value) {
  const { graph, options } = stack;
  const { queryKeyNorm: kind, normEps: eps, headDim } = options;
  const weight = stack.weight(name);
  if (!weight) return x;
  if (kind === 'layer') return layerNorm(graph, x, weight, stack.weight(`${name}Bias`), eps);
  if (kind !== 'each') return rmsNorm(graph, x, weight, eps);
  const ones = graph.constant(new Float32Array(headDim).fill(1), [headDim]);
  const heads = graph.reshape(weight, name.endsWith('Q') ? options.numHeads : options.kvHeads, 1, headDim);
  return graph.op('Mul', [layerNorm(graph, x, ones, undefined, eps), heads]);
}

/** @param biasOf returns what is added to the scores, besides the bias that all blocks share */
export function attendSelf(
  stack: Stack,
  at: At,
  i: number,
  x: Value,
  biasOf?: (given: { query: Value; key: Value }) => Value,
) {
  const { graph, options, inputs } = stack;
  const weights = at('attention');
  const [query, key] = (['q', 'k'] as const).map((name) => {
    const normed = (y: Value) => headNorm(stack, `${weights}.norm${name.toUpperCase()}`, y);
    const whole = options.queryKeyNorm === 'all';
    const heads = projectHeads(stack, weights, name, x, whole ? normed : undefined);
    return stack.rotate(whole ? heads : normed(heads), i);
  });
  const fresh = { key, value: projectHeads(stack, weights, 'v', x) };
  const past = inputs.past?.[i];
  const after = (name: 'key' | 'value') =>
    past ? graph.op('Concat', [past[name], fresh[name]], { axis: 2 }) : fresh[name];
  const pair = { key: after('key'), value: after('value') };
  stack.present.push(pair);
  const seen = {
    ...stack.visible(i),
    ...(biasOf && { bias: biasOf({ query, key: pair.key }) }),
    sinks: stack.weight(`${weights}.sinks`),
  };
  const heads = attendHeads(stack, at(''), i, { query, ...pair }, seen, stack.allKeys);
  return stack.linear(`${weights}.wo`, heads, `${weights}.bo`);
}

export const attentionForm: ComponentForm = { build: attendSelf };
