import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { refuses } from '../../support/refuses.js';

const golden = JSON.parse(readFileSync(new URL('../../golden/layers.json', import.meta.url), 'utf8'));

test(
  '20 steps of SGD, Adam and AdamW give the parameters of PyTorch',
  everywhere((hl) => {
    for (const { name, options, first, last } of golden.optimizers) {
      const w = hl.tensor(golden.start);
      const optimizer = hl[name]({ w }, options);
      golden.gradients.forEach((gradient, i) => {
        optimizer.step({ w: gradient });
        if (i === 0) assert.ok(difference(w.data, first) < 1e-6, name);
      });
      assert.ok(difference(w.data, last) < 3e-6, `${name} ${JSON.stringify(options)}`);
    }
  }),
);

test(
  'gradients are clipped by their total norm, like in PyTorch; if it is not finite they are unchanged',
  everywhere((hl) => {
    const { gradients, maxNorm, norm, clipped } = golden.clip;
    const tensors = { a: hl.tensor(gradients.a), b: hl.tensor(gradients.b) };
    assert.ok(Math.abs(hl.clipGradients(tensors, maxNorm) - norm) < 1e-6);
    for (const name of ['a', 'b']) assert.ok(difference(tensors[name].data, clipped[name].flat()) < 1e-6);
    const before = tensors.a.copy();
    assert.ok(hl.clipGradients(tensors, 10) < 1);
    assert.deepEqual(tensors.a.copy(), before);
    tensors.b.data[0] = NaN;
    assert.ok(Number.isNaN(hl.clipGradients(tensors, 0.1)));
    assert.deepEqual(tensors.a.copy(), before);
  }),
);

test('the learning rate may change between steps; parameters without a gradient are unchanged', () => {
  hl.scope(() => {
    const [a, b] = [hl.tensor([1, 2]), hl.tensor([3])];
    const optimizer = hl.sgd({ a, b }, { lr: 1 });
    optimizer.step({ a: [1, 1] });
    optimizer.lr = 0.5;
    optimizer.step({ a: [1, 1] });
    assert.deepEqual([...a.data, ...b.data], [-0.5, 0.5, 3]);
  });
});

test(
  'an optimizer of layers uses their gradients, and the loss decreases',
  everywhere((hl) => {
    const labels = [0, 1, 2, 3, 4, 3, 2, 1];
    for (const [name, options] of [
      ['sgd', { lr: 1, momentum: 0.9, nesterov: true }],
      ['adam', { lr: 0.05 }],
      ['adamW', { lr: 0.05 }],
    ]) {
      const layers = [hl.embedding({ count: 5, width: 5, seed: 3 }), hl.layerNorm({ width: 5 })];
      const optimizer = hl[name](layers, options);
      const losses = Array.from({ length: 40 }, () =>
        hl.scope(() => {
          for (const layer of layers) layer.zeroGrad();
          const { loss, dLogits } = hl.crossEntropy(
            layers.reduce((x, layer) => layer.forward(x), labels),
            labels,
          );
          layers.reduceRight((gradient, layer) => layer.backward(gradient), dLogits);
          optimizer.step();
          return loss;
        }),
      );
      assert.ok(losses.at(-1) < losses[0] / 4, `${name}: ${losses[0]}, then ${losses.at(-1)}`);
    }
  }),
);

test('a multi-head layer uses the parameters of a step, even if memory grows in between', () => {
  hl.scope(() => {
    for (const grow of [false, true]) {
      const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, seed: 1 });
      const x = hl.randn([3, 8], { seed: 2 });
      const before = layer.forward(x).output.copy();
      const optimizer = hl.sgd({ wv: layer.parameters.wv }, { lr: 1 });
      optimizer.step({ wv: { data: new Float32Array(64).fill(0.5), shape: [8, 8] } });
      if (grow) hl.zeros([hl.info.memory.reserved / 4]);
      const after = layer.forward(x).output.copy();
      const expected = hl
        .multiHeadAttention({ embedDim: 8, numHeads: 2 })
        .loadStateDict(layer.stateDict())
        .forward(x)
        .output.copy();
      assert.notDeepEqual(after, before);
      assert.deepEqual(after, expected);
    }
  });
});

test('optimizers refuse invalid arguments before anything is written', () => {
  hl.scope(() => {
    const [a, b] = [hl.tensor([1, 2]), hl.tensor([3])];
    const before = hl.info.memory.used;
    refuses(() => hl.sgd([a]), 'ARGUMENT', 'layers[0].parameters', /expected an object of named tensors/);
    refuses(() => hl.sgd(a), 'ARGUMENT', 'parameters', /an object of named tensors, or a list of layers/);
    refuses(() => hl.sgd({ a: [1, 2] }), 'ARGUMENT', 'parameters.a', /expected a Tensor/);
    refuses(() => hl.sgd({ a }, { nesterov: true }), 'ARGUMENT', 'momentum', /more than 0 for nesterov/);
    refuses(() => hl.adam({ a }, { lr: -1 }), 'ARGUMENT', 'lr', { got: -1 });
    refuses(() => hl.adamW({ a }, { betas: [0.9, 1] }), 'ARGUMENT', 'betas[1]', /less than 1/);
    refuses(() => hl.adamW({ a }, { momentum: 1 }), 'ARGUMENT', 'momentum');
    refuses(() => hl.clipGradients({ a }, -1), 'ARGUMENT', 'maxNorm', { got: -1 });
    assert.equal(hl.info.memory.used, before);
    const optimizer = hl.sgd({ a, b }, { lr: 1 });
    refuses(() => optimizer.step(), 'ARGUMENT', 'gradients', /an object of gradients/);
    refuses(() => optimizer.step({ a: [1, 1], c: [1] }), 'ARGUMENT', 'c', /there is no parameter 'c', expected a, b/);
    refuses(() => optimizer.step({ a: [1, 1], b: [1, 2] }), 'SHAPE', 'gradient of parameters.b', /expected \[1\]/);
    optimizer.lr = NaN;
    refuses(() => optimizer.step({ a: [1, 1] }), 'ARGUMENT', 'lr', /lr is NaN/);
    assert.deepEqual([...a.data, ...b.data], [1, 2, 3]);
    const layers = hl.adam([hl.gelu()]);
    refuses(() => layers.step({}), 'ARGUMENT', 'gradients', /layers have their own gradients/);
    optimizer.dispose();
    optimizer.lr = 1;
    refuses(() => optimizer.step({ a: [1, 1] }), 'DISPOSED', 'parameters.a', /disposed/);
  });
});

test('an optimizer with the loaded state of another one continues with the same bits', () => {
  hl.scope(() => {
    const makers = [
      (tensors) => hl.adamW(tensors, { lr: 0.01 }),
      (tensors) => hl.adam(tensors, { lr: 0.01, weightDecay: 0.1 }),
      (tensors) => hl.sgd(tensors, { lr: 0.01, momentum: 0.9 }),
    ];
    const gradients = [1, 2, 3].map((seed) => ({
      a: hl.randn([2, 3], { seed }),
      b: hl.randn([4], { seed: seed + 9 }),
    }));
    for (const make of makers) {
      const [first, other] = [5, 6].map((seed) => ({ a: hl.randn([2, 3], { seed }), b: hl.randn([4], { seed }) }));
      const optimizer = make(first);
      optimizer.step(gradients[0]);
      // Steps only one parameter, because each parameter has its own number of steps.
      optimizer.step({ a: gradients[1].a });
      const state = optimizer.stateDict();
      const next = make({ a: hl.tensor(first.a), b: hl.tensor(first.b) });
      const same = make(other);
      assert.equal(same.loadStateDict(state), same);
      assert.deepEqual(same.stateDict(), state);
      for (const name of ['a', 'b']) other[name].data.set(first[name].data);
      optimizer.step(gradients[2]);
      same.step(gradients[2]);
      for (const name of ['a', 'b']) assert.deepEqual(other[name].copy(), first[name].copy());
      assert.deepEqual(same.stateDict(), optimizer.stateDict());
      assert.notDeepEqual(next.stateDict(), state);
    }
  });
});

test('the state of an optimizer is checked before anything is written', () => {
  hl.scope(() => {
    const optimizer = hl.adamW({ a: hl.zeros([1, 2]) });
    const state = optimizer.stateDict();
    assert.deepEqual(Object.keys(state), ['parameters.a.mean', 'parameters.a.square', 'parameters.a.steps']);
    const ones = { data: Float32Array.of(1, 1), shape: [1, 2] };
    const refusesState = (change, code, parameter, message) =>
      refuses(
        () => optimizer.loadStateDict({ ...state, 'parameters.a.mean': ones, ...change }),
        code,
        parameter,
        message,
      );
    const steps = 'parameters.a.steps';
    refusesState({ [steps]: { data: [0.5], shape: [] } }, 'ARGUMENT', steps, { got: 0.5 });
    refusesState({ [steps]: { data: [1, 2], shape: [2] } }, 'SHAPE', steps, /has shape \[2\], expected \[\]/);
    refusesState({ other: ones }, 'ARGUMENT', 'other');
    const mean = { 'parameters.a.mean': { data: [1], shape: [1, 1] } };
    refusesState(mean, 'SHAPE', 'parameters.a.mean', { got: [1, 1] });
    refuses(() => optimizer.loadStateDict({}), 'ARGUMENT', 'parameters.a.mean', /loadStateDict: missing/);
    refuses(() => optimizer.loadStateDict(5), 'ARGUMENT', 'dict', { got: 5 });
    assert.deepEqual(optimizer.stateDict(), state);
    optimizer.dispose();
    refuses(() => optimizer.stateDict(), 'DISPOSED', 'parameters.a', /disposed/);
  });
});
