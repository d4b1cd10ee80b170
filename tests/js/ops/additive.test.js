// Tests additiveAttention() against float64, and its gradients against central differences.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { array, zeroOne } from '../../support/problems.js';

const SEED = 2015;
const close = (actual, expected, what) => assert.ok(difference([...actual, 1], [...expected, 1]) <= 5e-6, what);
const sum = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

/**
 * Computes additive attention in float64 from (B,T,Q), (B,S,K), (B,S,V), wq, wk and w. sees(b, t, s) returns true if
 * key s is visible to query t.
 */
function additive([query, key, value, wq, wk, w], sees = () => true, sink = -Infinity) {
  const [B, T, Q] = query.shape;
  const [, S, K] = key.shape;
  const V = value.shape[2];
  const hidden = w.shape[0];
  const project = (x, rows, width, weight) =>
    Float64Array.from({ length: rows * hidden }, (_, i) => {
      const [r, h] = [Math.floor(i / hidden), i % hidden];
      let total = 0;
      for (let c = 0; c < width; c++) total += x[r * width + c] * weight[h * width + c];
      return total;
    });
  const [hq, hk] = [project(query.data, B * T, Q, wq.data), project(key.data, B * S, K, wk.data)];
  const [output, weights] = [new Float64Array(B * T * V), new Float64Array(B * T * S)];
  for (let row = 0; row < B * T; row++) {
    const [b, t] = [Math.floor(row / T), row % T];
    const scores = Array.from({ length: S }, (_, s) => {
      let score = 0;
      for (let h = 0; h < hidden; h++)
        score += w.data[h] * Math.tanh(hq[row * hidden + h] + hk[(b * S + s) * hidden + h]);
      return sees(b, t, s) ? score : -Infinity;
    });
    const most = Math.max(sink, ...scores);
    const powers = scores.map((score) => (most === -Infinity ? 0 : Math.exp(score - most)));
    const total = powers.reduce((a, x) => a + x, most === -Infinity ? 0 : Math.exp(sink - most));
    powers.forEach((power, s) => {
      const weight = total === 0 ? 0 : power / total;
      weights[row * S + s] = weight;
      for (let j = 0; j < V; j++) output[row * V + j] += weight * value.data[(b * S + s) * V + j];
    });
  }
  return { output, weights };
}

/** Random sizes near those of the tiles (8, 24 and 96 queries) and of the blocks (120 and 240 keys). */
const sizes = fc.record({
  B: fc.integer({ min: 1, max: 2 }),
  T: fc.constantFrom(1, 2, 7, 8, 9, 25, 97),
  S: fc.constantFrom(1, 3, 8, 121, 245),
  Q: fc.integer({ min: 1, max: 6 }),
  K: fc.integer({ min: 1, max: 6 }),
  V: fc.integer({ min: 1, max: 9 }),
  hidden: fc.constantFrom(1, 2, 5, 16),
  masks: fc.constantFrom('none', 'mask', 'keyPadding', 'validLens', 'causal'),
  seed: fc.nat(1e6),
});

function problem({ B, T, S, Q, K, V, masks, seed }) {
  const inputs = [array([B, T, Q], seed + 1), array([B, S, K], seed + 2), array([B, S, V], seed + 3)];
  const lens = Array.from({ length: B }, (_, b) => (seed + 3 * b) % (S + 2));
  const [mask, padding] = [zeroOne([B, 1, T, S], seed + 4), zeroOne([B, S], seed + 5)];
  const [options, sees] = {
    none: [{}, () => true],
    mask: [{ mask }, (b, t, s) => mask.data[(b * T + t) * S + s]],
    keyPadding: [{ keyPadding: padding }, (b, _, s) => padding.data[b * S + s]],
    validLens: [{ validLens: lens }, (b, _, s) => s < lens[b]],
    causal: [{ causal: true }, (_, t, s) => s <= t],
  }[masks];
  return { inputs, options, sees };
}

const valuesOf = (layer) =>
  ['wq', 'wk', 'w'].map((name) => ({ data: layer.parameters[name].copy(), shape: layer.parameters[name].shape }));

test(
  `additive attention equals float64, with and without weights, with every kind of mask (seed ${SEED})`,
  everywhere((hl) => {
    fc.assert(
      fc.property(sizes, (size) => {
        const { inputs, options, sees } = problem(size);
        const layer = hl.additiveAttention({ queryDim: size.Q, keyDim: size.K, hidden: size.hidden, seed: size.seed });
        const expected = additive([...inputs, ...valuesOf(layer)], sees);
        const streamed = layer.forward(...inputs, options);
        close(streamed.output.data, expected.output, 'streaming');
        const { output, weights } = layer.forward(...inputs, { ...options, weights: true });
        close(output.data, expected.output, 'explicit');
        close(weights.data, expected.weights, 'weights');
        assert.deepEqual(weights.shape, [size.B, 1, size.T, size.S]);
        for (const made of [layer, streamed, output, weights]) made.dispose();
      }),
      { seed: SEED, numRuns: 60 },
    );
  }),
);

test(
  `the gradients of additive attention equal central differences in float64 (seed ${SEED})`,
  everywhere((hl) => {
    const small = sizes.map((size) => ({
      ...size,
      T: Math.min(size.T, 4),
      S: Math.min(size.S, 5),
      hidden: Math.min(size.hidden, 5),
    }));
    fc.assert(
      fc.property(small, fc.boolean(), (size, weighed) => {
        const { inputs, options, sees } = problem(size);
        const layer = hl.additiveAttention({ queryDim: size.Q, keyDim: size.K, hidden: size.hidden, seed: 4 });
        const values = [...inputs, ...valuesOf(layer)];
        const result = layer.train().forward(...inputs, { ...options, weights: weighed });
        const [dOutput, dWeights] = [array(result.output.shape, 7), array([size.B, 1, size.T, size.S], 8)];
        const found = layer.backward(dOutput, weighed ? { dWeights } : {});
        const loss = (all) => {
          const { output, weights } = additive(all, sees);
          return sum(output, dOutput.data) + (weighed ? sum(weights, dWeights.data) : 0);
        };
        const gradients = [found.dQuery, found.dKey, found.dValue, ...Object.values(layer.gradients)];
        gradients.forEach((gradient, which) => {
          const expected = Array.from(values[which].data, (_, i) => {
            const at = (by) => {
              const data = Float64Array.from(values[which].data);
              data[i] += by;
              return loss(values.map((x, j) => (j === which ? { data, shape: x.shape } : x)));
            };
            return (at(1e-4) - at(-1e-4)) / 2e-4;
          });
          close(gradient.data, expected, `gradient ${which}`);
        });
        for (const made of [layer, result, ...Object.values(found)]) made.dispose();
      }),
      { seed: SEED, numRuns: 40 },
    );
  }),
);

test(
  'gradients over many tiles and blocks are the sums of those of single queries',
  everywhere((hl) => {
    const [B, T, S, hidden] = [2, 200, 250, 8];
    const layer = hl.additiveAttention({ queryDim: 3, keyDim: 4, hidden });
    const [q, k, v, dOutput] = [array([B, T, 3], 1), array([B, S, 4], 2), array([B, S, 5], 3), array([B, T, 5], 4)];
    layer.forward(q, k, v, { train: true });
    const whole = layer.backward(dOutput);
    const sums = { dKey: new Float64Array(B * S * 4), w: new Float64Array(hidden) };
    const together = layer.gradients.w.copy();
    layer.zeroGrad();
    const row = ({ data, shape: [, n, width] }, b, from, rows) => ({
      data: data.subarray((b * n + from) * width, (b * n + from + rows) * width),
      shape: [1, rows, width],
    });
    for (let b = 0; b < B; b++) {
      for (let t = 0; t < T; t++) {
        layer.forward(row(q, b, t, 1), row(k, b, 0, S), row(v, b, 0, S), { train: true });
        const one = layer.backward(row(dOutput, b, t, 1));
        close(one.dQuery.data, whole.dQuery.data.subarray((b * T + t) * 3, (b * T + t + 1) * 3), `${b}, ${t}`);
        one.dKey.data.forEach((g, i) => {
          sums.dKey[b * S * 4 + i] += g;
        });
        for (const gradient of Object.values(one)) gradient.dispose();
      }
    }
    assert.ok(difference(whole.dKey.data, sums.dKey) < 1e-5);
    assert.ok(difference(layer.gradients.w.data, together) < 1e-5);
  }),
);

test(
  'the default value is the key, the default key is the query, and their gradients are summed',
  everywhere((hl) => {
    const layer = hl.additiveAttention({ queryDim: 4, keyDim: 4, hidden: 6, seed: 2 }).train();
    const [x, y, dOutput] = [array([2, 3, 4], 1), array([2, 5, 4], 2), array([2, 3, 4], 3)];
    const run = (...inputs) => {
      const { output } = layer.forward(...inputs);
      return { output: output.copy(), ...layer.backward(dOutput) };
    };
    const add = (...gradients) => gradients[0].data.map((_, i) => gradients.reduce((total, g) => total + g.data[i], 0));
    const [three, two] = [run(x, y, y), run(x, y)];
    assert.deepEqual(two.output, three.output);
    assert.equal(two.dValue, undefined);
    close(two.dKey.data, add(three.dKey, three.dValue));
    const [all, one] = [run(x, x, x), run(x)];
    assert.deepEqual(one.output, all.output);
    close(one.dQuery.data, add(all.dQuery, all.dKey, all.dValue));
    const flat = layer.forward({ data: x.data.subarray(0, 12), shape: [3, 4] });
    assert.deepEqual(flat.output.shape, [3, 4]);
    close(flat.output.data, one.output.slice(0, 12));
  }),
);

test(
  'sinks, a bias and hidden keys that are not finite have the same effect as in attention()',
  everywhere((hl) => {
    const layer = hl.additiveAttention({ queryDim: 3, keyDim: 3, hidden: 4, seed: 5 });
    const [q, k, v, dOutput] = [array([1, 4, 3], 1), array([1, 6, 3], 2), array([1, 6, 2], 3), array([1, 4, 2], 4)];
    const values = [q, k, v, ...valuesOf(layer)];
    close(layer.forward(q, k, v, { sinks: [0.7] }).output.data, additive(values, undefined, 0.7).output);
    const options = { validLens: [5], bias: array([4, 6], 6), train: true };
    layer.forward(q, k, v, options);
    const clean = layer.backward(dOutput);
    for (const poison of [NaN, Infinity]) {
      for (const x of [k, v]) x.data.fill(poison, (5 * x.data.length) / 6);
      layer.zeroGrad();
      layer.forward(q, k, v, options);
      const dirty = layer.backward(dOutput);
      for (const name of ['dQuery', 'dBias']) close(dirty[name].data, clean[name].data, `${name} with ${poison}`);
    }
  }),
);

test(
  'no block of size T · S · hidden is allocated',
  everywhere((hl) => {
    const [T, S, hidden] = [500, 500, 64];
    const layer = hl.additiveAttention({ queryDim: 4, keyDim: 4, hidden });
    const [q, k] = [array([1, T, 4], 1), array([1, S, 4], 2)];
    const before = hl.info.memory.reserved;
    layer.forward(q, k, k, { train: true });
    layer.backward(array([1, T, 4], 3));
    assert.ok(hl.info.memory.reserved - before < T * S * hidden * 2, `${hl.info.memory.reserved - before}`);
  }),
);

test(
  'it learns to find a key by a sum, and its state can be saved and loaded',
  everywhere((hl) => {
    const layer = hl.additiveAttention({ queryDim: 4, keyDim: 4, hidden: 16, seed: 1 });
    const [q, k, v, target] = [array([8, 1, 4], 1), array([8, 5, 4], 2), array([8, 5, 3], 3), array([8, 1, 3], 4)];
    const optimizer = hl.adam([layer], { lr: 0.02 });
    const losses = Array.from({ length: 60 }, () => {
      const { output } = layer.forward(q, k, v, { train: true });
      const { loss, dPrediction } = hl.meanSquaredError(output, target);
      layer.zeroGrad();
      for (const gradient of Object.values(layer.backward(dPrediction))) gradient.dispose();
      optimizer.step();
      for (const tensor of [output, dPrediction]) tensor.dispose();
      return loss;
    });
    assert.ok(losses.at(-1) < 0.7 * losses[0], `${losses[0]} to ${losses.at(-1)}`);
    const other = hl.additiveAttention({ queryDim: 4, keyDim: 4, hidden: 16, seed: 9 });
    const { wq, wk, w } = layer.stateDict();
    other.loadStateDict({ 'W_q.weight': wq, 'W_k.weight': wk, 'w_v.weight': w });
    assert.deepEqual(other.forward(q, k, v).output.copy(), layer.forward(q, k, v).output.copy());
    for (const made of [optimizer, layer, other]) made.dispose();
  }),
);

test('invalid arguments are refused by name, and backward requires a forward in training', () => {
  const layer = hl.additiveAttention({ queryDim: 3, keyDim: 4, hidden: 5 });
  const [q, k] = [array([2, 3, 3]), array([2, 5, 4])];
  const refuses = (fn, expected) => assert.throws(fn, expected);
  refuses(() => hl.additiveAttention({ queryDim: 3, keyDim: 4 }), { parameter: 'hidden' });
  refuses(() => layer.forward(k, k, k), { parameter: 'query', message: /\(B,T,3\) or \(T,3\)/ });
  refuses(() => layer.forward(q), { parameter: 'key', message: /\[2,3,4\]/ });
  refuses(() => layer.forward(q, array([1, 5, 4])), { parameter: 'key', message: /\[2,5,4\]/ });
  refuses(() => layer.forward(q, k, array([2, 4, 4])), { parameter: 'value', message: /\[2,5,Dv\]/ });
  refuses(() => layer.forward(q, k, k, { scale: 2 }), { parameter: 'scale', message: /unknown option/ });
  refuses(() => layer.forward(q, k, k, { mask: array([3, 4]) }), { parameter: 'mask' });
  refuses(() => layer.backward(q), { code: 'STATE' });
  layer.forward(q, k, k);
  refuses(() => layer.backward(array([2, 3, 4])), { code: 'STATE' });
  layer.forward(q, k, k, { train: true });
  refuses(() => layer.backward(array([2, 3, 3])), { parameter: 'dOutput', message: /\[2,3,4\]/ });
  layer.backward(array([2, 3, 4]));
  refuses(() => layer.backward(array([2, 3, 4])), { code: 'STATE' });
  for (const [T, S] of [
    [0, 5],
    [3, 0],
  ]) {
    layer.forward(array([2, T, 3]), array([2, S, 4]), array([2, S, 6]), { train: true });
    const { dQuery, dKey, dValue } = layer.backward(array([2, T, 6]));
    for (const gradient of [dQuery, dKey, dValue]) assert.ok(gradient.data.every((g) => g === 0));
  }
  layer.dispose();
  refuses(() => layer.forward(q, k, k), { code: 'DISPOSED' });
});
