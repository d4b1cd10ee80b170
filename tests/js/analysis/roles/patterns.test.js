// Tests rollout, value-weighted attention and head scores, compared with their formulas in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { headScores, rollout, valueWeighted } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { difference } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { attention as reference } from '../../../support/reference.js';

const TOLERANCE = 1e-6;
const random = uniformSource(7);
const uniform = (...shape) => ({
  data: Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * random() - 1),
  shape,
});
/** Returns random attention weights (B,H,T,S), computed by softmax. */
function weightsOf(B, H, T, S, options) {
  const [q, k] = [uniform(B, H, T, 4), uniform(B, H, S, 4)];
  for (let i = 0; i < q.data.length; i++) q.data[i] *= 5;
  return { data: reference(q, k, k, options).weights, shape: [B, H, T, S] };
}
const near = (actual, expected, name = '') => {
  const off = difference(actual.data ?? actual, expected);
  assert.ok(off <= TOLERANCE, `${name} off by ${off}`);
};

test('rollout is the product of the mixing matrices of all layers', () => {
  const [B, H, T] = [2, 3, 5];
  const layers = [1, 2, 3].map(() => weightsOf(B, H, T, T, { causal: true }));
  const flows = rollout(layers);
  for (let b = 0; b < B; b++) {
    let expected = Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) => Number(i === j)));
    layers.forEach(({ data }, l) => {
      const before = expected;
      expected = before.map((_, i) =>
        before.map((_, j) => {
          let sum = 0;
          for (let k = 0; k < T; k++) {
            let mean = 0;
            for (let h = 0; h < H; h++) mean += data[((b * H + h) * T + i) * T + k] / H;
            sum += (0.5 * mean + (i === k ? 0.5 : 0)) * before[k][j];
          }
          return sum;
        }),
      );
      assert.deepEqual(flows[l].shape, [B, T, T]);
      near(flows[l].data.subarray(b * T * T, (b + 1) * T * T), expected.flat(), `layer ${l}`);
    });
  }
});

test('every row of a rollout sums to 1, even if a row of weights does not', () => {
  const half = { data: weightsOf(1, 2, 4, 4).data.map((x) => x / 2), shape: [1, 2, 4, 4] };
  const hidden = { data: new Float64Array(16), shape: [1, 4, 4] };
  for (const { data } of rollout([half, hidden, half]))
    for (let t = 0; t < 4; t++) assert.ok(Math.abs(data.subarray(4 * t, 4 * t + 4).reduce((a, x) => a + x) - 1) < 1e-6);
  assert.deepEqual([...rollout([hidden])[0].data], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
});

test('rollout accepts tensors, and refuses weights that are not square by name', () => {
  const layer = hl.tensor(weightsOf(1, 2, 3, 3));
  assert.deepEqual(rollout([layer, layer]).length, 2);
  layer.dispose();
  assert.throws(() => rollout([]), { code: 'ARGUMENT', parameter: 'weights' });
  assert.throws(() => rollout([weightsOf(1, 2, 3, 4)]), { code: 'SHAPE', parameter: 'weights[0]' });
  assert.throws(() => rollout([uniform(2, 3)]), { code: 'SHAPE', parameter: 'weights[0]' });
});

test('value-weighted attention is the norm of the contribution of each key', () => {
  const [B, H, G, T, S, D, C] = [2, 4, 2, 3, 5, 3, 7];
  const [weights, value, wo] = [weightsOf(B, H, T, S), uniform(B, G, S, D), uniform(C, H * D)];
  const expected = { with: [], without: [] };
  for (let b = 0; b < B; b++)
    for (let h = 0; h < H; h++)
      for (let t = 0; t < T; t++)
        for (let s = 0; s < S; s++) {
          const alpha = weights.data[((b * H + h) * T + t) * S + s];
          const start = ((b * G + Math.floor(h / (H / G))) * S + s) * D;
          const v = value.data.subarray(start, start + D).map((x) => alpha * x);
          const brought = Array.from({ length: C }, (_, c) =>
            v.reduce((sum, x, d) => sum + x * wo.data[c * H * D + h * D + d], 0),
          );
          expected.without.push(Math.hypot(...v));
          expected.with.push(Math.hypot(...brought));
        }
  near(valueWeighted(weights, value), expected.without);
  near(valueWeighted(weights, value, wo), expected.with);
  assert.deepEqual(valueWeighted(weights, value, wo).shape, [B, H, T, S]);
  assert.throws(() => valueWeighted(weights, uniform(B, 3, S, D)), { code: 'SHAPE', parameter: 'value' });
  assert.throws(() => valueWeighted(weights, value, uniform(C, D)), { code: 'SHAPE', parameter: 'wo' });
});

/** Computes the head scores of one layer in plain loops. */
function plainScores({ data, shape: [B, H, T, S] }, ids, keep) {
  return Array.from({ length: H }, (_, h) => {
    const rows = { previous: [], first: [], duplicate: [], induction: [], entropy: [], distance: [] };
    for (let b = 0; b < B; b++)
      for (let t = 0; t < T; t++) {
        const q = t + S - T;
        if (keep && !keep[b][q]) continue;
        const w = Array.from({ length: S }, (_, s) => data[((b * H + h) * T + t) * S + s]);
        const keys = w.map((_, s) => s);
        const total = (which) => which.reduce((sum, s) => sum + w[s], 0);
        const equal = keys.filter((s) => s < q && ids[b][s] === ids[b][q]);
        const after = keys.filter((s) => s < q && s > 0 && ids[b][s - 1] === ids[b][q]);
        if (q > 0) rows.previous.push(w[q - 1]);
        if (q > 0) rows.first.push(w[0]);
        if (equal.length > 0) rows.duplicate.push(total(equal));
        if (after.length > 0) rows.induction.push(total(after));
        rows.entropy.push(-w.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0));
        rows.distance.push(w.reduce((sum, x, s) => sum + x * Math.abs(q - s), 0));
      }
    return Object.fromEntries(
      Object.entries(rows).map(([name, list]) => [name, list.reduce((a, x) => a + x, 0) / list.length]),
    );
  });
}

test('head scores are means over the rows', () => {
  const ids = [
    [1, 2, 3, 1, 2, 3, 1],
    [5, 5, 6, 5, 7, 6, 5],
  ];
  const keep = [
    [1, 1, 1, 1, 1, 0, 0],
    [1, 1, 1, 1, 1, 1, 1],
  ];
  for (const T of [7, 3])
    for (const given of [undefined, keep]) {
      const layers = [weightsOf(2, 3, T, 7, { causal: true, offset: 7 - T }), weightsOf(2, 3, T, 7)];
      const scores = headScores(layers, { ids, keep: given });
      layers.forEach((layer, l) => {
        plainScores(layer, ids, given).forEach((expected, h) => {
          for (const [name, value] of Object.entries(expected)) {
            assert.deepEqual(scores[name].shape, [2, 3]);
            near([scores[name].data[l * 3 + h]], [value], name);
          }
        });
      });
    }
});

test('an ideal previous-token head and an ideal induction head have the score 1', () => {
  const ids = [4, 8, 6, 4, 8, 6, 4, 8, 6];
  const T = ids.length;
  const previous = new Float32Array(T * T);
  const induction = new Float32Array(T * T);
  for (let t = 0; t < T; t++) {
    previous[t * T + Math.max(t - 1, 0)] = 1;
    induction[t * T + (t < 3 ? 0 : t - 2)] = 1;
  }
  const weights = { data: Float32Array.of(...previous, ...induction), shape: [1, 2, T, T] };
  const scores = headScores([weights], { ids });
  assert.equal(scores.previous.data[0], 1);
  assert.equal(scores.induction.data[1], 1);
  assert.equal(scores.induction.data[0], 0);
  assert.deepEqual([...scores.entropy.data], [0, 0]);
  const without = headScores([weights]);
  assert.ok(Number.isNaN(without.induction.data[0]) && Number.isNaN(without.duplicate.data[0]));
});

test('invalid arguments are refused by name', () => {
  const weights = weightsOf(1, 2, 4, 4);
  assert.throws(() => headScores([weights], { ids: [1, 2, 3] }), { code: 'SHAPE', parameter: 'ids' });
  assert.throws(() => headScores([weights, weightsOf(1, 3, 4, 4)]), { code: 'SHAPE', parameter: 'weights[1]' });
  assert.throws(() => headScores([weightsOf(1, 2, 4, 3)]), { code: 'SHAPE', parameter: 'weights[0]' });
  assert.throws(() => headScores([weights], { labels: [1] }), { code: 'ARGUMENT', parameter: 'labels' });
});
