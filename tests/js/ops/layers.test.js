import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight-attention';
import { difference } from '../../support/golden.js';
import { everywhere, flavours, hl } from '../../support/headlight.js';
import { activation } from '../../support/layers.js';
import { array } from '../../support/problems.js';
import { refuses } from '../../support/refuses.js';

const golden = JSON.parse(readFileSync(new URL('../../golden/layers.json', import.meta.url), 'utf8'));
/** Creates a layer with the parameters of a case. */
const build = (instance, { name, options, parameters }) => {
  const layer = instance[name](options);
  for (const [key, values] of Object.entries(parameters)) layer.parameters[key].data.set(values.flat());
  return layer;
};

test(
  'every layer gives the results of PyTorch, forward and backward, and gradients accumulate',
  everywhere((hl) => {
    for (const example of golden.layers) {
      const layer = build(hl, example);
      assert.deepEqual(Object.keys(layer.gradients), Object.keys(example.gradients));
      const output = layer.forward(example.x);
      assert.ok(difference(output.data, example.output.flat(9)) < 1e-6, example.name);
      for (const times of [1, 2]) {
        const dx = layer.backward(example.dOutput);
        if (example.dx) assert.ok(difference(dx.data, example.dx.flat(9)) < 1e-6, `${example.name} dx`);
        for (const [name, expected] of Object.entries(example.gradients)) {
          assert.ok(
            difference(
              layer.gradients[name].data,
              expected.flat(9).map((g) => g * times),
            ) < 1e-6,
            `${example.name} ${name}`,
          );
        }
      }
      layer.zeroGrad();
      for (const gradient of Object.values(layer.gradients)) assert.ok(gradient.data.every((g) => g === 0));
      layer.dispose();
    }
  }),
);

test('a layer copies its input for backward: the input may then change or be disposed of', () => {
  hl.scope(() => {
    for (const example of golden.layers.filter(({ dx }) => dx)) {
      const layer = build(hl, example);
      const x = hl.tensor(example.x);
      layer.forward(x);
      x.data.fill(9);
      x.dispose();
      assert.ok(difference(layer.backward(example.dOutput).data, example.dx.flat()) < 1e-6);
    }
  });
});

test('the state that forward saves is freed by the next forward, by dispose, and at the end of a scope', () => {
  const used = () => hl.info.memory.used;
  const start = used();
  const layer = hl.layerNorm({ width: 64 });
  const made = used();
  layer.forward(hl.zeros([100, 64])).dispose();
  const once = used();
  hl.scope(() => void layer.forward(hl.zeros([100, 64])));
  assert.ok(used() < once);
  refuses(
    () => layer.backward(new Float32Array(6400)),
    'STATE',
    undefined,
    /no forward in training before it, or the scope of that forward has ended/,
  );
  assert.ok(used() > made, 'the zeros of the first call are still allocated');
  layer.dispose();
  layer.dispose();
  assert.ok(used() - start <= 100 * 64 * 4 + 128);
});

test('an embedding accepts one sequence or a batch, any form of labels, and an offset', () => {
  hl.scope(() => {
    const layer = hl.embedding({ count: 5, width: 3, context: 4, seed: 1 });
    const [table, position] = [layer.parameters.table.toArray(), layer.parameters.position.toArray()];
    const row = (label, at) => table[label].map((x, c) => Math.fround(x + position[at][c]));
    assert.deepEqual(layer.forward([2, 0]).toArray(), [row(2, 0), row(0, 1)]);
    assert.deepEqual(layer.forward(Uint8Array.of(2, 0), { offset: 2 }).toArray(), [row(2, 2), row(0, 3)]);
    assert.deepEqual(layer.forward(hl.tensor([[4], [1]])).toArray(), [[row(4, 0)], [row(1, 0)]]);
    assert.deepEqual(layer.forward(new BigInt64Array(0)).shape, [0, 3]);
    assert.equal(layer.backward({ data: [], shape: [0, 3] }), undefined);
    const again = hl.embedding({ count: 5, width: 3, context: 4, seed: 1 });
    assert.deepEqual(again.parameters.table.copy(), layer.parameters.table.copy());
    assert.deepEqual(Object.keys(hl.embedding({ count: 2, width: 2 }).parameters), ['table']);
  });
});

test(
  'a block of these layers and attention learns to predict the token two positions before',
  everywhere((hl) => {
    const [count, width, context] = [5, 16, 12];
    const attention = hl.multiHeadAttention({ embedDim: width, numHeads: 2, seed: 1 });
    const [embedding, first, second, up, gelu, down, head] = [
      hl.embedding({ count, width, context, seed: 2 }),
      hl.layerNorm({ width }),
      hl.rmsNorm({ width }),
      hl.linear({ in: width, out: 32, seed: 3 }),
      hl.gelu(),
      hl.linear({ in: 32, out: width, seed: 4 }),
      hl.linear({ in: width, out: count, bias: false, seed: 5 }),
    ];
    const layers = [attention, embedding, first, second, up, gelu, down, head];
    const optimizer = hl.adamW(layers, { lr: 0.02 });
    const labels = [
      [0, 3, 1, 4, 4, 2, 0, 1, 3, 3, 2, 0],
      [4, 1, 0, 0, 2, 3, 1, 4, 2, 1, 0, 3],
    ];
    const target = labels.map((row) => row.map((_, t) => (t < 2 ? -100 : row[t - 2])));
    let last;
    for (let step = 0; step < 120; step++) {
      last = hl.scope(() => {
        for (const layer of layers) layer.zeroGrad();
        const x = embedding.forward(labels);
        const a = hl.add(x, attention.forward(first.forward(x), { causal: true, train: true }).output);
        const b = hl.add(a, down.forward(gelu.forward(up.forward(second.forward(a)))));
        const { loss, dLogits, correct, counted } = hl.crossEntropy(head.forward(b), target);
        const dB = head.backward(dLogits);
        const dA = hl.add(dB, second.backward(up.backward(gelu.backward(down.backward(dB)))));
        embedding.backward(hl.add(dA, first.backward(attention.backward(dA).dQuery)));
        hl.clipGradients(layers, 1);
        optimizer.step();
        return { loss, correct, counted };
      });
    }
    assert.ok(last.loss < 0.1, `the loss is ${last.loss}`);
    assert.deepEqual([last.correct, last.counted], [20, 20]);
  }),
);

test('layers refuse invalid arguments by name, and leak no memory', () => {
  hl.scope(() => {
    const [embedding, norm, gelu] = [
      hl.embedding({ count: 3, width: 2, context: 2 }),
      hl.layerNorm({ width: 4 }),
      hl.gelu(),
    ];
    const before = hl.info.memory.used;
    refuses(
      () => hl.embedding({ count: 0, width: 2 }),
      'ARGUMENT',
      'count',
      /embedding: count is 0, expected an integer of at least 1/,
    );
    refuses(() => hl.embedding({ count: 2, width: 2, size: 3 }), 'ARGUMENT', 'size');
    refuses(() => embedding.forward([0, 3]), 'ARGUMENT', 'ids[1]', { got: 3 });
    refuses(() => embedding.forward([0.5]), 'ARGUMENT', 'ids[0]', { got: 0.5 });
    refuses(() => embedding.forward([0, 1, 2]), 'SHAPE', 'ids', /rows of at most 2 ids, because the context is 2/);
    refuses(() => embedding.forward([0, 1], { offset: 1 }), 'SHAPE', 'ids', /at most 1 ids/);
    refuses(() => embedding.forward([[[0]]]), 'SHAPE', 'ids', /expected \(T\) or \(B,T\)/);
    refuses(() => embedding.backward([[1, 2]]), 'STATE', undefined, /there is no forward/);
    refuses(() => norm.forward([[1, 2, 3]]), 'SHAPE', 'x', /x has shape \[1,3\], expected \(…,4\)/);
    refuses(() => hl.rmsNorm({ width: 4, eps: -1 }), 'ARGUMENT', 'eps', { got: -1 });
    refuses(() => hl.gelu({ approximate: 'sigmoid' }), 'ARGUMENT', 'approximate', /'none' or 'tanh'/);
    refuses(() => hl.add([1, 2], [1]), 'SHAPE', 'b', /add: b has shape \[1\], expected \[2\]/);
    assert.equal(hl.info.memory.used, before);
    gelu.forward([1, 2]);
    refuses(() => gelu.backward([1]), 'SHAPE', 'dOutput', /dOutput has shape \[1\], expected \[2\]/);
    norm.parameters.weight.dispose();
    refuses(() => norm.forward([1, 2, 3, 4]), 'DISPOSED', 'parameters.weight', /has been disposed/);
  });
});

for (const {
  info: { simd },
} of flavours) {
  test(`layers, loss and optimisers give the same bits with 1, 2, 3 and 4 threads, ${simd}`, async () => {
    const train = (hl) => {
      const [rows, width, classes] = [700, 96, 211];
      const labels = Int32Array.from({ length: rows }, (_, i) => (i * i) % classes);
      const layers = [
        hl.embedding({ count: classes, width, context: rows }),
        hl.layerNorm({ width }),
        hl.gelu(),
        hl.rmsNorm({ width, bias: true }),
      ];
      const optimizer = hl.adamW(layers, { lr: 0.01 });
      const results = [];
      for (let step = 0; step < 2; step++) {
        const passed = layers.reduce((x, layer) => layer.forward(x), labels);
        const residual = hl.add(passed, hl.randn([rows, width], { seed: step }));
        const { loss, dLogits } = hl.crossEntropy(
          residual,
          labels.map((label) => label % width),
          { labelSmoothing: 0.1 },
        );
        layers.reduceRight((gradient, layer) => layer.backward(gradient), dLogits);
        results.push(loss, hl.clipGradients(layers, 0.01), residual.copy());
        optimizer.step();
      }
      return [
        ...results,
        ...layers.flatMap(({ parameters, gradients }) =>
          [...Object.values(parameters), ...Object.values(gradients)].map((x) => x.copy()),
        ),
      ];
    };
    const instances = await Promise.all([1, 2, 3, 4].map((threads) => load({ threads, simd })));
    const [alone, ...others] = instances.map((hl) => hl.scope(() => train(hl)));
    for (const result of others) assert.deepEqual(result, alone);
    for (const hl of instances) hl.dispose();
  });
}

const KINDS = {
  gelu: 'GELU',
  'gelu-tanh': 'GELU_TANH',
  'quick-gelu': 'QUICK_GELU',
  relu: 'RELU',
  silu: 'SILU',
  tanh: 'TANH',
};

test(
  'activations of every kind, gated or not, equal float64, and their gradients equal central differences',
  everywhere((hl) => {
    const [x, up, dOutput] = [array([3, 7], 1, 3), array([3, 7], 2), array([3, 7], 3)];
    for (const [kind, name] of Object.entries(KINDS)) {
      const fn = activation[name];
      const slope = (at) => (fn(at + 1e-5) - fn(at - 1e-5)) / 2e-5;
      const layer = hl.activation({ kind });
      assert.deepEqual(layer.options, { kind, gated: false });
      assert.ok(difference(layer.forward(x).data, x.data.map(fn)) < 1e-6, kind);
      const dx = dOutput.data.map((d, i) => d * slope(x.data[i]));
      assert.ok(difference(layer.backward(dOutput).data, dx) < 1e-6, `${kind} backward`);
      const gated = hl.activation({ kind, gated: true });
      assert.ok(
        difference(
          gated.forward(x, up).data,
          x.data.map((value, i) => fn(value) * up.data[i]),
        ) < 1e-6,
        `${kind} gated`,
      );
      const { dGate, dUp } = gated.backward(dOutput);
      assert.ok(
        difference(
          dGate.data,
          dx.map((d, i) => d * up.data[i]),
        ) < 1e-6,
      );
      assert.ok(
        difference(
          dUp.data,
          dOutput.data.map((d, i) => d * fn(x.data[i])),
        ) < 1e-6,
      );
    }
    refuses(() => hl.activation({ kind: 'sigmoid' }), 'ARGUMENT', 'kind', /'gelu', .* or 'tanh'/);
    refuses(() => hl.activation({}), 'ARGUMENT', 'kind', /'gelu'/);
    refuses(() => hl.activation({ kind: 'relu', gated: 1 }), 'ARGUMENT', 'gated', /true or false/);
    const gated = hl.activation({ kind: 'silu', gated: true });
    refuses(() => gated.forward([1, 2], [1]), 'SHAPE', 'up', /\[1\], expected \[2\]/);
  }),
);

test(
  'a forward without training has the same bits, saves nothing, and allows no backward',
  everywhere((hl) => {
    const x = hl.tensor(array([50, 64], 1));
    const layers = [
      [hl.linear({ in: 64, out: 8 }), [x]],
      [hl.layerNorm({ width: 64 }), [x]],
      [hl.rmsNorm({ width: 64 }), [x]],
      [hl.gelu(), [x]],
      [hl.activation({ kind: 'silu' }), [x]],
      [hl.activation({ kind: 'silu', gated: true }), [x, x]],
      [hl.embedding({ count: 9, width: 64 }), [[1, 2, 3]]],
    ];
    for (const [layer, inputs] of layers) {
      const expected = layer.forward(...inputs).copy();
      const run = (...options) => {
        const before = hl.info.memory.used;
        const output = layer.forward(...inputs, ...options);
        const more = hl.info.memory.used - before;
        assert.deepEqual(output.copy(), expected);
        assert.ok(more <= output.size * 4 + 128, `${more} bytes for ${output.size} numbers`);
        assert.throws(() => layer.backward(new Float32Array(1)), { code: 'STATE', message: /no forward in training/ });
        output.dispose();
      };
      run({ train: false });
      layer.eval();
      run();
      layer.forward(...inputs, { train: true });
      layer.backward({
        data: new Float32Array(expected.length),
        shape: layer.forward(...inputs, { train: true }).shape,
      });
      assert.equal(layer.train(), layer);
      layer.backward({ data: new Float32Array(expected.length), shape: layer.forward(...inputs).shape });
      refuses(() => layer.forward(...inputs, { train: 1 }), 'ARGUMENT', 'train', /true or false/);
      refuses(() => layer.forward(...inputs, { keep: true }), 'ARGUMENT', 'keep');
      refuses(() => layer.train('yes'), 'ARGUMENT', 'on', /true or false/);
    }
  }),
);

test(
  'the state of a layer can have its names or those of PyTorch; otherwise nothing is changed',
  everywhere((hl) => {
    const linear = hl.linear({ in: 3, out: 2, seed: 1 });
    const state = linear.stateDict();
    assert.deepEqual(Object.keys(state), ['weight', 'bias']);
    const other = hl.linear({ in: 3, out: 2, seed: 2 });
    assert.equal(other.loadStateDict(state), other);
    assert.deepEqual(other.stateDict(), state);
    const table = array([4, 3], 5);
    assert.deepEqual(
      hl.embedding({ count: 4, width: 3 }).loadStateDict({ weight: table }).parameters.table.copy(),
      table.data,
    );
    refuses(() => other.loadStateDict({ weight: array([2, 3]) }), 'ARGUMENT', 'bias');
    refuses(() => other.loadStateDict({ weight: array([3, 2]), bias: [0, 0] }), 'SHAPE', 'weight', /\[2,3\]/);
    refuses(() => other.loadStateDict({ ...state, gain: [1] }), 'ARGUMENT', 'gain');
    assert.deepEqual(other.stateDict(), state);
    assert.deepEqual(hl.gelu().stateDict(), {});
  }),
);

test(
  'the mean squared error and its gradient, of any shape',
  everywhere((hl) => {
    for (const shape of [[7], [3, 5], [1, 1], []]) {
      const [x, y] = [array(shape, 1), array(shape, 2)];
      const { loss, dPrediction } = hl.meanSquaredError(x, y);
      const off = Array.from(x.data, (value, i) => value - y.data[i]);
      const expected = off.reduce((total, e) => total + e * e, 0) / off.length;
      assert.ok(Math.abs(loss - expected) < 1e-6 * expected, `${loss}`);
      assert.deepEqual(dPrediction.shape, shape);
      assert.ok(
        difference(
          dPrediction.data,
          off.map((e) => (2 * e) / off.length),
        ) < 1e-6,
      );
    }
    assert.equal(hl.meanSquaredError([], []).loss, 0);
    refuses(() => hl.meanSquaredError([1, 2], [1]), 'SHAPE', 'target', /\[1\], expected \[2\]/);
  }),
);
