// Checks that every access to a disposed object throws an error, so that it neither reads nor overwrites memory of
// another object.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';

const hl = await load();
const DISPOSED = { code: 'DISPOSED' };

/** Allocates tensors in the memory that was just freed, and returns a check that they have not changed. */
function occupy(sizes) {
  const tensors = sizes.map((size) => hl.zeros([size]));
  for (const tensor of tensors) tensor.data.fill(7);
  return () => {
    for (const tensor of tensors)
      assert.ok(
        tensor.data.every((x) => x === 7),
        'written by a disposed layer',
      );
    for (const tensor of tensors) tensor.dispose();
  };
}

const LAYERS = {
  multiHeadAttention: () => hl.multiHeadAttention({ embedDim: 8, numHeads: 2 }),
  linear: () => hl.linear({ in: 8, out: 8 }),
  embedding: () => hl.embedding({ count: 8, width: 8, context: 4 }),
  layerNorm: () => hl.layerNorm({ width: 64 }),
};

for (const [name, make] of Object.entries(LAYERS)) {
  test(`zeroGrad of a disposed ${name} is refused and does not change tensors that use its memory now`, () => {
    const layer = make();
    const sizes = Object.values(layer.gradients).flatMap(({ size }) => [size, size]);
    layer.dispose();
    const unharmed = occupy(sizes);
    assert.throws(() => layer.zeroGrad(), { ...DISPOSED, message: /^zeroGrad: / });
    unharmed();
  });
}

test('stateDict and loadStateDict of a disposed layer are refused', () => {
  const layer = LAYERS.multiHeadAttention();
  const state = layer.stateDict();
  const sizes = Object.values(layer.parameters).flatMap(({ size }) => [size, size]);
  layer.dispose();
  const unharmed = occupy(sizes);
  assert.throws(() => layer.loadStateDict(state), { ...DISPOSED, message: /^loadStateDict: parameters\.wq \[8,8\]/ });
  assert.throws(() => layer.loadStateDict(layer.parameters), DISPOSED);
  assert.throws(() => layer.stateDict(), { ...DISPOSED, message: /^stateDict: parameters\.wq/ });
  assert.throws(() => layer.stateDict('torch'), DISPOSED);
  assert.throws(() => layer.forward([[1, 2, 3, 4, 5, 6, 7, 8]]), DISPOSED);
  assert.throws(() => layer.quantize(), DISPOSED);
  assert.throws(() => layer.gradients, DISPOSED);
  assert.throws(() => layer.zeroGrad(), DISPOSED);
  unharmed();
});

test('save and loadStateDict of a disposed model are refused', () => {
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 5, context: 4 });
  const state = model.stateDict();
  const sizes = Object.values(model.parameters).map(({ size }) => size);
  model.dispose();
  const unharmed = occupy(sizes);
  for (const use of ['save', 'stateDict', 'zeroGrad']) assert.throws(() => model[use](), DISPOSED, use);
  assert.throws(() => model.loadStateDict(state), DISPOSED);
  assert.throws(() => model.forward([1, 2]), DISPOSED);
  unharmed();
});

test('if one parameter of a model has been disposed of, no parameter is written', () => {
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 5, context: 4 });
  const state = model.stateDict();
  const { 'embedding.table': table, 'head.weight': head } = model.parameters;
  const gradient = model.gradients['embedding.table'];
  gradient.data.fill(3);
  const before = table.copy();
  for (const entry of Object.values(state)) entry.data.fill(9);
  head.dispose();
  assert.throws(() => model.loadStateDict(state), DISPOSED);
  assert.throws(() => model.zeroGrad(), DISPOSED);
  assert.throws(() => model.forward([1, 2]), DISPOSED);
  assert.deepEqual(table.copy(), before);
  assert.ok(gradient.data.every((x) => x === 3));
  model.dispose();
});

test('disposed gradients are not clipped, and disposed parameters are not updated', () => {
  const [gradient, other] = [hl.tensor([3, 4]), hl.tensor([30, 40])];
  const layer = LAYERS.linear();
  const optimizer = hl.sgd([layer]);
  gradient.dispose();
  assert.throws(() => hl.clipGradients({ other, gradient }, 1), { ...DISPOSED, message: /^clipGradients: .*gradient/ });
  assert.deepEqual(other.toArray(), [30, 40]);
  layer.dispose();
  assert.throws(() => optimizer.step(), DISPOSED);
  assert.throws(() => hl.clipGradients([layer], 1), DISPOSED);
  optimizer.dispose();
  other.dispose();
});

test('tensors and layers of a disposed instance are refused, too', async () => {
  const gone = await load();
  const tensor = gone.tensor([1, 2]);
  const layer = gone.multiHeadAttention({ embedDim: 4, numHeads: 1 });
  const linear = gone.linear({ in: 2, out: 2 });
  gone.dispose();
  const uses = [
    () => tensor.data,
    () => tensor.copy(),
    () => tensor.toArray(),
    () => layer.stateDict(),
    () => layer.zeroGrad(),
    () => layer.gradients,
    () => linear.zeroGrad(),
    () => linear.forward([[1, 2]]),
    () => gone.zeros([1]),
    () => hl.tensor(tensor),
  ];
  for (const use of uses) assert.throws(use, DISPOSED, String(use));
  tensor.dispose();
  layer.dispose();
});

test('a tensor that is disposed of while arguments are read is not used', () => {
  const layer = LAYERS.multiHeadAttention();
  const [query, bias, out] = [hl.zeros([1, 2, 8]), hl.zeros([2, 2]), hl.zeros([1, 2, 8])];
  /** Returns an array with a getter that disposes of an object. */
  const trap = (victim) => ({
    shape: [1, 2],
    get data() {
      victim.dispose();
      return [1, 1];
    },
  });
  assert.throws(() => layer.forward(query, { bias: hl.tensor(bias), keyPadding: trap(query) }), DISPOSED);
  const fresh = hl.zeros([1, 2, 8]);
  assert.throws(() => layer.forward(fresh, { bias, keyPadding: trap(bias) }), DISPOSED);
  assert.throws(() => layer.forward(fresh, { out, keyPadding: trap(out) }), DISPOSED);
  assert.throws(() => layer.forward(fresh, { keyPadding: trap(layer.parameters.bo) }), DISPOSED);
  assert.throws(() => layer.forward(fresh, { keyPadding: trap(layer) }), DISPOSED);
  const doomed = hl.attention(fresh, fresh, fresh, { train: true });
  const dOutput = {
    shape: [1, 2, 8],
    get data() {
      doomed.dispose();
      return new Float32Array(16);
    },
  };
  assert.throws(() => doomed.backward(dOutput), { code: 'STATE' });
  fresh.dispose();
});
