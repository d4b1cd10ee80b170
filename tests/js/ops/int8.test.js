// Tests the error of quantized weights, and that everything else in the layer is unchanged.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { difference } from '../../support/golden.js';
import { everywhere } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

/** Largest error, relative to the largest value of the output. */
const LIMIT = 0.01;

/** Returns random weights of a layer from a normal distribution with the variance 1 / inputs. */
function normalState(hl, layer, seed) {
  const state = Object.entries(layer.stateDict()).map(([name, { shape, data }], i) => {
    if (shape.length < 2) return [name, { shape, data }];
    const values = hl.randn(shape, { seed: 100 * seed + i });
    return [name, { shape, data: values.data.map((value) => value / Math.sqrt(shape[1])) }];
  });
  return Object.fromEntries(state);
}

test(
  'an int8 layer is within 1% of the float32 layer, with Xavier and with normal weights',
  everywhere((hl) => {
    for (const [shape, options] of [
      [[1, 64, 768], { embedDim: 768, numHeads: 12 }],
      [[2, 10, 512], { embedDim: 512, numHeads: 8 }],
      [[1, 32, 256], { embedDim: 256, numHeads: 4 }],
      [[2, 4, 100], { embedDim: 100, numHeads: 5, bias: false }],
      [[3, 1, 64], { embedDim: 64, numHeads: 4, kvHeads: 2, outProjection: false }],
    ]) {
      for (const weights of ['Xavier', 'normal']) {
        for (let seed = 1; seed <= inTier(8, 1); seed++) {
          const x = hl.randn(shape, { seed: 1000 + seed });
          const plain = hl.multiHeadAttention({ ...options, seed });
          if (weights === 'normal') plain.loadStateDict(normalState(hl, plain, seed));
          const expected = plain.forward(x, { weights: true });
          const result = plain.quantize().forward(x, { weights: true });
          const off = difference(result.output.data, expected.output.data);
          assert.ok(off > 1e-5 && off < LIMIT, `${shape}, ${weights} weights of seed ${seed}: off by ${off}`);
          assert.ok(difference(result.weights.data, expected.weights.data) < 2 * LIMIT);
          for (const one of [x, plain, ...Object.values(expected), ...Object.values(result)]) one?.dispose();
        }
      }
    }
  }),
);

test(
  "quantize() has the same effect as the option weights: 'int8'",
  everywhere((hl) => {
    const x = hl.randn([2, 9, 48], { seed: 1 });
    const made = hl.multiHeadAttention({ embedDim: 48, numHeads: 4, seed: 3, weights: 'int8' });
    const layer = hl.multiHeadAttention({ embedDim: 48, numHeads: 4, seed: 3 });
    const before = layer.forward(x).output.copy();
    assert.equal(layer.options.weights, 'float32');
    assert.equal(layer.quantize(), layer);
    assert.equal(layer.quantize().options.weights, 'int8');
    const after = layer.forward(x).output.copy();
    assert.notDeepEqual(after, before);
    assert.deepEqual(after, made.forward(x).output.copy());
    layer.dispose();
    assert.throws(() => layer.quantize(), { code: 'DISPOSED', message: /parameters\.wq/ });
  }),
);

test(
  'the parameters of an int8 layer stay float32: the initial values, in stateDict, and after changes',
  everywhere((hl) => {
    const x = hl.randn([2, 9, 48], { seed: 1 });
    const plain = hl.multiHeadAttention({ embedDim: 48, numHeads: 4, seed: 3 });
    const int8 = hl
      .multiHeadAttention({ embedDim: 48, numHeads: 4, seed: 8, weights: 'int8' })
      .loadStateDict(plain.stateDict());
    const first = int8.forward(x).output.copy();
    assert.deepEqual(int8.stateDict('torch'), plain.stateDict('torch'));
    int8.parameters.wq.data.fill(0);
    int8.parameters.wv.data.fill(0);
    assert.notDeepEqual(int8.forward(x).output.copy(), first);
    assert.deepEqual(int8.forward(x).output.copy(), new Float32Array(2 * 9 * 48));
  }),
);

test(
  'packed int8 weights take 29% of the memory',
  everywhere((hl) => {
    const taken = (options) => {
      const before = hl.info.memory.used;
      const layer = hl.multiHeadAttention({ embedDim: 256, numHeads: 4, ...options });
      layer.forward(hl.zeros([1, 256]));
      return [hl.info.memory.used - before, layer];
    };
    const parameters = 4 * 256 * 256 * 4;
    const [plain, layer] = taken({});
    const [int8] = taken({ weights: 'int8' });
    assert.ok((int8 - parameters) / (plain - parameters) < 0.29);
    const before = hl.info.memory.used;
    layer.quantize();
    assert.equal(before - hl.info.memory.used, plain - int8);
  }),
);

test('a layer that cannot be quantized for lack of memory is unchanged', async () => {
  const hl = await load({ maxMemory: 2 ** 20 });
  const x = hl.randn([3, 64], { seed: 1 });
  const layer = hl.multiHeadAttention({ embedDim: 64, numHeads: 4 });
  const before = layer.forward(x).output.copy();
  const fill = [];
  for (let size = 2 ** 18; size >= 256; size /= 2) {
    try {
      for (;;) fill.push(hl.zeros([size]));
    } catch (error) {
      assert.equal(error.code, 'OUT_OF_MEMORY');
    }
  }
  const used = hl.info.memory.used;
  assert.throws(() => layer.quantize(), { code: 'OUT_OF_MEMORY' });
  assert.equal(hl.info.memory.used, used);
  assert.equal(layer.options.weights, 'float32');
  for (const tensor of fill) tensor.dispose();
  assert.deepEqual(layer.forward(x).output.copy(), before);
  assert.equal(layer.quantize().options.weights, 'int8');
  hl.dispose();
});
