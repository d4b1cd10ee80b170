// The parameters of the multi-head layer: shapes, initial values, and indices in the arguments.

import { MULTIHEAD, MULTIHEAD_BACKWARD } from '../../../dist/abi/abi.js';
import type { Frame } from '../memory/frame.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import type { resolveOptions } from './multiheadOptions.ts';
import { fillUniform, uniformSource } from './random.ts';

export type ParameterName = 'wq' | 'wk' | 'wv' | 'wo' | 'bq' | 'bk' | 'bv' | 'bo' | 'biasK' | 'biasV';
/** The parameters. Weights are (out, in). */
export type Parameters = {
  wq: Tensor;
  wk: Tensor;
  wv: Tensor;
  wo?: Tensor;
  bq?: Tensor;
  bk?: Tensor;
  bv?: Tensor;
  bo?: Tensor;
  biasK?: Tensor;
  biasV?: Tensor;
};
/** of the parameters, by their names */
export type Gradients = Partial<Record<ParameterName, Tensor>>;

/** The weights, each with the index of the argument for its packed form. */
export const PACKED_ARGUMENTS = [
  ['wq', MULTIHEAD.packedWq],
  ['wk', MULTIHEAD.packedWk],
  ['wv', MULTIHEAD.packedWv],
  ['wo', MULTIHEAD.packedWo],
] as const;
export const VECTOR_ARGUMENTS = [
  ['bq', MULTIHEAD.bq],
  ['bk', MULTIHEAD.bk],
  ['bv', MULTIHEAD.bv],
  ['bo', MULTIHEAD.bo],
  ['biasK', MULTIHEAD.biasKey],
  ['biasV', MULTIHEAD.biasValue],
] as const;
/** Indices of the arguments of backward for the gradients. */
export const GRADIENT_ARGUMENTS = {
  wq: MULTIHEAD_BACKWARD.dWq,
  wk: MULTIHEAD_BACKWARD.dWk,
  wv: MULTIHEAD_BACKWARD.dWv,
  wo: MULTIHEAD_BACKWARD.dWo,
  bq: MULTIHEAD_BACKWARD.dBq,
  bk: MULTIHEAD_BACKWARD.dBk,
  bv: MULTIHEAD_BACKWARD.dBv,
  bo: MULTIHEAD_BACKWARD.dBo,
  biasK: MULTIHEAD_BACKWARD.dBiasKey,
  biasV: MULTIHEAD_BACKWARD.dBiasValue,
} as Record<ParameterName, number>;
/** Indices of the arguments of backward for the weights in row-major order. */
export const WEIGHT_ARGUMENTS = {
  wq: MULTIHEAD_BACKWARD.wq,
  wk: MULTIHEAD_BACKWARD.wk,
  wv: MULTIHEAD_BACKWARD.wv,
  wo: MULTIHEAD_BACKWARD.wo,
} as Partial<Record<ParameterName, number>>;

/** Makes the initial parameters. Weights, biasK and biasV are Xavier uniform from the seed, biases are zeros. */
export function makeParameters(frame: Frame, options: ReturnType<typeof resolveOptions>): Parameters {
  const next = uniformSource(options.seed);
  const xavier = (shape: number[], out: number, inside: number) => {
    const tensor = frame.make(shape);
    const limit = Math.sqrt(6 / (out + inside));
    fillUniform(viewOf(tensor), next, -limit, limit);
    return tensor;
  };
  const weight = (out: number, inside: number) => xavier([out, inside], out, inside);
  const learned = (size: number) => xavier([size], 1, size);
  const zeros = (size: number) => frame.zeros([size]);
  const { embedDim, numHeads, kvHeads, headDim, bias, outBias, outProjection, biasKV } = options;
  const [queryWidth, kvWidth] = [numHeads * headDim, kvHeads * headDim]; // H·D, G·D
  // The order must not change, because it determines the random numbers of each parameter.
  return {
    wq: weight(queryWidth, options.queryDim), // (H·D,queryDim)
    wk: weight(kvWidth, options.keyDim), // (G·D,keyDim)
    wv: weight(kvWidth, options.valueDim), // (G·D,valueDim)
    ...(outProjection && { wo: weight(embedDim, queryWidth) }), // (C,H·D)
    ...(bias && { bq: zeros(queryWidth), bk: zeros(kvWidth), bv: zeros(kvWidth) }), // (H·D), (G·D), (G·D)
    ...(outProjection && outBias && { bo: zeros(embedDim) }), // (C)
    ...(biasKV && { biasK: learned(kvWidth), biasV: learned(kvWidth) }), // (G·D), (G·D)
  };
}
