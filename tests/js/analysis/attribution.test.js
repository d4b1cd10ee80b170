// Tests direct logit attribution and the logit lens, on a transformer in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { attribution, logitLens } from 'headlight-attention/analysis';
import { plainModel } from '../../support/plain_model.js';

const IDS = [
  [1, 5, 2, 7],
  [3, 3, 8, 0],
];
const capturesOf = ({ options: { mlp, cross } }) => [
  'embed',
  'blocks.*.heads',
  ...(mlp > 0 ? ['blocks.*.mlp'] : []),
  ...(cross ? ['blocks.*.cross.heads'] : []),
];
const near = (actual, expected, what) =>
  assert.ok(
    Math.abs(actual - expected) < 1e-5 * Math.max(1, Math.abs(expected)),
    `${what}: ${actual}, not ${expected}`,
  );
const total = ({ embed, heads, cross, mlps, bias }) =>
  [embed, bias, ...heads.data, ...(cross?.data ?? []), ...mlps.data].reduce((a, x) => a + x, 0);

const MODELS = {
  'with layer norm': {},
  'with RMS norm': { norm: 'rms' },
  'without norm': { norm: 'none' },
  'without biases': { bias: false },
  'of three layers with grouped heads': { layers: 3, kvHeads: 1 },
  'of no layers': { layers: 0 },
  'without feed-forward': { mlp: 0 },
  'with parallel attention and feed-forward': { normPlace: 'parallel' },
  'with norms before and after attention and feed-forward': { normPlace: 'both', norm: 'rms' },
  'that scales what it adds': { residualScale: 0.3, cross: true },
  'that scales what it adds after a norm': { residualScale: 0.3, normPlace: 'both' },
  'with norms of outputs': { normPlace: 'outputs', norm: 'rms' },
  'with norms after each sum': { normPlace: 'after' },
  'with norms that replace the residual stream': { normPlace: 'stream' },
  'with tied embeddings, scaled': { tied: true, logitScale: 0.3 },
  'with a narrower embedding and head': { embedDim: 4, tied: true },
  'with a softcap of the logits': { logitSoftcap: 2 },
  'with attention to an encoder': { cross: true },
  'with norms after each sum and attention to an encoder': { cross: true, normPlace: 'after' },
  'with norms that replace the residual stream and attention to an encoder': { cross: true, normPlace: 'stream' },
};

for (const [name, options] of Object.entries(MODELS))
  test(`the contributions sum to every logit of a model ${name}`, () => {
    const model = plainModel(options);
    const result = model.forward(IDS, { capture: capturesOf(model) });
    const { data } = result.logits;
    const logit = (batch, token, label) => data[(batch * 4 + token) * model.options.vocab + label];
    for (const batch of [0, 1])
      for (let token = 0; token < 4; token++)
        for (let label = 0; label < model.options.vocab; label++) {
          const parts = attribution(model, result, { batch, token, label });
          near(total(parts), logit(batch, token, label), `${batch}, ${token}, ${label}`);
          near(parts.sum, logit(batch, token, label), 'sum');
        }
    const parts = attribution(model, result, { label: 2, against: 6 });
    near(total(parts), logit(0, 3, 2) - logit(0, 3, 6), 'the difference of two logits at the last token');
    assert.deepEqual(parts.heads.shape, [model.options.layers, 2]);
    assert.deepEqual(parts.mlps.shape, [model.options.layers]);
  });

test('the contributions sum to the logits of a classification head on the first token', () => {
  for (const pooler of ['none', 'linear']) {
    const model = plainModel({ head: 'pooled', pool: 'first', pooler });
    const result = model.forward(IDS, { capture: capturesOf(model) });
    for (let label = 0; label < 9; label++)
      near(total(attribution(model, result, { batch: 1, label })), result.logits.data[9 + label], label);
  }
});

test('changes by edits count among the biases if outputs are captured', () => {
  for (const normPlace of ['before', 'after', 'both', 'parallel', 'stream', 'outputs']) {
    const model = plainModel({ normPlace });
    const set = { data: Float32Array.from({ length: 48 }, (_, i) => Math.sin(i)), shape: [2, 4, 6] };
    const edit = [{ at: 'blocks.0.attention', set }];
    const result = model.forward(IDS, { capture: [...capturesOf(model), 'blocks.*.out'], edit });
    for (let label = 0; label < 9; label++)
      near(total(attribution(model, result, { label, batch: 1 })), result.logits.data[63 + label], label);
  }
});

test('without a norm, setting a head or feed-forward of the last block to zero removes its contribution', () => {
  for (const [part, options] of [
    ['heads', { norm: 'none', mlp: 0 }],
    ['mlp', { norm: 'none' }],
  ]) {
    const model = plainModel(options);
    const whole = model.forward(IDS, { capture: capturesOf(model) });
    const { heads, mlps } = attribution(model, whole, { label: 4 });
    const at = `blocks.1.${part}`;
    for (const head of part === 'heads' ? [0, 1] : [undefined]) {
      const shape = part === 'heads' ? [2, 2, 4, 3] : [2, 4, 6];
      const set = { data: new Float32Array(48), shape };
      const without = model.forward(IDS, { edit: [{ at, head, set }] });
      const row = 3 * 9 + 4;
      const missing = whole.logits.data[row] - without.logits.data[row];
      near(part === 'heads' ? heads.data[2 + head] : mlps.data[1], missing, `${part} ${head}`);
    }
  }
});

test('models with a nonlinear head and results without the captured values are rejected', () => {
  const model = plainModel({});
  const result = model.forward(IDS, { capture: capturesOf(model) });
  const refused = (options, parts) => {
    const other = { ...model, options: { ...model.options, ...options } };
    assert.throws(() => attribution(other, result, { label: 0 }), parts);
    assert.throws(() => logitLens(other, result), parts);
  };
  refused({ head: 'none' }, { code: 'ARGUMENT', parameter: 'model', message: /no head/ });
  refused({ headTransform: 'norm' }, { code: 'ARGUMENT', parameter: 'model', message: /activation/ });
  refused({ head: 'pooled', pooler: 'tanh' }, { code: 'ARGUMENT', parameter: 'model', message: /pooler/ });
  refused({ head: 'pooled', pool: 'mean' }, { code: 'ARGUMENT', parameter: 'model', message: /mean of all tokens/ });
  const convolved = { ...model, options: { ...model.options, disentangled: { convolution: {} } } };
  assert.throws(() => attribution(convolved, result, { label: 0 }), { parameter: 'model', message: /convolution/ });
  const { 'blocks.1.mlp': _, ...captured } = result.captured;
  assert.throws(() => attribution(model, { captured }, { label: 0 }), {
    code: 'ARGUMENT',
    parameter: 'result',
    message:
      /no captured 'blocks\.1\.mlp', call forward with capture: \['embed', 'blocks\.\*\.heads', 'blocks\.\*\.mlp'\]$/,
  });
  for (const [name, value] of [
    ['label', 9],
    ['label', undefined],
    ['against', -1],
    ['token', 4],
    ['batch', 2],
  ])
    assert.throws(() => attribution(model, result, { label: 0, [name]: value }), { code: 'ARGUMENT', parameter: name });
});

for (const [name, options] of Object.entries(MODELS))
  test(`the last prediction of the logit lens is that of the model, in order of probability: a model ${name}`, () => {
    const model = plainModel(options);
    const { vocab, layers } = model.options;
    const result = model.forward(IDS, { capture: ['embed', 'blocks.*.out'] });
    const lens = logitLens(model, result, { token: [0, -1], batch: 1, top: 3, labels: [5] });
    assert.deepEqual(
      lens.map(({ at }) => at),
      ['embed', ...Array.from({ length: layers }, (_, l) => `blocks.${l}.out`)],
    );
    for (const { token, top, labels } of lens.at(-1).tokens) {
      const logits = [...result.logits.data.subarray((4 + token) * vocab, (5 + token) * vocab)];
      const order = logits.map((_, label) => label).sort((a, b) => logits[b] - logits[a]);
      const sum = logits.reduce((a, x) => a + Math.exp(x), 0);
      assert.deepEqual(
        top.map(({ label }) => label),
        order.slice(0, 3),
      );
      for (const { label, logit, probability, rank } of [...top, ...labels]) {
        near(logit, logits[label], 'logit');
        near(probability, Math.exp(logits[label]) / sum, 'probability');
        assert.equal(order[rank], label);
      }
    }
    assert.deepEqual(
      lens[0].tokens.map(({ token }) => token),
      [0, 3],
    );
  });

test('the logit lens after a block equals the prediction of a model without the later blocks', () => {
  const model = plainModel({ layers: 3 });
  const short = { ...model, options: { ...model.options, layers: 1 } };
  const result = model.forward(IDS, { capture: ['embed', 'blocks.*.out'] });
  const parameters = Object.fromEntries(
    Object.entries(model.parameters).filter(([name]) => !/blocks\.[12]/.test(name)),
  );
  const own = plainModel({ layers: 1 });
  Object.assign(own.parameters, parameters);
  const { logits } = own.forward(IDS);
  const [, first] = logitLens(short, result, { top: 9 });
  for (const { label, logit } of first.tokens[0].top) near(logit, logits.data[27 + label], label);
});
