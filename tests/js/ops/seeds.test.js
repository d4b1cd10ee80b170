// Tests the layers of five tutorials: the output and gradients must equal those that PyTorch computed with the code of
// the tutorials in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  difference,
  expectedGradients,
  gradientDifference,
  gradientState,
  readPack,
  sampled,
} from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';

const TOLERANCE = 1e-5;
/**
 * Tolerance for a tutorial that adds −10000 to scores. Float32 then rounds scores to multiples of 0.001 before the
 * softmax, in the tutorial too.
 */
const COARSE = 2e-3;

/**
 * Returns the parameters of a tutorial: the tensors of a case that are neither inputs, indices nor the gradient of the
 * output.
 */
const parameters = (c, inputs) =>
  Object.fromEntries(
    Object.entries(c.inputs).filter(
      ([name]) => !inputs.includes(name) && !name.startsWith('index.') && name !== 'grad_output',
    ),
  );

/**
 * Functions by tutorial, which return the result of forward and a function that computes all gradients, by the names in
 * the tutorial.
 */
const tutorials = {
  dot(hl, c) {
    const { query, keys, values } = c.inputs;
    const result = hl.attention(query, keys, values, { weights: true, train: true });
    return [
      result,
      (dOutput) => {
        const { dQuery, dKey, dValue } = result.backward(dOutput);
        return { query: dQuery.data, keys: dKey.data, values: dValue.data };
      },
    ];
  },

  mha(hl, c) {
    const { queries, keys, values } = c.inputs;
    const [embedDim, numHeads] = [c.attributes.num_hiddens, c.attributes.num_heads];
    const layer = hl.multiHeadAttention({
      embedDim,
      numHeads,
      bias: false,
      queryDim: queries.shape[2],
      keyDim: keys.shape[2],
      valueDim: values.shape[2],
    });
    layer.loadStateDict(parameters(c, ['queries', 'keys', 'values']));
    return train(hl, layer, 'd2l', { queries, keys, values }, { weights: true });
  },

  bert(hl, c) {
    const { hidden_states, attention_mask: mask } = c.inputs;
    const layer = hl.multiHeadAttention({
      embedDim: c.attributes.hidden_size,
      numHeads: c.attributes.num_attention_heads,
      outProjection: false,
    });
    layer.loadStateDict(parameters(c, ['hidden_states', 'attention_mask']), 'bert');
    const [B, S] = mask.shape;
    const bias = { data: Float32Array.from(mask.data, (m) => (1 - m) * -10000), shape: [B, 1, 1, S] };
    return train(hl, layer, 'bert', { hidden_states }, { bias, weights: true });
  },

  d2l(hl, c) {
    const { queries, keys, values, valid_lens: validLens } = c.inputs;
    const { num_hiddens: embedDim, num_heads: numHeads, bias, variant } = c.attributes;
    const layer = hl.multiHeadAttention({
      embedDim,
      numHeads,
      bias,
      queryDim: queries.shape[2],
      keyDim: keys.shape[2],
      valueDim: values.shape[2],
    });
    const state = parameters(c, ['queries', 'keys', 'values', 'valid_lens']);
    // The code of the tutorial uses W_q also for keys and values, so the gradient of W_q is the sum of three gradients.
    const shared = variant === 'as_written' ? Object.keys(state).filter((name) => /^W_[kv]/.test(name)) : [];
    for (const name of shared) state[name] = state[name.replace(/^W_[kv]/, 'W_q')];
    layer.loadStateDict(state, 'd2l');
    const [result, backward] = train(
      hl,
      layer,
      'd2l',
      { queries, keys, values },
      { validLens, maskFill: -1e6, weights: true },
    );
    return [
      result,
      (dOutput) => {
        const gradients = backward(dOutput);
        for (const name of shared)
          gradients[name].forEach((x, i) => (gradients[name.replace(/^W_[kv]/, 'W_q')][i] += x));
        return gradients;
      },
    ];
  },

  keras(hl, c) {
    const { q, k, v } = c.inputs;
    const layer = hl.multiHeadAttention({
      embedDim: c.attributes.d_model,
      numHeads: c.attributes.num_heads,
      queryDim: q.shape[2],
      keyDim: k.shape[2],
      valueDim: v.shape[2],
    });
    layer.loadStateDict(parameters(c, ['q', 'k', 'v']));
    return train(hl, layer, 'keras', { q, k, v });
  },

  tr(hl, c) {
    const { q, k, v, mask } = c.inputs;
    const layer = hl.multiHeadAttention({ embedDim: c.attributes.d_model, numHeads: c.attributes.heads });
    layer.loadStateDict(parameters(c, ['q', 'k', 'v', 'mask']));
    return train(hl, layer, 'linear', { q, k, v }, { mask, maskFill: -1e9, weights: true });
  },
};

/**
 * Runs forward in training mode. Returns the result, and a function that returns the gradients by the names of the
 * inputs and of the layout.
 */
function train(hl, layer, layout, inputs, options = {}) {
  const result = layer.forward(...Object.values(inputs), { ...options, train: true });
  return [
    result,
    (dOutput) => {
      const { dQuery, dKey, dValue } = layer.backward(dOutput);
      const given = Object.keys(inputs).map((name, i) => [name, [dQuery, dKey, dValue][i].data]);
      return { ...Object.fromEntries(given), ...gradientState(hl, layer, layout) };
    },
  ];
}

for (const c of readPack('seeds')) {
  const kind = c.name.split('_')[1];
  test(
    `${c.name} gives the results of the tutorial's code`,
    everywhere((hl) => {
      const [result, backward] = tutorials[kind](hl, c);
      const limit = c.features.includes('float32-rounding') ? COARSE : TOLERANCE;
      const found = { output: difference(sampled(result.output.data, c, 'output'), c.outputs64.output.data) };
      if (c.outputs64.weights) found.weights = difference(result.weights.data, c.outputs64.weights.data);
      const gradients = expectedGradients(c);
      if (Object.keys(gradients).length > 0) {
        const { shape, size } = result.output;
        const dOutput =
          c.attributes.loss === 'mean(output)'
            ? { data: new Float32Array(size).fill(1 / size), shape }
            : c.inputs.grad_output;
        found['a gradient'] = gradientDifference(backward(dOutput), gradients);
      }
      for (const [name, d] of Object.entries(found))
        assert.ok(d <= limit, `${name} differs by ${d} of the largest value`);
    }),
  );
}

test("dot-product attention prints the tutorial's [[18, 19, 20, 21]]", () => {
  const ones = { data: new Float32Array(40).fill(1), shape: [2, 10, 2] };
  const values = { data: Float32Array.from({ length: 80 }, (_, i) => i % 40), shape: [2, 10, 4] };
  const { output } = hl.attention(hl.randn([2, 1, 2], { seed: 5 }), ones, values);
  assert.deepEqual(output.toArray(), [[[18, 19, 20, 21]], [[18, 19, 20, 21]]]);
});

test('the multi-head layers have the shapes that the tutorials print', () => {
  const x = { data: new Float32Array(800).fill(1), shape: [2, 4, 100] };
  const y = { data: new Float32Array(1200).fill(1), shape: [2, 6, 100] };
  const layer = hl.multiHeadAttention({ embedDim: 100, numHeads: 5, bias: false });
  assert.deepEqual(layer.forward(x, y, y, { validLens: [3, 2] }).output.shape, [2, 4, 100]);
  const self = hl.multiHeadAttention({ embedDim: 128, numHeads: 4 });
  assert.deepEqual(self.forward(hl.uniform([2, 5, 128], { seed: 1 })).output.shape, [2, 5, 128]);
});
