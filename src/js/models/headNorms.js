// Layer norms of the queries or keys of each head.

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Run } from './run.js' */
/** @import { Weight } from './weights.js' */

/**
 * @param {Run} run
 * @param {string} name of the weight
 * @param {Weight} weight (D), or for queryKeyNorm 'each' (heads·D)
 * @param {Tensor} x (B,T,heads·D)
 */
export function centredHeadNorm(run, name, weight, x) {
  const { graph, options } = run;
  const { queryKeyNorm: kind, normEps, headDim: width } = options;
  if (kind === 'layer') return graph.norm(x, weight, run.weight(`${name}Bias`), true, normEps);
  const ones = { shape: [width], tensor: graph.from([width], new Float32Array(width).fill(1)) };
  return graph.scaleChannels(graph.norm(x, ones, undefined, true, normEps), weight);
}
