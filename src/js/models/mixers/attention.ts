// Self-attention: q, k, v = x·Wqᵀ, x·Wkᵀ, x·Wvᵀ → [norm] → [rotary] → softmax(q·kᵀ + bias)·v → ·Woᵀ.

import type { Tensor } from '../../memory/tensor.ts';
import type { At, Component } from '../component.ts';
import type { LayerShape } from '../layerShapes.ts';
import type { Resolved } from '../options.ts';
import type { Run } from '../run.ts';
import { attendHeads, headsOf, type ScoreBias } from './attendHeads.ts';
import { projectInputs } from './headInputs.ts';

/**
 * Maximum number of tokens of a call that reads a float16 or int8 cache as it is stored. Such a call converts the cache
 * in registers, once for each token. For more tokens it is faster to convert the cache to float32 once in memory.
 */
const STORED_ROWS = 8;

/** @param memory width of the input of keys and values */
export function attentionLayer(name: string, options: Resolved, memory: number = options.dModel): LayerShape {
  const { dModel: C, numHeads, kvHeads, headDim, bias } = options;
  const [queries, keys] = [numHeads * headDim, kvHeads * headDim];
  const parameters: LayerShape['parameters'] = [
    ['wq', [queries, C], 'xavier'],
    ['wk', [keys, memory], 'xavier'],
    ['wv', [keys, memory], 'xavier'],
    ['wo', [C, queries], 'xavier'],
  ];
  for (const [name, size] of Object.entries({ query: queries, key: keys, value: keys, out: C }))
    if (bias[name as 'out']) parameters.push([`b${name[0]}`, [size], 'zeros']);
  if (options.queryKeyNorm) {
    const wide = options.queryKeyNorm === 'all' || options.queryKeyNorm === 'each';
    const [query, key] = wide ? [queries, keys] : [headDim, headDim];
    parameters.push(['normQ', [query], 'ones'], ['normK', [key], 'ones']);
    if (options.queryKeyNorm === 'layer')
      parameters.push(['normQBias', [headDim], 'zeros'], ['normKBias', [headDim], 'zeros']);
  }
  if (options.sinks) parameters.push(['sinks', [numHeads], 'zeros']);
  return { name, random: true, parameters };
}

/** @param bias default: that of relative positions, if there is one */
export function attendSelf(
  run: Run,
  at: At,
  i: number,
  x: Tensor,
  stream: Tensor,
  bias: ScoreBias = () => run.positionBias(),
): Tensor {
  const { options, cache } = run;
  const { headDim, numHeads, kvHeads, causal } = options;
  const normedAndRotated = (projected: Tensor, norm: string, heads: number) =>
    run.rotate(run.headNorm(norm, projected), heads, i);
  const project = (name: 'query' | 'key' | 'value', heads: number, rows = x) =>
    !run.values.idle && run.values.wants(at(`${name}.in`))
      ? projectInputs(run, at, name, stream, heads)
      : run.linear(at(`attention.w${name[0]}`), rows, at(`attention.b${name[0]}`));
  const k = normedAndRotated(project('key', kvHeads), at('attention.normK'), kvHeads);
  const v = project('value', kvHeads);
  const window = options.window?.[i] ?? null;
  const side = window === null ? -1 : causal ? window - 1 : Math.floor(window / 2);
  // A call with few tokens reads keys and values as they are stored. Captures, edits and gradients need float32.
  const asStored = run.rows <= STORED_ROWS && run.values.idle && !run.graph.records;
  const stored = cache?.store(i, k, v, asStored);
  if (i === options.layers - 1) run.narrow();
  const q = normedAndRotated(project('query', numHeads, run.narrowed(x)), at('attention.normQ'), numHeads);
  const heads = attendHeads(run, at(''), i, {
    query: q,
    key: stored ? stored.key : headsOf(k, headDim),
    value: stored ? stored.value : headsOf(v, headDim),
    keyType: stored?.type,
    keys: run.past + run.rows,
    causal,
    window: [side, causal ? -1 : side],
    offset: run.past,
    padding: run.padding,
    bias,
    slopes: run.slopes,
    sinks: run.weight(at('attention.sinks')),
    dropout: run.dropout(i, false),
  });
  return run.linear(at('attention.wo'), heads, at('attention.bo'));
}

export const attention: Component = {
  name: 'attention',
  parameters: (at, options) => [attentionLayer(`${at}.attention`, options)],
  shared: ({ buckets, numHeads }) =>
    buckets ? [{ name: 'buckets', random: true, parameters: [['table', [buckets.count, numHeads], 'normal']] }] : [],
  prepare: (run) => run.positionBias(),
  forward: attendSelf,
};
