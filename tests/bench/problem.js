// Makes a problem: inputs and weights from a seed, and a few rows of the expected output in float64.

import { uniformSource } from '../../src/js/ops/random.ts';

const SAMPLES = 8;

/**
 * Largest allowed error with int8 weights; the actual error is about 1%. int8 weights are measured for large layers
 * only.
 */
export const INT8_TOLERANCE = 0.03;
export const isForInt8 = ({ kind, width, causal, long }, withWeights) =>
  kind === 'layer' && width > 128 && !causal && !long && !withWeights;

export function makeProblem(shape) {
  const { kind, batch, queries, keys, width } = shape;
  const next = uniformSource(1);
  const fill = (size, range) => Float32Array.from({ length: size }, () => range * (2 * next() - 1));
  const self = kind === 'layer' && queries === keys;
  const query = fill(batch * queries * width, 1);
  const key = self ? query : fill(batch * keys * width, 1);
  const value = kind === 'layer' ? key : fill(batch * keys * width, 1);
  const problem = { shape, self, query, key, value };
  if (kind === 'attention') return problem;
  const limit = Math.sqrt(3 / width);
  const weight = () => fill(width * width, limit);
  const bias = () => fill(width, 0.1);
  return {
    ...problem,
    wq: weight(),
    wk: weight(),
    wv: weight(),
    wo: weight(),
    bq: bias(),
    bk: bias(),
    bv: bias(),
    bo: bias(),
  };
}

/** Returns rows(n, width) · weightᵀ + bias, or the rows if there is no weight. */
function project(rows, n, width, weight, bias) {
  if (!weight) return Float64Array.from(rows);
  const y = new Float64Array(n * width);
  for (let r = 0; r < n; r++)
    for (let o = 0; o < width; o++) {
      let sum = bias[o];
      for (let i = 0; i < width; i++) sum += rows[r * width + i] * weight[o * width + i];
      y[r * width + o] = sum;
    }
  return y;
}

/**
 * Computes some rows of the output and of the weights of every head, in float64: [{ row, output (C), weights (H·S) }].
 */
export function sampleAnswer({ shape, query, key, value, wq, wk, wv, wo, bq, bk, bv, bo }) {
  const { batch, queries, keys, width, heads, causal } = shape;
  const head = width / heads;
  const samples = [];
  const count = Math.min(SAMPLES, batch * queries);
  const chosen = Array.from({ length: count }, (_, i) =>
    Math.round((i * (batch * queries - 1)) / Math.max(1, count - 1)),
  );
  for (let b = 0; b < batch; b++) {
    const rows = chosen.filter((row) => Math.floor(row / queries) === b);
    if (rows.length === 0) continue;
    const from = (x, n) => x.subarray(b * n * width, (b + 1) * n * width);
    const k = project(from(key, keys), keys, width, wk, bk);
    const v = project(from(value, keys), keys, width, wv, bv);
    for (const row of rows) {
      const q = project(query.subarray(row * width, (row + 1) * width), 1, width, wq, bq);
      const joined = new Float64Array(width);
      const weights = new Float64Array(heads * keys);
      const seen = causal ? (row % queries) + 1 : keys;
      for (let h = 0; h < heads; h++) {
        const scores = Array.from({ length: seen }, (_, s) => {
          let score = 0;
          for (let d = h * head; d < (h + 1) * head; d++) score += q[d] * k[s * width + d];
          return score / Math.sqrt(head);
        });
        const most = scores.reduce((a, x) => Math.max(a, x));
        const exps = scores.map((x) => Math.exp(x - most));
        const sum = exps.reduce((a, x) => a + x, 0);
        exps.forEach((e, s) => {
          weights[h * keys + s] = e / sum;
          for (let d = h * head; d < (h + 1) * head; d++) joined[d] += (e / sum) * v[s * width + d];
        });
      }
      samples.push({ row, output: project(joined, 1, width, wo, bo), weights });
    }
  }
  return samples;
}

/** Returns the largest difference in the sampled rows, relative to the largest value. */
export function errorOf({ shape }, samples, output) {
  let [worst, scale] = [0, 0];
  for (const { row, output: expected } of samples)
    for (let i = 0; i < shape.width; i++) {
      worst = Math.max(worst, Math.abs(output[row * shape.width + i] - expected[i]));
      scale = Math.max(scale, Math.abs(expected[i]));
    }
  return worst / scale;
}
