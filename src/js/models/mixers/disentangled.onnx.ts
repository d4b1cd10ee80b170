// The ONNX form of disentangled attention.

import type { ComponentForm } from '../../onnx/components.ts';
import { activate, splitHeads, times, type Value } from '../../onnx/operators.ts';
import type { Stack } from '../../onnx/stack.ts';
import { type Resolved, scaleOf } from '../options.ts';
import { attendSelf } from './attention.onnx.ts';
import { relativeRow } from './disentangled.ts';

type Options = NonNullable<Resolved['disentangled']>;

/** Returns the index of the table's row for each query and key, (T,S). */
function rowOfCells({ graph, rows, keys }: Stack, options: Options) {
  // The row is constant beyond this distance in both directions.
  const reach = options.distance + (options.buckets ?? 0);
  const known = Array.from({ length: 2 * reach + 1 }, (_, i) => relativeRow(reach - i, options));
  const distance = graph.op('Sub', [graph.range(keys), graph.op('Unsqueeze', [graph.range(rows), graph.ints(1)])]);
  const near = graph.op('Clip', [distance, graph.int(-reach), graph.int(reach)]);
  return graph.op('Gather', [graph.ints(...known), graph.op('Add', [near, graph.int(reach)])]);
}

/**
 * Adds the convolution over the input of the first block to its output, if the model has one.
 * @param input (B,T,C)
 * @param output (B,T,C)
 */
function withConvolution(stack: Stack, input: Value, output: Value) {
  const { kernel, activation } = stack.options.disentangled?.convolution ?? {};
  if (!kernel || !activation) return output;
  const { graph } = stack;
  const { keep } = stack.inputs;
  const byRows = (x: Value) => graph.op('Transpose', [x], { perm: [0, 2, 1] });
  const real = keep && graph.op('Unsqueeze', [graph.cast(keep, 'float'), graph.ints(2)]);
  const x = byRows(real ? graph.op('Mul', [input, real]) : input);
  const pad = (kernel - 1) / 2;
  const moved = graph.op('Conv', [x, stack.needed('convolution.weight'), stack.needed('convolution.bias')], {
    ...{ kernel_shape: [kernel], pads: [pad, pad], strides: [1], group: 1 },
  });
  return stack.norm('convolution.norm', graph.op('Add', [output, byRows(activate(graph, moved, activation))]));
}

/**
 * Returns the terms of relative positions that are added to the scores.
 * @param i block
 * @param given (B,H,T,D), (B,H,S,D)
 * @returns (B,H,T,S)
 */
function relativeScores(stack: Stack, i: number, given: { query: Value; key: Value }): Value {
  const { numHeads, headDim } = stack.options;
  const disentangled = stack.options.disentangled as Options;
  const { graph } = stack;
  const at = `blocks.${i}.attention`;
  const { table, cells } = (stack.relative ??= {
    table: stack.norm('relative.norm', graph.op('Unsqueeze', [stack.needed('relative.table'), graph.ints(0)])),
    cells: rowOfCells(stack, disentangled),
  });
  const swap = (x: Value, perm: number[]) => graph.op('Transpose', [x], { perm });
  const terms = disentangled.terms.map((axis) => {
    const letter = axis === 'query' ? 'k' : 'q';
    const positions = splitHeads(graph, stack.linear(`${at}.w${letter}`, table, `${at}.b${letter}`), numHeads, headDim);
    const products = graph.op('MatMul', [given[axis], swap(positions, [0, 1, 3, 2])]);
    const index = axis === 'query' ? cells : swap(cells, [1, 0]);
    const heads = graph.op('Concat', [stack.batch, graph.ints(numHeads, 1, 1)], { axis: 0 });
    const picked = graph.op('GatherElements', [products, graph.op('Expand', [index, heads])], { axis: 3 });
    return axis === 'query' ? picked : swap(picked, [0, 1, 3, 2]);
  });
  const sum = terms.reduce((a, b) => graph.op('Add', [a, b]));
  return times(graph, sum, scaleOf(stack.options, i));
}

export const disentangledAttentionForm: ComponentForm = {
  build: (stack, at, i, x) => attendSelf(stack, at, i, x, (given) => relativeScores(stack, i, given)),
  around: (stack, i, input, output) => (i === 0 ? withConvolution(stack, input, output) : output),
};
