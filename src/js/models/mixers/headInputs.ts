// Computes queries, keys or values with a separate input for each head. Each input is a copy of the residual stream;
// edits may change the input of one head.

import { HeadlightError } from '../../check/errors.ts';
import { loadRows, PACKED, roundsInputs } from '../../memory/packed.ts';
import { partOf, type Staged, type Tensor, viewOf } from '../../memory/tensor.ts';
import { joinHeads } from '../axes.ts';
import { HEADS } from '../edits.ts';

import type { Graph } from '../gradients/graph.ts';
import type { Run } from '../run.ts';
import type { Weight } from '../weights.ts';

/**
 * Returns the queries, keys or values before their norm and rotation.
 * @param at returns the full name for a name within the block
 * @param stream (B,T,C)
 * @returns (B,T,heads·D)
 */
export function projectInputs(
  run: Run,
  at: (name: string) => string,
  name: 'query' | 'key' | 'value',
  stream: Tensor,
  heads: number,
): Tensor {
  const own = run.pass(at(`${name}.in`), repeat(run.graph, stream, heads), HEADS, run.past, true);
  const x = run.options.normPlace === 'after' ? own : run.norm(at('norm1'), own);
  const letter = name[0];
  return linearByHead(
    run.graph,
    x,
    run.requiredWeight(at(`attention.w${letter}`)),
    run.weight(at(`attention.b${letter}`)),
  );
}

/** Repeats (B,T,C) for each head: (B,heads,T,C). */
function repeat(graph: Graph, x: Tensor, heads: number) {
  const [batch, rows, width] = x.shape;
  const size = rows * width;
  const y = graph.make([batch, heads, rows, width]);
  for (let i = 0; i < batch * heads; i++) {
    const start = Math.floor(i / heads) * size;
    viewOf(y).set(viewOf(x).subarray(start, start + size), i * size);
  }
  return graph.record(y, (dy) => {
    const dx = graph.make(x.shape);
    const [to, from] = [viewOf(dx).fill(0), viewOf(dy)];
    for (let i = 0; i < from.length; i++) to[Math.floor(i / (size * heads)) * size + (i % size)] += from[i];
    graph.accumulate(x, dx);
  });
}

/**
 * Computes a linear layer in which each head has an input of its own.
 * @param x (B,heads,T,C)
 * @param weight (heads·D,C)
 * @param bias (heads·D)
 * @returns (B,T,heads·D)
 */
function linearByHead(graph: Graph, x: Tensor, weight: Weight, bias?: Weight): Tensor {
  const [batch, heads, rows, inside] = x.shape;
  if (weight.packed && roundsInputs(weight)) {
    const { storage } = PACKED[weight.packed.kind];
    throw new HeadlightError(
      'STATE',
      `${graph.caller}: separate inputs of heads are not supported with ${storage} weights`,
    );
  }
  const width = weight.shape[0] / heads;
  const split = graph.make([batch, heads, rows, width]);
  const sizes = [rows, width, inside] as const;
  forEachHead(graph, x.shape, weight, (head, i, rowsOfHead) => {
    const b = bias?.tensor && partOf(bias.tensor, head * width);
    const [to, from] = [partOf(split, i * rows * width), partOf(x, i * rows * inside)];
    graph.call('hl_linear_forward', to, from, rowsOfHead, b, ...sizes);
  });
  graph.record(split, (dy) => {
    const dx = graph.make(x.shape);
    forEachHead(graph, x.shape, weight, (_, i, rowsOfHead) => {
      const [to, from] = [partOf(dx, i * rows * inside), partOf(dy, i * rows * width)];
      graph.call('hl_linear_backward', to, undefined, undefined, from, undefined, rowsOfHead, ...sizes);
    });
    graph.accumulate(x, dx);
  });
  return joinHeads(graph, split);
}

/**
 * Calls a function for each head of each sequence, with the index of the head in the sequence and in the batch, and the
 * head's rows (D,C) of the weight.
 * @param shape (B,heads,T,C)
 * @param weight (heads·D,C)
 */
function forEachHead(
  { memory, caller }: Graph,
  [batch, heads]: readonly number[],
  { shape, tensor, packed }: Weight,
  each: (head: number, index: number, rows: Staged) => void,
) {
  const size = (shape[0] / heads) * shape[1];
  memory.scope(() => {
    const converted = packed && memory.temporary([size], caller);
    for (let head = 0; head < heads; head++) {
      if (converted && packed) loadRows(memory, caller, converted, packed, [head], [heads, size]);
      const rows = converted ? partOf(converted, 0) : partOf(tensor as Tensor, head * size);
      for (let b = 0; b < batch; b++) each(head, b * heads + head, rows);
    }
  });
}
