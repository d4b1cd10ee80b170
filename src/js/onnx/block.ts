// Builds the graph of a transformer block, with the same structure as models/block.js.

import { normsOutputs, scaleOf } from '../models/options.ts';
import { attend, type Visible } from './attention.ts';
import { relativeScores, withConvolution } from './disentangled.ts';
import type { Dim } from './graph.ts';
import { activate, joinHeads, layerNorm, rmsNorm, splitHeads, times, type Value } from './operators.ts';
import type { Parameters } from './parameters.ts';
import type { Across, Stack } from './stack.ts';

export function block(stack: Stack, i: number, input: Value) {
  const { normPlace, mlp, cross, sharedNorm } = stack.options;
  const at = `blocks.${i}`;
  const add = (a: Value, b: Value) => stack.graph.op('Add', [a, b]);
  const normed = (name: string, x: Value) => stack.passRows(name, stack.norm(name, x));
  const read = stack.passRows(`${at}.in`, input);
  let x = read;
  if (normPlace === 'after') {
    x = normed(`${at}.norm1`, stack.passRows(`${at}.mid`, add(x, attendSelf(stack, i, x))));
    if (cross) x = normed(`${at}.cross.norm`, add(x, attendAcross(stack, i, x)));
    if (mlp > 0) x = normed(`${at}.norm2`, add(x, feedForward(stack, i, x)));
    return stack.passRows(`${at}.out`, i === 0 ? withConvolution(stack, read, x) : x);
  }
  const normedInput = (name: string) => {
    const read = normed(`${at}.${name}`, x);
    if (normPlace === 'stream') x = read;
    return read;
  };
  const first = normedInput('norm1');
  const attended = attendSelf(stack, i, first);
  if (normPlace === 'parallel') {
    const second = sharedNorm ? stack.passRows(`${at}.norm2`, first) : normed(`${at}.norm2`, x);
    const mid = stack.passRows(`${at}.mid`, add(x, attended));
    return stack.passRows(`${at}.out`, mlp > 0 ? add(mid, feedForward(stack, i, second)) : mid);
  }
  x = stack.passRows(`${at}.mid`, add(x, attended));
  if (cross) {
    const read = normedInput('cross.norm');
    x = add(x, attendAcross(stack, i, read));
  }
  if (mlp > 0) {
    const read = normedInput('norm2');
    x = add(x, feedForward(stack, i, read));
  }
  return stack.passRows(`${at}.out`, x);
}

/**
 * Applies the norm, scales and factor to an output before it is added to the residual stream.
 * @param part attention or feed-forward
 */
function toStream(stack: Stack, at: string, part: 1 | 2, x: Value) {
  const normed = normsOutputs(stack.options) ? stack.norm(`${at}.after${part}`, x) : x;
  return times(stack.graph, stack.scaled(`${at}.scale${part}`, normed), stack.options.residualScale);
}

function feedForward(stack: Stack, i: number, x: Value) {
  const at = `blocks.${i}`;
  return stack.passRows(`${at}.mlp`, toStream(stack, at, 2, feed(stack, at, x)));
}

/** Builds a feed-forward layer. */
export function feed(stack: Stack, at: string, x: Value) {
  const { graph, options } = stack;
  const up = stack.linear(`${at}.up`, x);
  const inside = options.gated
    ? graph.op('Mul', [activate(graph, stack.linear(`${at}.gate`, x), options.activation), up])
    : activate(graph, up, options.activation);
  return stack.linear(`${at}.down`, stack.passRows(`${at}.hidden`, inside, options.mlp));
}

/**
 * Projects x and splits the result into heads, (B,heads,N,D).
 * @param normalize a norm of all heads together
 */
function project(
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

/** Computes the keys and values (B,G,S,D) of cross-attention from the output of the encoder. */
export const pairAcross = (parameters: Parameters, i: number, encoded: Value) => ({
  key: project(parameters, `blocks.${i}.cross`, 'k', encoded),
  value: project(parameters, `blocks.${i}.cross`, 'v', encoded),
});

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

function attendSelf(stack: Stack, i: number, x: Value) {
  const { graph, options, inputs } = stack;
  const at = `blocks.${i}`;
  const [query, key] = (['q', 'k'] as const).map((name) => {
    const normed = (y: Value) => headNorm(stack, `${at}.attention.norm${name.toUpperCase()}`, y);
    const whole = options.queryKeyNorm === 'all';
    const heads = project(stack, `${at}.attention`, name, x, whole ? normed : undefined);
    return stack.rotate(whole ? heads : normed(heads), i);
  });
  const fresh = { key, value: project(stack, `${at}.attention`, 'v', x) };
  const past = inputs.past?.[i];
  const after = (name: 'key' | 'value') =>
    past ? graph.op('Concat', [past[name], fresh[name]], { axis: 2 }) : fresh[name];
  const pair = { key: after('key'), value: after('value') };
  stack.present.push(pair);
  const relative = relativeScores(stack, i, { query, key: pair.key });
  const seen = {
    ...stack.visible(i),
    ...(relative && { bias: relative }),
    sinks: stack.weight(`${at}.attention.sinks`),
  };
  const heads = attendHeads(stack, `${at}.`, i, { query, ...pair }, seen, stack.allKeys);
  const out = stack.linear(`${at}.attention.wo`, heads, `${at}.attention.bo`);
  return stack.passRows(`${at}.attention`, toStream(stack, at, 1, out));
}

/** Builds cross-attention, with keys and values from the encoder. */
function attendAcross(stack: Stack, i: number, x: Value) {
  const at = `blocks.${i}.cross`;
  const across = stack.across as Across;
  const query = project(stack, at, 'q', x);
  const given = { query, ...across.pairs[i] };
  const heads = attendHeads(stack, `${at}.`, i, given, stack.visibleAcross(across), across.length);
  const out = stack.linear(`${at}.wo`, heads, `${at}.bo`);
  return stack.passRows(`${at}.attention`, times(stack.graph, out, stack.options.residualScale));
}

/**
 * Computes softmax(q·kᵀ + bias)·v, (B,T,H·D).
 * @param given (B,H,T,D), (B,G,S,D), (B,G,S,D)
 * @param keys S, the size or name of the axis of keys in outputs
 */
function attendHeads(
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
