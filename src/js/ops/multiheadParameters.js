// The parameters of the multi-head layer: their shapes, their initial values, and their indices in the arguments.

import { MULTIHEAD, MULTIHEAD_BACKWARD } from '../../../dist/abi/abi.js';
import { viewOf } from '../memory/tensor.js';
import { fillUniform, uniformSource } from './random.js';

/** @import { Frame } from '../memory/frame.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { resolveOptions } from './multiheadOptions.js' */

/** @typedef {'wq' | 'wk' | 'wv' | 'wo' | 'bq' | 'bk' | 'bv' | 'bo' | 'biasK' | 'biasV'} ParameterName */
/**
 * The parameters. Weights are (out, in).
 * @typedef {{ wq: Tensor, wk: Tensor, wv: Tensor, wo?: Tensor, bq?: Tensor, bk?: Tensor, bv?: Tensor, bo?: Tensor,
 *   biasK?: Tensor, biasV?: Tensor }} Parameters
 */
/** @typedef {Partial<Record<ParameterName, Tensor>>} Gradients of the parameters, by their names */

/** The weights, each with the index of the argument for its packed form. */
export const PACKED_ARGUMENTS = /** @type {const} */ ([
  ['wq', MULTIHEAD.packedWq],
  ['wk', MULTIHEAD.packedWk],
  ['wv', MULTIHEAD.packedWv],
  ['wo', MULTIHEAD.packedWo],
]);
/** The vectors, each with the index of its argument. */
export const VECTOR_ARGUMENTS = /** @type {const} */ ([
  ['bq', MULTIHEAD.bq],
  ['bk', MULTIHEAD.bk],
  ['bv', MULTIHEAD.bv],
  ['bo', MULTIHEAD.bo],
  ['biasK', MULTIHEAD.biasKey],
  ['biasV', MULTIHEAD.biasValue],
]);
/** Indices of the arguments of backward for the gradients. */
export const GRADIENT_ARGUMENTS = /** @type {Record<ParameterName, number>} */ ({
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
});
/** Indices of the arguments of backward for the weights in row-major order. */
export const WEIGHT_ARGUMENTS = /** @type {Partial<Record<ParameterName, number>>} */ ({
  wq: MULTIHEAD_BACKWARD.wq,
  wk: MULTIHEAD_BACKWARD.wk,
  wv: MULTIHEAD_BACKWARD.wv,
  wo: MULTIHEAD_BACKWARD.wo,
});

/**
 * Makes the initial parameters. Weights, biasK and biasV are Xavier uniform from the seed, biases are zeros.
 * @param {Frame} frame
 * @param {ReturnType<typeof resolveOptions>} options
 * @returns {Parameters}
 */
export function makeParameters(frame, options) {
  const next = uniformSource(options.seed);
  /** @param {number[]} shape @param {number} out @param {number} inside */
  const xavier = (shape, out, inside) => {
    const tensor = frame.make(shape);
    const limit = Math.sqrt(6 / (out + inside));
    fillUniform(viewOf(tensor), next, -limit, limit);
    return tensor;
  };
  const weight = (/** @type {number} */ out, /** @type {number} */ inside) => xavier([out, inside], out, inside);
  const learned = (/** @type {number} */ size) => xavier([size], 1, size);
  const zeros = (/** @type {number} */ size) => frame.zeros([size]);
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
