// Computes attention in three steps, each with its own gradient: queries and keys to scores, scores to weights, weights
// and values to the output. This is needed if a run computes gradients and its scores or weights are captured or
// edited. The core computes the steps with the function that computes attention in one step, so that the results have
// the same bits.

import { sizeOf, type Tensor, viewOf } from '../../memory/tensor.ts';

import type { AttentionCall, Graph } from '../gradients/graph.ts';

/** A function that captures or edits the scores or the attention weights and returns the tensor for the next step. */
export type Change = (x: Tensor) => Tensor;

/** @returns (B,T,H·D) */
export function attendInSteps(graph: Graph, call: AttentionCall, change: { scores: Change; weights: Change }): Tensor {
  const scores = graph.attend({ ...call, scores: true }).scores as Tensor;
  graph.record(scores, (d) => {
    scoresBackward(graph, call, d);
    if (call.bias?.hasGradient) graph.accumulate(call.bias.tensor, d);
  });
  const givenScores = change.scores(scores);
  const weights = graph.attend({ ...call, givenScores, weights: true }).weights as Tensor;
  graph.record(weights, (d) => graph.accumulate(givenScores, softmaxBackward(graph, weights, d)));
  const givenWeights = change.weights(weights);
  const { output } = graph.attend({ ...call, givenWeights, weights: false, scores: false });
  return graph.record(output, (d) => outputBackward(graph, call, givenWeights, d));
}

/** Returns the gradient of the scores, A · (dA − Σ A·dA), where A are the attention weights. */
function softmaxBackward(graph: Graph, weights: Tensor, d: Tensor) {
  const keys = weights.shape[3];
  const dx = graph.make(weights.shape);
  const [to, a, given] = [viewOf(dx), viewOf(weights), viewOf(d)];
  for (let row = 0; row < to.length; row += keys) {
    let sum = 0;
    for (let s = row; s < row + keys; s++) sum += a[s] * given[s];
    for (let s = row; s < row + keys; s++) to[s] = a[s] === 0 ? 0 : a[s] * (given[s] - sum);
  }
  return dx;
}

/** Calls a function for each head of each sequence, with the locations of this head's rows in the larger tensors. */
function forEachHead(graph: Graph, { sizes }: AttentionCall, each: (head: HeadParts) => void) {
  const { batch, heads, kvHeads, queries, keys, width } = sizes;
  graph.memory.scope(() => {
    const make = (rows: number, columns: number) => graph.memory.temporary([rows, columns], graph.caller);
    const rowsOf = (b: number, h: number, n: number, rows: number) =>
      ({ start: (b * rows * n + h) * width, step: n * width, rows, width }) as Part;
    for (let b = 0; b < batch; b++)
      for (let h = 0; h < heads; h++) {
        const group = Math.floor((h * kvHeads) / heads);
        const square = { start: (b * heads + h) * queries * keys, step: keys, rows: queries, width: keys };
        each({ query: rowsOf(b, h, heads, queries), key: rowsOf(b, group, kvHeads, keys), square, make });
      }
  });
}

/**
 * Location of `rows` rows of `width` numbers in a larger tensor. The first row begins at index `start`, and each
 * following row begins `step` numbers after the previous one.
 */
export type Part = { start: number; step: number; rows: number; width: number };
/**
 * query: rows of the head in (B,T,H·D); key: rows of the keys and values that it reads in (B,S,G·D); square: rows of
 * the head's scores or weights in (B,H,T,S); make: returns a temporary tensor.
 */
export type HeadParts = { query: Part; key: Part; square: Part; make: (rows: number, columns: number) => Tensor };

function copyPart({ make }: HeadParts, x: Tensor, { start, step, rows, width }: Part) {
  const y = make(rows, width);
  const [to, from] = [viewOf(y), viewOf(x)];
  for (let r = 0; r < rows; r++) to.set(from.subarray(start + r * step, start + r * step + width), r * width);
  return y;
}

function addPart(x: Tensor, { start, step, rows, width }: Part, y: Tensor) {
  const [to, from] = [viewOf(x), viewOf(y)];
  for (let r = 0; r < rows; r++) for (let c = 0; c < width; c++) to[start + r * step + c] += from[r * width + c];
}

function zeros(graph: Graph, shape: readonly number[]) {
  const x = graph.make(shape);
  viewOf(x).fill(0);
  return x;
}

/**
 * Adds the gradients of weights and values: dA = dOutput · Vᵀ, dV = Aᵀ · dOutput.
 * @param weights (B,H,T,S)
 * @param d (B,T,H·D)
 */
function outputBackward(graph: Graph, call: AttentionCall, weights: Tensor, d: Tensor) {
  const { queries, keys, width } = call.sizes;
  const [dWeights, dValue] = [zeros(graph, weights.shape), zeros(graph, call.value.shape)];
  forEachHead(graph, call, (head) => {
    const [dOutput, value] = [copyPart(head, d, head.query), copyPart(head, call.value, head.key)];
    const [a, da, dv] = [copyPart(head, weights, head.square), head.make(queries, keys), head.make(keys, width)];
    graph.call('hl_linear_forward', da, dOutput, value, undefined, queries, keys, width);
    viewOf(dv).fill(0);
    graph.call('hl_linear_backward', undefined, dv, undefined, a, dOutput, undefined, queries, keys, width);
    addPart(dWeights, head.square, da);
    addPart(dValue, head.key, dv);
    for (const tensor of [dOutput, value, a, da, dv]) tensor.dispose();
  });
  graph.accumulate(weights, dWeights);
  graph.accumulate(call.value, dValue);
}

/**
 * Adds the gradients of queries and keys: dQ = scale · dScores · K, dK = scale · dScoresᵀ · Q. With a softcap, dScores
 * is first multiplied by the slope of c · tanh(z / c), which is 1 − tanh²(z / c).
 * @param d (B,H,T,S)
 */
function scoresBackward(graph: Graph, call: AttentionCall, d: Tensor) {
  const { scale, softcap, sizes } = call;
  const { queries, keys, width } = sizes;
  const [dQuery, dKey] = [zeros(graph, call.query.shape), zeros(graph, call.key.shape)];
  forEachHead(graph, call, (head) => {
    const [query, key] = [copyPart(head, call.query, head.query), copyPart(head, call.key, head.key)];
    const [dScores, dq, dk] = [copyPart(head, d, head.square), head.make(queries, width), head.make(keys, width)];
    if (softcap > 0) {
      const products = head.make(queries, keys);
      graph.call('hl_linear_forward', products, query, key, undefined, queries, keys, width);
      const [to, from] = [viewOf(dScores), viewOf(products)];
      for (let i = 0; i < to.length; i++) to[i] *= 1 - Math.tanh((scale * from[i]) / softcap) ** 2;
      products.dispose();
    }
    graph.call('hl_scale', dScores, sizeOf(dScores), scale);
    viewOf(dk).fill(0);
    graph.call('hl_linear_backward', dq, dk, undefined, dScores, query, key, queries, keys, width);
    addPart(dQuery, head.query, dq);
    addPart(dKey, head.key, dk);
    for (const tensor of [query, key, dScores, dq, dk]) tensor.dispose();
  });
  graph.accumulate(call.query, dQuery);
  graph.accumulate(call.key, dKey);
}
