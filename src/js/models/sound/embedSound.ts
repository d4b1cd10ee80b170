// Input of the first block from samples: convolutions that reduce many samples to a frame, a projection, and a
// convolution over frames that encodes positions.

import { shapeOf, type Tensor } from '../../memory/tensor.ts';
import type { ReadInput } from '../input.ts';
import { scaleRows } from '../rowOperations.ts';
import type { Run } from '../run.ts';
import { convolve, kernelOf, normalizedKernel, normalizeTime } from './convolve.ts';
import type { Sound } from './options.ts';

/** The ε of the norms after convolutions. */
const EPS = 1e-5;

/** returns (B,T,C) */
export function embedSound(run: Run): Tensor {
  const { graph, input, options } = run;
  const { kernels, projectNorm, positions, activation } = options.sound as Sound;
  const { data, shape } = input.numbers as NonNullable<ReadInput['numbers']>;
  let x = graph.from([...shape, 1], data);
  for (let i = 0; i < kernels.length; i++) x = layer(run, i, x);
  if (projectNorm) x = replaced(run, x, run.norm('embedding.project.norm', x));
  x = replaced(run, x, run.linear('embedding.project', x));
  // Padding frames become 0, like the rows that the convolution adds before and after the sequence.
  if (input.keep) x = replaced(run, x, scaleRows(graph, x, Float32Array.from(input.keep)));
  const { kernel, groups } = positions;
  const [gain, direction] = ['gain', 'direction'].map((part) => run.requiredWeight(`embedding.position.${part}`));
  const moved = convolve(graph, x, normalizedKernel(graph, gain, direction), run.weight('embedding.position.bias'), {
    ...{ stride: 1, pad: Math.floor(kernel / 2), groups },
    count: shapeOf(x)[1],
  });
  return graph.add(x, graph.activation(moved, activation));
}

/** Computes a convolution with its norm and activation. x: (B,N,in). */
function layer(run: Run, i: number, x: Tensor) {
  const { graph, options } = run;
  const { kernels, strides, norm, activation } = options.sound as Sound;
  const at = `embedding.layers.${i}`;
  const count = Math.floor((shapeOf(x)[1] - kernels[i]) / strides[i]) + 1;
  const kernel = kernelOf(graph, run.requiredWeight(`${at}.conv.weight`));
  const how = { stride: strides[i], pad: 0, groups: 1, count };
  let y = replaced(run, x, convolve(graph, x, kernel, run.weight(`${at}.conv.bias`), how));
  const [weight, bias] = ['weight', 'bias'].map((part) => run.weight(`${at}.norm.${part}`));
  if (weight && bias) {
    const normed = norm === 'all' ? graph.norm(y, weight, bias, true, EPS) : normalizeTime(graph, y, weight, bias, EPS);
    y = replaced(run, y, normed);
  }
  return replaced(run, y, graph.activation(y, activation));
}

/** Frees a value that is not read again, because the first convolutions have large results. Returns the next value. */
function replaced({ graph }: Run, before: Tensor, next: Tensor) {
  if (!graph.records) before.dispose();
  return next;
}
