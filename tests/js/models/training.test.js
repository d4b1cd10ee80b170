// Tests the training of one layer and of whole models against PyTorch: forward, backward and the optimizers.

import assert from 'node:assert/strict';
import test from 'node:test';
import { difference, readPack } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';

const OPTIMIZERS = { SGD: 'sgd', AdamW: 'adamW' };

for (const { name, attributes: a, inputs, outputs64, features } of readPack('training')) {
  test(
    `${name}: losses and trained parameters equal those of PyTorch`,
    everywhere((hl) => {
      const state = Object.fromEntries(
        Object.keys(inputs)
          .filter((key) => /proj/.test(key))
          .map((key) => [key, inputs[key]]),
      );
      const layer = hl
        .multiHeadAttention({ embedDim: a.embed_dim, numHeads: a.num_heads })
        .loadStateDict(state, 'torch');
      const options = {
        lr: a.lr,
        weightDecay: a.weight_decay,
        ...(a.optimizer === 'SGD' ? { momentum: a.momentum } : { betas: a.betas, eps: a.eps }),
      };
      const optimizer = hl[OPTIMIZERS[a.optimizer]]([layer], options);
      const { query, key, value, target, key_padding_mask: padding, attn_mask: mask } = inputs;
      const visible = (hidden) => hidden && { data: Uint8Array.from(hidden.data, (x) => 1 - x), shape: hidden.shape };
      const given = {
        train: true,
        ...(padding && { keyPadding: visible(padding) }),
        ...(mask && { mask: visible(mask) }),
      };
      const losses = Array.from({ length: 51 }, () =>
        hl.scope(() => {
          const output = layer
            .forward(...(features.includes('self') ? [query] : [query, key, value]), given)
            .output.copy();
          const off = output.map((y, i) => y - target.data[i]);
          layer.zeroGrad();
          layer.backward({ data: off.map((d) => (2 * d) / off.length), shape: target.shape });
          const before = layer.stateDict('torch');
          optimizer.step();
          return { loss: off.reduce((sum, d) => sum + d * d, 0) / off.length, before };
        }),
      );
      assert.ok(
        difference(
          losses.map(({ loss }) => loss),
          outputs64.loss.data,
        ) < 1e-6,
      );
      // The key bias is not compared, because its gradient is only rounding errors, which Adam amplifies.
      const width = a.embed_dim;
      for (const part of Object.keys(state)) {
        const parts = [losses[50].before[part].data, outputs64[`after50.${part}`].data].map((data) =>
          Array.from(data).filter((_, i) => part !== 'in_proj_bias' || i < width || i >= 2 * width),
        );
        assert.ok(difference(...parts) < 1e-5, part);
      }
    }),
  );
}

/** Returns a function from a step to the ids and targets of that step. The batches of a case are repeated. */
function batchesOf({ ids, targets }) {
  const [count, batch, length] = ids.shape;
  const size = batch * length;
  return (step) =>
    [ids, targets].map(({ data }) => {
      const at = (step % count) * size;
      return { data: data.slice(at, at + size), shape: [batch, length] };
    });
}

/** Trains and returns the loss of each step. */
function train(model, optimizer, batch, from, to) {
  return Array.from({ length: to - from }, (_, i) => {
    const { loss } = model.zeroGrad().learn(...batch(from + i));
    optimizer.step();
    return loss;
  });
}

const without = (inputs, ...names) =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !names.includes(name)));
const [LLAMA, GPT2] = readPack('transformer-training');

for (const { name, options, adamW: a, inputs, outputs64 } of [LLAMA, GPT2]) {
  test(
    `${name}: the losses of 200 steps of AdamW and the final parameters equal those of PyTorch`,
    everywhere((hl) => {
      const model = hl.transformer(options).loadStateDict(without(inputs, 'ids', 'targets', 'losses32'));
      const optimizer = hl.adamW([model], { lr: a.lr, betas: a.betas, eps: a.eps, weightDecay: a.weight_decay });
      const losses = train(model, optimizer, batchesOf(inputs), 0, 200);
      assert.ok(losses[199] < losses[0] / 10);
      // PyTorch in float32 is off by 3.4e-5 of the largest loss, and by 6.0e-5 of the largest value of a parameter.
      const off = difference(losses, outputs64.losses.data);
      assert.ok(off < 1e-4, `the losses are off by ${off}`);
      for (const [part, { data }] of Object.entries(without(outputs64, 'losses'))) {
        // The gradient of a key bias is only rounding errors, which Adam amplifies.
        if (part.endsWith('.bk')) continue;
        assert.ok(difference(model.parameters[part].data, data) < 2e-4, part);
      }
    }),
  );
}

test('a model that has not been trained yet is saved: its first training is that of the model', () => {
  const batch = batchesOf(GPT2.inputs);
  const model = hl.transformer({ ...GPT2.options, dropout: 0.1 });
  const again = hl.loadTransformer(model.save());
  const [losses, others] = [model, again].map((one) => train(one, hl.adamW([one], { lr: 0.003 }), batch, 0, 3));
  assert.deepEqual(others, losses);
  for (const one of [model, again]) one.dispose();
});

const OPTIMISERS = {
  adamW: (hl, model) => hl.adamW([model], { lr: 0.003 }),
  'sgd with momentum': (hl, model) => hl.sgd([model], { lr: 0.05, momentum: 0.9 }),
};

for (const [kind, make] of Object.entries(OPTIMISERS))
  test(
    `${kind}: training continues bit for bit after model and optimizer are saved and loaded`,
    everywhere((hl) => {
      for (const { options, inputs } of [LLAMA, GPT2]) {
        const batch = batchesOf(inputs);
        const model = hl.transformer({ ...options, dropout: 0.1 });
        const optimizer = make(hl, model);
        train(model, optimizer, batch, 0, 10);
        const [file, state] = [model.save(), optimizer.stateDict()];
        const losses = train(model, optimizer, batch, 10, 25);

        const again = hl.loadTransformer(file);
        const resumed = make(hl, again).loadStateDict(state);
        assert.deepEqual(train(again, resumed, batch, 10, 25), losses);
        assert.deepEqual(again.stateDict(), model.stateDict());
        assert.deepEqual(resumed.stateDict(), optimizer.stateDict());

        // Without the state of the optimizer, the first step is different.
        const fresh = hl.loadTransformer(file);
        assert.notDeepEqual(train(fresh, make(hl, fresh), batch, 10, 12), losses.slice(0, 2));
        for (const made of [model, optimizer, again, resumed, fresh]) made.dispose();
      }
    }),
  );
