// softmax(q·kᵀ + bias)·v of all heads, with captured and edited values.

import { shapeOf, type Tensor } from '../../memory/tensor.ts';
import type { AttentionCall } from '../gradients/graph.ts';
import { scaleOf } from '../options.ts';
import type { Run, Strided } from '../run.ts';
import { attendWithEdits } from './editedAttention.ts';

/** Computes the bias of the scores. query (B,T,H·D), key (B,S,G·D) */
export type ScoreBias = (
  given: Pick<AttentionCall, 'query' | 'key' | 'sizes' | 'scale'>,
) => AttentionCall['bias'] | undefined;
/**
 * query (B,T,H·D), key and value (B,G,S,D). keys: the number S of keys; keyType: number type of key and value, one of
 * KEYS.
 */
export type AttentionInput = Pick<
  AttentionCall,
  'query' | 'causal' | 'window' | 'offset' | 'padding' | 'slopes' | 'sinks' | 'dropout' | 'keyType'
> & { key: Strided; value: Strided; keys: number; bias?: ScoreBias };

/**
 * Returns rows as a strided view (B,heads,N,D).
 * @param tensor (B,N,heads·D)
 */
export function headsOf(tensor: Tensor, width: number): Strided {
  const [, rows, channels] = shapeOf(tensor);
  return { tensor, stride: [rows * channels, width, channels] };
}

/**
 * Returns (B,T,H·D).
 * @param at prefix of the names of values
 * @param i index of the block
 */
export function attendHeads(run: Run, at: string, i: number, { keys, bias, ...given }: AttentionInput) {
  const { options, graph, values } = run;
  const { numHeads: heads, kvHeads, headDim: width } = options;
  const names = ['query', 'key', 'value'] as const;
  const sizes = { batch: run.batch, heads, kvHeads, queries: shapeOf(given.query)[1], keys, width };
  let { query, key, value } = given;
  if (!values.idle && names.some((name) => values.wants(at + name))) {
    query = run.passHeads(`${at}query`, query, heads, run.past);
    key = headsOf(run.passHeads(`${at}key`, run.gather(key, kvHeads, keys), kvHeads, 0), width);
    value = headsOf(run.passHeads(`${at}value`, run.gather(value, kvHeads, keys), kvHeads, 0), width);
  }
  // The core accepts only one stride for both keys and values.
  if (key.stride.some((step, axis) => step !== value.stride[axis])) {
    key = headsOf(run.gather(key, kvHeads, keys), width);
    value = headsOf(run.gather(value, kvHeads, keys), width);
  }
  const inputs = { query, key: key.tensor, sizes, scale: scaleOf(options, i) };
  const call = {
    ...given,
    ...inputs,
    value: value.tensor,
    keyStride: key.stride,
    softcap: options.softcap,
    bias: bias?.(inputs),
    weights: false,
    scores: false,
  };
  if (values.idle) return graph.attention(call).output;
  return run.passHeads(`${at}heads`, attendWithEdits(run, at, call), heads, run.past);
}

/**
 * Computes attention to keys and values from another input than the block's. No key is masked, except padding.
 * Returns (B,T,H·D).
 * @param at prefix of the names of values
 * @param query (B,T,H·D)
 * @param pair (B,S,G·D)
 */
export function attendAcross(
  run: Run,
  at: string,
  i: number,
  query: Tensor,
  { key, value, padding }: { key: Tensor; value: Tensor; padding: Uint8Array | undefined },
) {
  const { headDim } = run.options;
  return attendHeads(run, at, i, {
    query,
    key: headsOf(key, headDim),
    value: headsOf(value, headDim),
    keys: shapeOf(key)[1],
    causal: false,
    window: [-1, -1],
    // The window of an edit is measured from the position of the query in the whole sequence.
    offset: run.past,
    padding,
    dropout: run.dropout(i, true),
  });
}
