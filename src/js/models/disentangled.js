// Disentangled attention (He et al. 2021): besides q·k, the score of query t and key s has products of the query and of
// the key with R(t − s), the row of a table for their relative position, projected by the weights of the block:
//
//   score(t,s) = scale · (q(t)·k(s) + q(t)·Wk·R(t − s) + k(s)·Wq·R(t − s))

import { shapeOf, viewOf } from '../memory/tensor.js';
import { logBucketOf } from './positions.js';
import { scaleRows } from './rowOperations.js';
import { convolve, kernelOf } from './sound/convolve.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Graph } from './graph.js' */
/** @import { Resolved } from './options.js' */
/** @import { Run } from './run.js' */

export { readDisentangled, relativeLayers } from './disentangledOptions.js';

/**
 * rows (U,C): the rows of the table that a run needs. index (T+S−1): for each relative position s − t, the index of its
 * row in rows. The relative position s − t has the index s − t + T − 1.
 * @typedef {{ rows: Tensor, index: Int32Array }} RelativeRows
 */
/**
 * A product of the rows of x with the rows of a table, which is added to the scores. axis: 'query' if the rows of x are
 * queries, 'key' if they are keys.
 * @typedef {{ x: Tensor, table: Tensor, axis: 'query' | 'key' }} Term x (B,N,H·D), table (U,H·D)
 */
/** @typedef {{ batch: number, heads: number, queries: number, keys: number, width: number }} Sizes */

/**
 * Returns the index of the table's row for a relative position.
 * @param {number} distance position of the query minus position of the key
 * @param {NonNullable<Resolved['disentangled']>} options
 */
export function relativeRow(distance, { buckets, distance: most }) {
  const span = buckets ?? most;
  const bucket = buckets === undefined ? distance : logBucketOf(distance, buckets, most);
  return Math.min(Math.max(bucket + span, 0), 2 * span - 1);
}

/**
 * Adds a convolution over the input of the first block to its output, as DeBERTa of version 2 does.
 * @param {Run} run
 * @param {Tensor} input (B,T,C)
 * @param {Tensor} output (B,T,C)
 * @param {NonNullable<NonNullable<Resolved['disentangled']>['convolution']>} convolution
 */
export function addConvolution(run, input, output, { kernel, activation }) {
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

/** @param {Run} run @param {NonNullable<Resolved['disentangled']>} disentangled @returns {RelativeRows} */
export function relativeRows(run, disentangled) {
  const { rows: queries } = run;
  const all = Array.from({ length: 2 * queries - 1 }, (_, i) => relativeRow(queries - 1 - i, disentangled));
  const used = Int32Array.from(new Set(all));
  const places = new Map([...used].map((row, i) => [row, i]));
  const rows = run.graph.rows(run.requiredWeight('relative.table'), used, [used.length]);
  return {
    rows: disentangled.norm ? run.norm('relative.norm', rows) : rows,
    index: Int32Array.from(all, (row) => /** @type {number} */ (places.get(row))),
  };
}

/**
 * Computes the part of a block's scores that depends on relative positions, as a bias (B,H,T,S) for attention.
 * @param {Run} run
 * @param {string} at prefix of the names of the attention's weights
 * @param {RelativeRows} relative
 * @param {{ query: Tensor, key: Tensor, sizes: Sizes, scale: number }} call
 */
export function relativeScores(run, at, { rows, index }, { query, key, sizes, scale }) {
  const terms = /** @type {NonNullable<Resolved['disentangled']>} */ (run.options.disentangled).terms.map(
    (axis) =>
      /** @type {Term} */ ({
        axis,
        x: axis === 'query' ? query : key,
        table: axis === 'query' ? run.linear(`${at}.wk`, rows, `${at}.bk`) : run.linear(`${at}.wq`, rows, `${at}.bq`),
      }),
  );
  const tensor = addTerms(run.graph, terms, index, sizes, scale);
  return { tensor, stride: stridesOf(sizes), hasGradient: true };
}

/** @param {Sizes} sizes */
const stridesOf = ({ heads, queries, keys }) => [heads * queries * keys, queries * keys, keys, 1];

/**
 * Returns scale · the sum of all terms, (B,H,T,S).
 * @param {Graph} graph
 * @param {Term[]} terms
 * @param {Int32Array} index
 * @param {Sizes} sizes
 * @param {number} scale
 */
function addTerms(graph, terms, index, sizes, scale) {
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
        const counts = /** @type {const} */ ([x.shape[0], table.shape[0], width]);
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

/** @param {Graph} graph @param {Tensor} like */
function zeros(graph, like) {
  const x = graph.make(like.shape);
  viewOf(x).fill(0);
  return x;
}

/**
 * Calls a function for each query t and key s of a head, with the index of their score and the index of the product
 * that is added to this score.
 * @param {Term} term
 * @param {Int32Array} index
 * @param {Sizes} sizes
 * @param {number} columns U, the rows of the table
 * @param {(cell: number, at: number) => void} each
 */
function forEachCell({ axis }, index, { queries, keys }, columns, each) {
  for (let t = 0; t < queries; t++)
    for (let s = 0; s < keys; s++)
      each(t * keys + s, (axis === 'query' ? t : s) * columns + index[s - t + queries - 1]);
}

/**
 * Temporary tensors of one head: copies of x (N,D) and table (U,D), and their products (N,U). square: index of the
 * head's first score; make: returns a temporary tensor; add: adds a tensor of this head to the tensor of all heads.
 * @typedef {{ x: Tensor, table: Tensor, products: Tensor, square: number, make: (rows: number) => Tensor,
 *   add: (whole: Tensor, part: Tensor, of: 'x' | 'table') => void }} HeadTerm
 */

/** @param {Graph} graph @param {Term} term @param {Sizes} sizes @param {(head: HeadTerm) => void} each */
function forEachHead(graph, { x, table }, { batch, heads, queries, keys, width }, each) {
  const [rows, columns] = [x.shape[1], table.shape[0]];
  graph.memory.scope(() => {
    const make = (/** @type {number} */ count, size = width) => graph.memory.temporary([count, size], graph.caller);
    for (let b = 0; b < batch; b++)
      for (let h = 0; h < heads; h++) {
        const starts = { x: (b * rows * heads + h) * width, table: h * width };
        const copy = (/** @type {Tensor} */ whole, /** @type {number} */ count, /** @type {number} */ start) => {
          const part = make(count);
          const [to, from] = [viewOf(part), viewOf(whole)];
          for (let r = 0; r < count; r++) {
            const at = start + r * heads * width;
            to.set(from.subarray(at, at + width), r * width);
          }
          return part;
        };
        /** @type {HeadTerm['add']} */
        const add = (whole, part, of) => {
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
