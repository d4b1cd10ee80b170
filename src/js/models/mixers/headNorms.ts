// Layer norms of the queries or keys of each head.

import type { Tensor } from '../../memory/tensor.ts';
import type { Run } from '../run.ts';
import type { Weight } from '../weights.ts';

/**
 * @param name of the weight
 * @param weight (D), or for queryKeyNorm 'each' (heads·D)
 * @param x (B,T,heads·D)
 */
export function centredHeadNorm(run: Run, name: string, weight: Weight, x: Tensor) {
  const { graph, options } = run;
  const { queryKeyNorm: kind, normEps, headDim: width } = options;
  if (kind === 'layer') return graph.norm(x, weight, run.weight(`${name}Bias`), true, normEps);
  const ones = { shape: [width], tensor: graph.from([width], new Float32Array(width).fill(1)) };
  return graph.scaleChannels(graph.norm(x, ones, undefined, true, normEps), weight);
}
