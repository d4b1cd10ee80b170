import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { numbers } from '../../support/kernels.js';
import { attention as reference } from '../../support/reference.js';

const x = (shape, seed = 1) => ({
  data: numbers(
    shape.reduce((a, b) => a * b, 1),
    seed,
  ),
  shape,
});

test('a layer is created and called in one expression', async () => {
  const hl = await load();
  const y = hl
    .multiHeadAttention({ embedDim: 100, numHeads: 5 })
    .forward(x([2, 4, 100]))
    .output.toArray();
  assert.deepEqual([y.length, y[0].length, y[0][0].length], [2, 4, 100]);
});

test(
  'a call gives the same bits after any other calls, including failed ones',
  everywhere((hl) => {
    const make = () => hl.multiHeadAttention({ embedDim: 12, numHeads: 3, dropout: 0.3, seed: 2 });
    const calls = [
      [x([3, 5, 12]), {}],
      [x([2, 7, 12]), {}],
      [x([2, 7, 12]), { causal: true, weights: true }],
      [x([5, 12]), { weights: 'mean' }],
      [x([3, 5, 12]), { maskFill: -1, validLens: [5, 1, 0], scores: 'masked' }],
      [x([2, 30, 12]), { train: true, dropout: { p: 0.3, seed: 1 } }],
      [x([1, 0, 12]), {}],
    ];
    const values = ({ output, weights, scores }) => [output, weights, scores].map((tensor) => tensor?.copy());
    const expected = calls.map(([query, options]) => hl.scope(() => values(make().forward(query, options))));
    const layer = make();
    for (let i = 0; i < 3 * calls.length; i++) {
      const [query, options] = calls[(i * 3) % calls.length];
      for (const wrong of [
        [3, 5, 11],
        [2, 5, 12],
        [4, 12],
        [3, 1, 5, 12],
      ])
        assert.throws(() => layer.forward(x([3, 5, 12]), x(wrong), x([3, 5, 12]), options), { code: 'SHAPE' });
      assert.throws(() => layer.forward(query, { ...options, scale: NaN }), { code: 'ARGUMENT' });
      hl.scope(() => assert.deepEqual(values(layer.forward(query, options)), expected[(i * 3) % calls.length]));
    }
    layer.dispose();
  }),
);

test(
  'grouped heads, other widths and biases equal projections and attention in float64',
  everywhere((hl) => {
    const [B, T, S, H, G, D, C] = [2, 5, 7, 6, 2, 3, 10];
    for (const outProjection of [true, false]) {
      const layer = hl.multiHeadAttention({
        embedDim: C,
        numHeads: H,
        kvHeads: G,
        headDim: D,
        queryDim: 4,
        keyDim: 5,
        valueDim: 9,
        outProjection,
        seed: 2,
      });
      for (const [i, tensor] of Object.values(layer.parameters).entries()) tensor.data.set(numbers(tensor.size, i + 1));
      const p = Object.fromEntries(Object.entries(layer.parameters).map(([name, tensor]) => [name, tensor.copy()]));
      const inputs = [x([B, T, 4], 1), x([B, S, 5], 2), x([B, S, 9], 3)];
      const linear = ({ data, shape: [b, n, c] }, w, bias, out) => ({
        data: Float64Array.from({ length: b * n * out }, (_, i) => {
          const [r, j] = [Math.floor(i / out), i % out];
          let sum = bias[j];
          for (let k = 0; k < c; k++) sum += data[r * c + k] * w[j * c + k];
          return sum;
        }),
        shape: [b, n, out],
      });
      const split = ({ data, shape: [b, n, c] }, heads) => ({
        data: data.map((_, i) => {
          const [d, r, h, z] = [
            i % (c / heads),
            Math.floor(i / (c / heads)) % n,
            Math.floor(i / (c / heads) / n) % heads,
            Math.floor(i / n / c),
          ];
          return data[(z * n + r) * c + h * (c / heads) + d];
        }),
        shape: [b, heads, n, c / heads],
      });
      const heads = reference(
        split(linear(inputs[0], p.wq, p.bq, H * D), H),
        split(linear(inputs[1], p.wk, p.bk, G * D), G),
        split(linear(inputs[2], p.wv, p.bv, G * D), G),
        { causal: true },
      );
      const joined = {
        data: Float64Array.from({ length: B * T * H * D }, (_, i) => {
          const [d, h, t, b] = [i % D, Math.floor(i / D) % H, Math.floor(i / D / H) % T, Math.floor(i / D / H / T)];
          return heads.output[((b * H + h) * T + t) * D + d];
        }),
        shape: [B, T, H * D],
      };
      const expected = outProjection ? linear(joined, p.wo, p.bo, C).data : joined.data;
      const { output, weights } = layer.forward(...inputs, { causal: true, weights: true });
      assert.ok(difference(output.data, expected) < 1e-6);
      assert.ok(difference(weights.data, heads.weights) < 1e-6);
      assert.deepEqual(output.shape, [B, T, outProjection ? C : H * D]);
    }
  }),
);

test(
  'key defaults to query and value to key; options may come early; (T,C) stays (T,C)',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
    const [q, k] = [x([2, 3, 8], 1), x([2, 5, 8], 2)];
    const same = (a, b) => assert.deepEqual(a.output.copy(), b.output.copy());
    same(layer.forward(q), layer.forward(q, q, q));
    same(layer.forward(q, k), layer.forward(q, k, k, {}));
    same(layer.forward(q, { causal: true }), layer.forward(q, q, q, { causal: true }));
    same(layer.forward(q, k, { validLens: [1, 4] }), layer.forward(q, k, k, { validLens: [1, 4] }));
    same(layer.forward(q, undefined, undefined, { causal: true }), layer.forward(q, { causal: true }));
    const flat = layer.forward({ data: q.data.subarray(0, 24), shape: [3, 8] }, { weights: true });
    assert.deepEqual(flat.output.shape, [3, 8]);
    assert.deepEqual(flat.weights.shape, [1, 2, 3, 3]);
    assert.deepEqual(
      flat.output.copy(),
      layer.forward(q, { weights: true }).output.copy().subarray(0, 24),
      'a sequence has the same bits alone and in a batch',
    );
  }),
);

test(
  'decoding with a cache gives the results of the whole sequence',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 12, numHeads: 4, kvHeads: 2, seed: 3, biasKV: true });
    const all = x([2, 6, 12]);
    const rows = (from, to) => ({
      data: Float32Array.from(
        { length: 2 * (to - from) * 12 },
        (_, i) => all.data[(Math.floor(i / ((to - from) * 12)) * 6 + from) * 12 + (i % ((to - from) * 12))],
      ),
      shape: [2, to - from, 12],
    });
    const whole = layer.forward(all, { causal: true }).output.copy();
    let past = { pastKey: hl.zeros([2, 2, 0, 3]), pastValue: hl.zeros([2, 2, 0, 3]) };
    for (const [from, to] of [
      [0, 3],
      [3, 4],
      [4, 6],
    ]) {
      const { output, presentKey, presentValue } = layer.forward(rows(from, to), { causal: true, ...past });
      const expected = Float32Array.from(
        { length: output.size },
        (_, i) => whole[(Math.floor(i / ((to - from) * 12)) * 6 + from) * 12 + (i % ((to - from) * 12))],
      );
      assert.ok(difference(output.data, expected) < 1e-6);
      past = { pastKey: presentKey, pastValue: presentValue };
    }
    assert.deepEqual(past.pastKey.shape, [2, 2, 6, 3]);
  }),
);

test(
  'a layer written and read in any layout, which is detected by its names, gives the same output',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 12, numHeads: 3, seed: 5 });
    for (const name of ['bq', 'bk', 'bv', 'bo']) layer.parameters[name].data.set(numbers(12, 9));
    const input = x([1, 4, 12]);
    const expected = layer.forward(input).output.copy();
    const names = {
      headlight: ['wq', 'wk', 'wv', 'wo', 'bq', 'bk', 'bv', 'bo'],
      torch: ['in_proj_weight', 'in_proj_bias', 'out_proj.weight', 'out_proj.bias'],
      d2l: ['W_q', 'W_k', 'W_v', 'W_o'].flatMap((n) => [`${n}.weight`, `${n}.bias`]),
      keras: ['wq', 'wk', 'wv', 'w'].flatMap((n) => [`${n}.kernel`, `${n}.bias`]),
      'keras-layer': ['query', 'key', 'value', 'attention_output'].flatMap((n) => [`${n}.kernel`, `${n}.bias`]),
      bert: ['query', 'key', 'value', 'dense'].flatMap((n) => [`${n}.weight`, `${n}.bias`]),
      linear: ['q_linear', 'k_linear', 'v_linear', 'out'].flatMap((n) => [`${n}.weight`, `${n}.bias`]),
    };
    for (const [layout, expectedNames] of Object.entries(names)) {
      const state = layer.stateDict(layout);
      assert.deepEqual(Object.keys(state).sort(), [...expectedNames].sort());
      const through = readSafetensors(writeSafetensors(state)).tensors;
      const other = hl.multiHeadAttention({ embedDim: 12, numHeads: 3, seed: 6 });
      assert.equal(other.loadStateDict(through), other);
      assert.deepEqual(other.forward(input).output.copy(), expected, layout);
    }
    const { 'wq.kernel': kernel } = layer.stateDict('keras');
    assert.equal(kernel.data[1], layer.parameters.wq.data[12]);
    assert.deepEqual(layer.stateDict('keras-layer')['query.kernel'].shape, [12, 3, 4]);
    assert.deepEqual(layer.stateDict('keras-layer')['attention_output.kernel'].shape, [3, 4, 12]);
  }),
);

test(
  'layouts of (in, out) support matrices that are not square',
  everywhere((hl) => {
    const options = { embedDim: 6, numHeads: 4, kvHeads: 2, headDim: 5, queryDim: 3, keyDim: 7, valueDim: 2 };
    const layer = hl.multiHeadAttention({ ...options, seed: 5 });
    const weights = layer.stateDict();
    for (const layout of ['keras', 'keras-layer']) {
      const other = hl.multiHeadAttention({ ...options, seed: 6 }).loadStateDict(layer.stateDict(layout));
      assert.deepEqual(other.stateDict(), weights, layout);
    }
    const { data, shape } = layer.stateDict('keras')['wk.kernel'];
    assert.deepEqual(shape, [7, 10]);
    data.forEach((x, i) => assert.equal(x, weights.wk.data[(i % 10) * 7 + Math.floor(i / 10)]));
  }),
);

test('an invalid state dict changes nothing', () => {
  const layer = hl.multiHeadAttention({ embedDim: 4, numHeads: 2, seed: 1 });
  const before = layer.stateDict();
  const bad = { ...layer.stateDict('d2l'), 'W_o.bias': x([5]) };
  for (const entry of Object.values(bad)) entry.data.fill(7);
  assert.throws(() => layer.loadStateDict(bad), { code: 'SHAPE', parameter: 'W_o.bias' });
  assert.deepEqual(layer.stateDict(), before);
  layer.dispose();
});

test('initial weights are Xavier uniform by the seed, and biases are 0', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => hl.multiHeadAttention({ embedDim: 64, numHeads: 4, seed }));
  assert.deepEqual(a.stateDict(), b.stateDict());
  assert.notDeepEqual(a.parameters.wq.copy(), c.parameters.wq.copy());
  const limit = Math.sqrt(6 / 128);
  const { data } = a.parameters.wq;
  assert.ok(data.every((w) => Math.abs(w) <= limit) && Math.max(...data) > 0.95 * limit);
  assert.ok(a.parameters.bq.data.every((w) => w === 0));
  for (const layer of [a, b, c]) layer.dispose();
});

test(
  'the next forward uses parameters that were loaded after the previous one',
  everywhere((hl) => {
    const [layer, other] = [1, 2].map((seed) => hl.multiHeadAttention({ embedDim: 16, numHeads: 4, seed }));
    const x = hl.uniform([1, 5, 16], { seed: 3 });
    layer.forward(x);
    layer.loadStateDict(other.stateDict());
    assert.deepEqual(layer.forward(x).output.copy(), other.forward(x).output.copy());
  }),
);
