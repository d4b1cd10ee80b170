// Disentangled attention (He et al. 2021): besides q·k, the score of query t and key s has products of the query and of
// the key with R(t − s), the row of a table for their relative position, projected by the weights of the block:
//
//   score(t,s) = scale · (q(t)·k(s) + q(t)·Wk·R(t − s) + k(s)·Wq·R(t − s))

import { shapeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import type { Component } from '../component.ts';
import type { Graph } from '../gradients/graph.ts';
import type { Resolved } from '../options.ts';
import { logBucketOf } from '../positions/positions.ts';
import { scaleRows } from '../rowOperations.ts';
import type { Run } from '../run.ts';
import { convolve, kernelOf } from '../sound/convolve.ts';

import { attendSelf, attention } from './attention.ts';
import { relativeLayers } from './disentangledOptions.ts';

export { readDisentangled } from './disentangledOptions.ts';

/**
 * rows (U,C): the rows of the table that a run needs. index (T+S−1): for each relative position s − t, the index of its
 * row in rows. The relative position s − t has the index s − t + T − 1.
 */
export type RelativeRows = { rows: Tensor; index: Int32Array };
/**
 * A product of the rows of x with the rows of a table, which is added to the scores. axis: 'query' if the rows of x are
 * queries, 'key' if they are keys.
 * x (B,N,H·D), table (U,H·D)
 */
export type Term = { x: Tensor; table: Tensor; axis: 'query' | 'key' };
export type Sizes = { batch: number; heads: number; queries: number; keys: number; width: number };

/**
 * Returns the index of the table's row for a relative position.
 * @param distance position of the query minus position of the key
 */
export function relativeRow(distance: number, { buckets, distance: most }: NonNullable<Resolved['disentangled']>) {
  const span = buckets ?? most;
  const bucket = buckets === undefined ? distance : logBucketOf(distance, buckets, most);
  return Math.min(Math.max(bucket + span, 0), 2 * span - 1);
}

/**
 * Adds a convolution over the input of the first block to its output, as DeBERTa of version 2 does.
 * @param input (B,T,C)
 * @param output (B,T,C)
 */
function addConvolution(
  run: Run,
  input: Tensor,
  output: Tensor,
  { kernel, activation }: NonNullable<NonNullable<Resolved['disentangled']>['convolution']>,
) {
  const { graph, padding } = run;
  // The tokens next to padding see rows of zeros, as at the ends of the sequence.
  const x = padding ? scaleRows(graph, input, Float32Array.from(padding)) : input;
  const moved = convolve(
    graph,
    x,
    kernelOf(graph, run.requiredWeight('convolution.weight')),
    run.weight('convolution.bias'),
    { stride: 1, pad: (kernel - 1) / 2, groups: 1, count: shapeOf(x)[1] },
  );
  return run.norm('convolution.norm', graph.add(output, graph.activation(moved, activation)));
}

function relativeRows(run: Run): RelativeRows {
  const { rows: queries } = run;
  const disentangled = optionsOf(run);
  const all = Array.from({ length: 2 * queries - 1 }, (_, i) => relativeRow(queries - 1 - i, disentangled));
  const used = Int32Array.from(new Set(all));
  const places = new Map([...used].map((row, i) => [row, i]));
  const rows = run.graph.rows(run.requiredWeight('relative.table'), used, [used.length]);
  return {
    rows: disentangled.norm ? run.norm('relative.norm', rows) : rows,
    index: Int32Array.from(all, (row) => places.get(row) as number),
  };
}

/**
 * Computes the part of a block's scores that depends on relative positions, as a bias (B,H,T,S) for attention.
 * @param at prefix of the names of the attention's weights
 */
function relativeScores(
  run: Run,
  at: string,
  { rows, index }: RelativeRows,
  { query, key, sizes, scale }: { query: Tensor; key: Tensor; sizes: Sizes; scale: number },
) {
  const terms = optionsOf(run).terms.map(
    (axis) =>
      ({
        axis,
        x: axis === 'query' ? query : key,
        table: axis === 'query' ? run.linear(`${at}.wk`, rows, `${at}.bk`) : run.linear(`${at}.wq`, rows, `${at}.bq`),
      }) as Term,
  );
  const tensor = addTerms(run.graph, terms, index, sizes, scale);
  return { tensor, stride: stridesOf(sizes), hasGradient: true };
}

const stridesOf = ({ heads, queries, keys }: Sizes) => [heads * queries * keys, queries * keys, keys, 1];

/** Returns scale · the sum of all terms, (B,H,T,S). */
function addTerms(graph: Graph, terms: Term[], index: Int32Array, sizes: Sizes, scale: number) {
  const { batch, heads, queries, keys, width } = sizes;
  const scores = graph.make([batch, heads, queries, keys]);
  viewOf(scores).fill(0);
  for (const term of terms)
    forEachHead(graph, term, sizes, ({ x, table, products, square }) => {
      graph.call('hl_linear_forward', products, x, table, undefined, x.shape[0], table.shape[0], width);
      const [to, from] = [viewOf(scores), viewOf(products)];
      forEachCell(term, index, sizes, table.shape[0], (cell, at) => void (to[square + cell] += scale * from[at]));
    });
  return graph.record(scores, (d) => {
    for (const term of terms) {
      const [dx, dTable] = [zeros(graph, term.x), zeros(graph, term.table)];
      forEachHead(graph, term, sizes, ({ x, table, products, square, make, add }) => {
        const [to, from] = [viewOf(products).fill(0), viewOf(d)];
        forEachCell(term, index, sizes, table.shape[0], (cell, at) => void (to[at] += scale * from[square + cell]));
        const [dRows, dPart] = [make(x.shape[0]), make(table.shape[0])];
        viewOf(dPart).fill(0);
        const counts = [x.shape[0], table.shape[0], width] as const;
        graph.call('hl_linear_backward', dRows, dPart, undefined, products, x, table, ...counts);
        add(dx, dRows, 'x');
        add(dTable, dPart, 'table');
        for (const tensor of [dRows, dPart]) tensor.dispose();
      });
      graph.accumulate(term.x, dx);
      graph.accumulate(term.table, dTable);
    }
  });
}

function zeros(graph: Graph, like: Tensor) {
  const x = graph.make(like.shape);
  viewOf(x).fill(0);
  return x;
}

/**
 * Calls a function for each query t and key s of a head, with the index of their score and the index of the product
 * that is added to this score.
 * @param columns U, the rows of the table
 */
function forEachCell(
  { axis }: Term,
  index: Int32Array,
  { queries, keys }: Sizes,
  columns: number,
  each: (cell: number, at: number) => void,
) {
  for (let t = 0; t < queries; t++)
    for (let s = 0; s < keys; s++)
      each(t * keys + s, (axis === 'query' ? t : s) * columns + index[s - t + queries - 1]);
}

/**
 * Temporary tensors of one head: copies of x (N,D) and table (U,D), and their products (N,U). square: index of the
 * head's first score; make: returns a temporary tensor; add: adds a tensor of this head to the tensor of all heads.
 */
export type HeadTerm = {
  x: Tensor;
  table: Tensor;
  products: Tensor;
  square: number;
  make: (rows: number) => Tensor;
  add: (whole: Tensor, part: Tensor, of: 'x' | 'table') => void;
};

function forEachHead(
  graph: Graph,
  { x, table }: Term,
  { batch, heads, queries, keys, width }: Sizes,
  each: (head: HeadTerm) => void,
) {
  const [rows, columns] = [x.shape[1], table.shape[0]];
  graph.memory.scope(() => {
    const make = (count: number, size = width) => graph.memory.temporary([count, size], graph.caller);
    for (let b = 0; b < batch; b++)
      for (let h = 0; h < heads; h++) {
        const starts = { x: (b * rows * heads + h) * width, table: h * width };
        const copy = (whole: Tensor, count: number, start: number) => {
          const part = make(count);
          const [to, from] = [viewOf(part), viewOf(whole)];
          for (let r = 0; r < count; r++) {
            const at = start + r * heads * width;
            to.set(from.subarray(at, at + width), r * width);
          }
          return part;
        };
        const add: HeadTerm['add'] = (whole, part, of) => {
          const [to, from] = [viewOf(whole), viewOf(part)];
          for (let i = 0; i < from.length; i++)
            to[starts[of] + Math.floor(i / width) * heads * width + (i % width)] += from[i];
        };
        const parts = { x: copy(x, rows, starts.x), table: copy(table, columns, starts.table) };
        const products = make(rows, columns);
        each({ ...parts, products, square: (b * heads + h) * queries * keys, make, add });
        for (const tensor of [parts.x, parts.table, products]) tensor.dispose();
      }
  });
}

const optionsOf = ({ options }: Run) => options.disentangled as NonNullable<Resolved['disentangled']>;

/** Self-attention whose scores also depend on relative positions. */
export const disentangledAttention: Component = {
  ...attention,
  name: 'disentangledAttention',
  shared: relativeLayers,
  prepare(run) {
    run.relative = relativeRows(run);
  },
  forward: (run, at, i, x, stream) =>
    attendSelf(run, at, i, x, stream, (given) =>
      relativeScores(run, at('attention'), run.relative as RelativeRows, given),
    ),
  around(run, i, input, output) {
    const { convolution } = optionsOf(run);
    return convolution && i === 0 ? addConvolution(run, input, output, convolution) : output;
  },
};
