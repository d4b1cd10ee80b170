// Builds the input of the first block from samples of sound: convolutions, a projection, and a convolution that encodes
// positions.

import type { Sound } from '../models/sound/options.ts';
import type { OnnxGraph } from './graph.ts';
import { activate, type Value } from './operators.ts';
import type { Inputs, Stack } from './stack.ts';

/** Epsilon of the norms after convolutions. */
const EPS = 1e-5;

/** Computes the number of frames from a number of samples. Both are vectors of int64. */
function countFrames(graph: OnnxGraph, { kernels, strides }: Sound, samples: Value) {
  return kernels.reduce((n, kernel, i) => {
    const room = graph.op('Max', [graph.op('Add', [n, graph.ints(strides[i] - kernel)]), graph.ints(0)]);
    return graph.op('Div', [room, graph.ints(strides[i])]);
  }, samples);
}

/**
 * Returns the inputs of a stack: samples (B,N), the number of their frames, and the mask of real frames (B,T).
 * @param samples (B,N)
 * @param keep (B,N)
 */
export function soundInputs(graph: OnnxGraph, sound: Sound, samples: Value, keep?: Value): Inputs {
  const frames = countFrames(graph, sound, graph.size(samples, 1));
  if (!keep) return { samples, frames };
  const real = countFrames(graph, sound, graph.reduce('ReduceSum', graph.cast(keep, 'int64'), [1])); // (B,1)
  return { samples, frames, keep: graph.op('Less', [graph.range(frames), real]) };
}

/** @returns (B,T,C) */
export function embedSound(stack: Stack): Value {
  const { graph, options, inputs } = stack;
  const { kernels, projectNorm, positions, activation } = options.sound as Sound;
  const byRows = (x: Value) => graph.op('Transpose', [x], { perm: [0, 2, 1] });
  let y = graph.op('Unsqueeze', [inputs.samples as Value, graph.ints(1)]);
  for (let i = 0; i < kernels.length; i++) y = layer(stack, i, y);
  let x = byRows(y);
  if (projectNorm) x = stack.norm('embedding.project.norm', x);
  x = stack.linear('embedding.project', x);
  if (inputs.keep) x = graph.op('Mul', [x, graph.op('Unsqueeze', [graph.cast(inputs.keep, 'float'), graph.ints(2)])]);
  const { kernel, groups } = positions;
  const pad = Math.floor(kernel / 2);
  // If the kernel is even, the padding at the end is one frame shorter, so that the number of frames stays the same.
  const how = { kernel_shape: [kernel], pads: [pad, kernel - 1 - pad], strides: [1], group: groups };
  const moved = graph.op('Conv', [byRows(x), kernelOf(stack), stack.needed('embedding.position.bias')], how);
  return graph.op('Add', [x, byRows(activate(graph, moved, activation))]);
}

/** Computes the kernel gain · direction / |direction|, where the norm is computed for each tap. */
function kernelOf(stack: Stack) {
  const { graph } = stack;
  const direction = stack.needed('embedding.position.direction');
  const squares = graph.op('Mul', [direction, direction]);
  const length = graph.op('Sqrt', [graph.reduce('ReduceSum', squares, [0, 1])]);
  return graph.op('Mul', [direction, graph.op('Div', [stack.needed('embedding.position.gain'), length])]);
}

/**
 * Builds a convolution with its norm and activation.
 * @param x (B,in,N)
 */
function layer(stack: Stack, i: number, x: Value) {
  const { graph, options } = stack;
  const { kernels, strides, norm, activation } = options.sound as Sound;
  const at = `embedding.layers.${i}`;
  const bias = stack.weight(`${at}.conv.bias`);
  const given = [x, stack.needed(`${at}.conv.weight`), ...(bias ? [bias] : [])];
  let y = graph.op('Conv', given, { kernel_shape: [kernels[i]], strides: [strides[i]] });
  const [weight, shift] = ['weight', 'bias'].map((part) => stack.weight(`${at}.norm.${part}`));
  if (weight && shift)
    y =
      norm === 'all'
        ? normalizeChannels(graph, y, weight, shift)
        : graph.op('InstanceNormalization', [y, weight, shift], { epsilon: EPS });
  return activate(graph, y, activation);
}

/** @param x (B,C,N) */
function normalizeChannels(graph: OnnxGraph, x: Value, weight: Value, bias: Value) {
  const rows = graph.op('Transpose', [x], { perm: [0, 2, 1] });
  const y = graph.op('LayerNormalization', [rows, weight, bias], { axis: -1, epsilon: EPS });
  return graph.op('Transpose', [y], { perm: [0, 2, 1] });
}
