// Computes the expected results of calls, with plain float64 versions of the functions of the core.

import assert from 'node:assert/strict';
import { attention, attentionGradients } from '../support/reference.js';

/** Compares numbers within the rounding of float32, for sums of a few dozen terms of about 1. */
export function assertClose(actual, expected, what, tolerance = 2e-4) {
  assert.equal(actual.length, expected.length, `${what}: the number of elements`);
  for (let i = 0; i < actual.length; i++) {
    const size = 1 + Math.abs(expected[i]);
    if (!(Math.abs(actual[i] - expected[i]) <= tolerance * size))
      assert.fail(`${what}[${i}] is ${actual[i]}, expected ${expected[i]}`);
  }
}

const count = (shape) => shape.reduce((a, b) => a * b, 1);

/** Returns the mean over the heads, from (B,H,T,S) to (B,T,S). */
function meanOverHeads(weights, [B, H, T, S]) {
  const mean = new Float64Array(B * T * S);
  for (let b = 0; b < B; b++)
    for (let h = 0; h < H; h++)
      for (let i = 0; i < T * S; i++) mean[b * T * S + i] += weights[(b * H + h) * T * S + i] / H;
  return mean;
}

/** Concatenates two arrays (B,G,·,D) along the third axis. */
export function joinRows(first, second) {
  const [B, G, , D] = first.shape;
  const [P, S] = [first.shape[2], second.shape[2]];
  const data = new Float32Array(B * G * (P + S) * D);
  for (let i = 0; i < B * G; i++) {
    data.set(first.data.subarray(i * P * D, (i + 1) * P * D), i * (P + S) * D);
    data.set(second.data.subarray(i * S * D, (i + 1) * S * D), (i * (P + S) + P) * D);
  }
  return { data, shape: [B, G, P + S, D] };
}

/** Checks the result of attention() for (B,H,T,D) arrays. `plain` has the options in the form of the reference. */
export function checkAttention(result, [q, k, v], plain, { weights, scores }) {
  const expected = attention(q, k, v, plain);
  assertClose(result.output.copy(), expected.output, 'output');
  const shape = [q.shape[0], q.shape[1], q.shape[2], k.shape[2]];
  if (weights === true) assertClose(result.weights.copy(), expected.weights, 'weights');
  else if (weights === 'mean')
    assertClose(result.weights.copy(), meanOverHeads(expected.weights, shape), 'mean weights');
  else assert.equal(result.weights, undefined);
  if (scores === undefined) assert.equal(result.scores, undefined);
  else assertClose(result.scores.copy().map(finite), expected.scores[scores].map(finite), 'scores');
  assert.equal(result.output.size, count(result.output.shape));
}

/** Replaces −∞, the score of a masked key, by a finite number. */
const finite = (x) => (x === -Infinity ? -1e30 : x);

export function checkGradients(gradients, [q, k, v], plain, dOutput, dWeights) {
  const expected = attentionGradients(q, k, v, plain, dOutput, dWeights);
  for (const name of ['dQuery', 'dKey', 'dValue', ...(plain.sinks ? ['dSinks'] : [])])
    assertClose(gradients[name].copy(), expected[name], name, 1e-3);
}

/** Computes x · weightᵀ + bias, for rows of `inside` numbers. */
export function linear(x, weight, bias, inside) {
  const rows = inside ? x.length / inside : 0;
  const out = weight.length / inside;
  const y = new Float64Array(rows * out);
  for (let r = 0; r < rows; r++)
    for (let o = 0; o < out; o++) {
      let sum = bias ? bias[o] : 0;
      for (let i = 0; i < inside; i++) sum += x[r * inside + i] * weight[o * inside + i];
      y[r * out + o] = sum;
    }
  return y;
}

/** Transposes (B,N,H·D) to (B,H,N,D). */
function splitHeads(data, B, N, H, D) {
  const split = new Float64Array(data.length);
  for (let b = 0; b < B; b++)
    for (let n = 0; n < N; n++)
      for (let h = 0; h < H; h++)
        for (let d = 0; d < D; d++) split[((b * H + h) * N + n) * D + d] = data[((b * N + n) * H + h) * D + d];
  return { data: split, shape: [B, H, N, D] };
}

/** Checks forward of a layer without appended keys and past keys. The inputs are { data, shape: (B,·,C) }. */
export function checkLayer(result, { options, parameters }, [x, y, z], plain, asked) {
  const [B, T] = x.shape;
  const S = y.shape[1];
  const { numHeads: H, kvHeads: G, headDim: D } = options;
  const p = Object.fromEntries(Object.entries(parameters).map(([name, tensor]) => [name, tensor.copy()]));
  const q = splitHeads(linear(x.data, p.wq, p.bq, options.queryDim), B, T, H, D);
  const k = splitHeads(linear(y.data, p.wk, p.bk, options.keyDim), B, S, G, D);
  const v = splitHeads(linear(z.data, p.wv, p.bv, options.valueDim), B, S, G, D);
  const expected = attention(q, k, v, plain);
  const heads = new Float64Array(B * T * H * D);
  for (let b = 0; b < B; b++)
    for (let h = 0; h < H; h++)
      for (let t = 0; t < T; t++)
        for (let d = 0; d < D; d++)
          heads[((b * T + t) * H + h) * D + d] = expected.output[((b * H + h) * T + t) * D + d];
  assertClose(result.output.copy(), p.wo ? linear(heads, p.wo, p.bo, H * D) : heads, 'output of the layer');
  if (asked.weights === true) assertClose(result.weights.copy(), expected.weights, 'weights of the layer');
}
