// The block of every transformer, from input to output. x is (B,T,C). Steps in brackets exist in some models only. The
// words before the colons are values of the option normPlace.
//
//   before, both, outputs:                                       after:  x = norm1(x + attention(x))
//     x = x + [after1] attention([norm1] x)                              x = norm2(x + mlp(x))
//     x = x + [after2] mlp([norm2] x)
//   parallel:      x = x + attention(norm1(x)) + mlp(norm2(x))
//   stream:        x = norm1(x), x = x + attention(x)
//                  x = norm2(x), x = x + mlp(x)
//
//   attention:  q, k, v = x·Wqᵀ, x·Wkᵀ, x·Wvᵀ → [norm] → [rotary] → softmax(q·kᵀ + bias)·v → ·Woᵀ
//   mlp:        down(activation(up(x))), or down(activation(gate(x)) · up(x))
//   The results of both pass through [the norms after1, after2] and [· scale1, · scale2], a factor for each channel.
//
// residualScale multiplies what attention and mlp add.

import { shapeOf, type Tensor } from '../memory/tensor.ts';
import { ROWS } from './edits.ts';
import { attendWithEdits } from './mixers/editedAttention.ts';
import { projectInputs } from './mixers/headInputs.ts';
import { normsOutputs, scaleOf } from './options.ts';
import { rarePart } from './rareParts.ts';

import type { Run, Strided } from './run.ts';

/** For each block, full names by names within the block. */
const fullNames: Map<string, string>[] = [];
/**
 * Maximum number of tokens of a call that reads a float16 or int8 cache as it is stored. Such a call converts the cache
 * in registers, once for each token. For more tokens it is faster to convert the cache to float32 once in memory.
 */
const STORED_ROWS = 8;
/**
 * Returns a function that returns the full name for a name within block i. Each full name is made once, because a new
 * string must be hashed before it is looked up. In a small model, this took a tenth of the time per token.
 */
function inBlock(i: number) {
  const made = (fullNames[i] ??= new Map());
  return (name: string) => {
    const fullName = made.get(name) ?? `blocks.${i}.${name}`;
    made.set(name, fullName);
    return fullName;
  };
}

/**
 * @param input (B,T,C)
 * @returns (B,T,C)
 */
export function block(run: Run, i: number, input: Tensor): Tensor {
  const at = inBlock(i);
  const x = run.pass(at('in'), input, ROWS);
  const { convolution } = run.options.disentangled ?? {};
  const inside = () => {
    const y = computeBlock(run, i, x);
    return convolution && i === 0 ? rarePart('disentangled', run.caller).addConvolution(run, x, y, convolution) : y;
  };
  return run.pass(at('out'), run.straight === i ? run.graph.straight(x, inside) : inside(), ROWS);
}

/**
 * @param input (B,T,C)
 * @returns (B,T,C)
 */
function computeBlock(run: Run, i: number, input: Tensor): Tensor {
  const { normPlace, mlp, cross, sharedNorm } = run.options;
  const { graph } = run;
  const at = inBlock(i);
  let x = input;
  if (normPlace === 'after') {
    const attended = attend(run, i, x, x);
    x = normed(run, at('norm1'), run.pass(at('mid'), graph.add(run.narrowed(x), attended), ROWS));
    if (cross) x = normed(run, at('cross.norm'), graph.add(x, attendToEncoder(run, i, x)));
    if (mlp > 0) x = normed(run, at('norm2'), graph.add(x, feedForward(run, i, run.pass(at('mlp.in'), x, ROWS))));
    return x;
  }
  const normalize = (name: string, input = x) => {
    const y = normed(run, at(name), input);
    if (normPlace === 'stream') x = y;
    return y;
  };
  const stream = x;
  const first = normalize('norm1');
  const attended = attend(run, i, first, stream);
  x = run.narrowed(x);
  if (normPlace === 'parallel') {
    const own = run.pass(at('mlp.in'), x, ROWS);
    const shared = own === x ? run.narrowed(first) : run.norm(at('norm1'), own);
    const second = sharedNorm ? run.pass(at('norm2'), shared, ROWS) : normed(run, at('norm2'), own);
    const mid = run.pass(at('mid'), graph.add(x, attended), ROWS);
    return mlp > 0 ? graph.add(mid, feedForward(run, i, second)) : mid;
  }
  x = run.pass(at('mid'), graph.add(x, attended), ROWS);
  if (cross) {
    const y = normalize('cross.norm');
    x = graph.add(x, attendToEncoder(run, i, y));
  }
  if (mlp > 0) {
    const y = normalize('norm2', run.pass(at('mlp.in'), x, ROWS));
    x = graph.add(x, feedForward(run, i, y));
  }
  return x;
}

/**
 * Returns the norm of x, or x if the model has no such norm.
 * @param x (B,T,C)
 */
function normed(run: Run, name: string, x: Tensor) {
  return run.pass(name, run.norm(name, x), ROWS);
}

/**
 * Returns the output of attention or feed-forward as it is added to the residual stream: after its norm and its
 * factors, if the model has them.
 * @param part 1: attention, 2: feed-forward
 * @param x (B,T,C)
 */
function toStream(run: Run, at: (name: string) => string, part: 1 | 2, x: Tensor) {
  const normed = normsOutputs(run.options) ? run.norm(at(`after${part}`), x) : x;
  return run.graph.scale(run.scaled(at(`scale${part}`), normed), run.options.residualScale);
}

/**
 * @param x (B,T,C)
 * @returns (B,T,C)
 */
function feedForward(run: Run, i: number, x: Tensor): Tensor {
  const at = inBlock(i);
  return run.pass(at('mlp'), toStream(run, at, 2, feed(run, at, x)), ROWS);
}

/**
 * Computes a feed-forward layer and returns (B,T,C).
 * @param at returns the full name for a name within the block
 * @param x (B,T,C)
 */
export function feed(run: Run, at: (name: string) => string, x: Tensor) {
  const { graph, options } = run;
  const up = run.linear(at('up'), x);
  const inside = options.gated
    ? graph.gated(run.linear(at('gate'), x), up, options.activation)
    : graph.activation(up, options.activation);
  return run.linear(at('down'), run.pass(at('hidden'), inside, ROWS));
}

/**
 * Returns rows as a strided view (B,heads,N,D).
 * @param tensor (B,N,heads·D)
 */
function headsOf(tensor: Tensor, width: number) {
  const [, rows, channels] = shapeOf(tensor);
  return { tensor, stride: [rows * channels, width, channels] as const };
}

/**
 * Computes self-attention.
 * @param x (B,T,C)
 * @param stream (B,T,C), the residual stream before the norm whose output is x
 * @returns (B,T,C)
 */
function attend(run: Run, i: number, x: Tensor, stream: Tensor): Tensor {
  const { options, cache } = run;
  const { headDim, numHeads, kvHeads, causal } = options;
  const at = inBlock(i);
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
    bias: run.positionBias(),
    slopes: run.slopes,
  });
  const out = run.linear(at('attention.wo'), heads, at('attention.bo'));
  return run.pass(at('attention'), toStream(run, at, 1, out), ROWS);
}

/**
 * Computes attention to the encoder's output.
 * @param x (B,T,C)
 */
function attendToEncoder(run: Run, i: number, x: Tensor) {
  const at = inBlock(i);
  const query = run.linear(at('cross.wq'), x, at('cross.bq'));
  const heads = attendAcross(run, at('cross.'), i, query, run.crossKeysValues(i, at('cross')));
  const out = run.linear(at('cross.wo'), heads, at('cross.bo'));
  return run.pass(at('cross.attention'), run.graph.scale(out, run.options.residualScale), ROWS);
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
    bias: undefined,
    slopes: undefined,
  });
}

/**
 * query (B,T,H·D), key and value (B,G,S,D). keys: the number S of keys; keyType: number type of key and value, one of
 * KEYS.
 */
export type AttentionInput = {
  query: Tensor;
  key: Strided;
  value: Strided;
  keyType?: number;
  keys: number;
  causal: boolean;
  window: readonly [number, number];
  offset: number;
  padding: Uint8Array | undefined;
  bias: { tensor: Tensor; stride: readonly number[] } | undefined;
  slopes: Float32Array | undefined;
};

/**
 * Computes softmax(q·kᵀ)·v of all heads and returns (B,T,H·D).
 * @param at prefix of the names of values
 */
function attendHeads(run: Run, at: string, i: number, given: AttentionInput) {
  const { options, graph, values } = run;
  const { numHeads: heads, kvHeads, headDim: width } = options;
  const { keys } = given;
  const cross = at !== inBlock(i)('');
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
  const scale = scaleOf(options, i);
  const relative =
    !cross &&
    run.relative &&
    rarePart('disentangled', run.caller).relativeScores(run, `${at}attention`, run.relative, {
      ...{ query, key: key.tensor, sizes, scale },
    });
  const call = {
    query,
    key: key.tensor,
    value: value.tensor,
    sizes,
    keyStride: key.stride,
    keyType: given.keyType,
    scale,
    softcap: options.softcap,
    causal: given.causal,
    window: given.window,
    offset: given.offset,
    padding: given.padding,
    bias: relative || given.bias,
    slopes: given.slopes,
    sinks: cross ? undefined : run.weight(inBlock(i)('attention.sinks')),
    dropout: run.dropout(i, cross),
    weights: false,
    scores: false,
  };
  if (values.idle) return graph.attention(call).output;
  return run.passHeads(`${at}heads`, attendWithEdits(run, at, call), heads, run.past);
}
