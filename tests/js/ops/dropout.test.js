// Tests dropout: properties of each mask, and statistics of many masks.

import assert from 'node:assert/strict';
import test from 'node:test';
import { everywhere, hl } from '../../support/headlight.js';
import { numbers } from '../../support/kernels.js';

const Z = 5;
const array = (shape, seed = 1) => ({
  data: numbers(
    shape.reduce((a, b) => a * b, 1),
    seed,
  ),
  shape,
});
const ones = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });

/** Returns the dropout mask: which of B·H·T·S equal weights are kept. */
function mask(hl, p, seed, [B, H, T, S] = [2, 4, 100, 250]) {
  return hl.scope(() =>
    hl
      .attention(ones(B, H, T, 1), ones(B, H, S, 1), ones(B, H, S, 1), { weights: true, dropout: { p, seed } })
      .weights.copy(),
  );
}
const kept = (weights) => weights.reduce((n, w) => n + (w !== 0), 0);
const within = (count, n, p) => Math.abs(count - n * p) <= Z * Math.sqrt(n * p * (1 - p));

test(
  'about 1 − p of the weights are kept, each as exactly w / (1 − p)',
  everywhere((hl) => {
    for (const p of [0.1, 0.2, 0.5, 0.9]) {
      const weights = mask(hl, p, 11);
      assert.ok(within(kept(weights), weights.length, 1 - p), `${kept(weights) / weights.length} of ${p}`);
      const expected = 1 / 250 / (1 - p);
      for (const w of weights) assert.ok(w === 0 || Math.abs(w / expected - 1) < 2 ** -22);
    }
  }),
);

test(
  'equal seeds give equal masks, others different ones; adjacent weights, rows, heads and batches are independent',
  everywhere((hl) => {
    const [a, b] = [mask(hl, 0.5, 1), mask(hl, 0.5, 2)];
    assert.deepEqual(a, mask(hl, 0.5, 1));
    const n = a.length;
    const differ = a.reduce((count, w, i) => count + ((w === 0) !== (b[i] === 0)), 0);
    assert.ok(within(differ, n, 0.5));
    assert.ok(
      within(
        mask(hl, 0.5, 1 + 2 ** 32).reduce((count, w, i) => count + ((w === 0) !== (a[i] === 0)), 0),
        n,
        0.5,
      ),
    );
    for (const shift of [1, 2, 250, 25000, 100000]) {
      let sum = 0;
      for (let i = 0; i + shift < n; i++) sum += (a[i] ? 1 : -1) * (a[i + shift] ? 1 : -1);
      assert.ok(Math.abs(sum) <= Z * Math.sqrt(n - shift), `shift ${shift}: ${sum / (n - shift)}`);
    }
  }),
);

test(
  'both paths drop the same weights, for any tile size and any number of key/value heads',
  everywhere((hl) => {
    const [q, k, v] = [array([2, 4, 30, 8], 1), array([2, 2, 300, 8], 2), array([2, 2, 300, 5], 3)];
    const options = { causal: true, offset: 280, dropout: { p: 0.4, seed: 77 } };
    const streamed = hl.attention(q, k, v, options).output;
    const { output, weights } = hl.attention(q, k, v, { ...options, weights: true });
    for (let i = 0; i < output.size; i++) assert.ok(Math.abs(streamed.data[i] - output.data[i]) < 1e-5);
    const keep = { data: Uint8Array.from(weights.data, (w) => Number(w !== 0)), shape: weights.shape };
    const given = hl.attention(q, k, v, { ...options, dropout: { p: 0.4, keep } }).output;
    for (let i = 0; i < output.size; i++) assert.ok(Math.abs(given.data[i] - output.data[i]) < 1e-5);
  }),
);

test(
  'hidden keys keep weight 0, and rows are not normalized again',
  everywhere((hl) => {
    const { weights } = hl.attention(array([1, 1, 6, 4]), array([1, 1, 6, 4]), array([1, 1, 6, 4]), {
      causal: true,
      weights: true,
      dropout: { p: 0.5, seed: 3 },
    });
    for (let t = 0; t < 6; t++) for (let s = t + 1; s < 6; s++) assert.equal(weights.data[t * 6 + s], 0);
    assert.ok(
      Array.from({ length: 6 }, (_, t) => weights.data.subarray(t * 6, t * 6 + 6).reduce((a, b) => a + b)).some(
        (sum) => Math.abs(sum - 1) > 0.05,
      ),
    );
  }),
);

test('the mean over many seeds is the output without dropout', () => {
  const [q, k, v] = [array([1, 2, 4, 4], 1), array([1, 2, 9, 4], 2), array([1, 2, 9, 5], 3)];
  const expected = hl.attention(q, k, v).output.copy();
  const [sum, squares] = [new Float64Array(expected.length), new Float64Array(expected.length)];
  const runs = 2000;
  for (let seed = 0; seed < runs; seed++) {
    const { output } = hl.attention(q, k, v, { dropout: { p: 0.3, seed } });
    output.data.forEach((y, i) => {
      sum[i] += y;
      squares[i] += y * y;
    });
    output.dispose();
  }
  expected.forEach((y, i) => {
    const mean = sum[i] / runs;
    const deviation = Math.sqrt(squares[i] / runs - mean ** 2);
    assert.ok(Math.abs(mean - y) <= (Z * deviation) / Math.sqrt(runs), `${mean}, expected ${y}`);
  });
});

test(
  'p = 0 changes no bit; p = 1 gives weights and heads of 0 and the output bias',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, dropout: 1 }).train();
    layer.parameters.bo.data.set(numbers(8, 5));
    const x = array([2, 3, 8]);
    const { output, weights } = layer.forward(x, { weights: true });
    assert.ok(weights.data.every((w) => w === 0));
    for (let i = 0; i < output.size; i++) assert.equal(output.data[i], layer.parameters.bo.data[i % 8]);
    for (const mode of [false, true]) {
      assert.deepEqual(
        layer.forward(x, { dropout: { p: 0, seed: 1 }, weights: mode }).output.copy(),
        layer.eval().forward(x, { weights: mode }).output.copy(),
      );
    }
  }),
);

test(
  'a layer drops weights only in training, with a new mask each time, reproducible by the seed',
  everywhere((hl) => {
    const [a, b] = [1, 1].map(() => hl.multiHeadAttention({ embedDim: 32, numHeads: 4, dropout: 0.5, seed: 8 }));
    const x = array([2, 20, 32]);
    const run = (layer, options) => layer.forward(x, options).output.copy();
    const still = run(a);
    assert.deepEqual(run(a), still);
    const [first, second] = [run(a, { train: true }), run(a, { train: true })];
    assert.notDeepEqual(first, still);
    assert.notDeepEqual(first, second);
    b.train();
    assert.deepEqual(run(b), first);
    assert.deepEqual(run(b), second);
    assert.deepEqual(run(b, { train: false }), still);
    assert.deepEqual(run(b.eval()), still);
  }),
);
