import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { FORMS, SMALL, taskOf } from '../../support/forms.js';
import { everywhere, hl, someFlavours } from '../../support/headlight.js';

const SEED = 7;
console.log(`seed ${SEED}`);

/** Builds a model with random parameters, because zeros and ones would hide mistakes. */
function build(hl, form) {
  const model = hl.transformer({ ...SMALL, ...form });
  const random = uniformSource(SEED);
  for (const { data } of Object.values(model.parameters))
    data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
  return model;
}

const namesOf = ({ options }) => [
  'embed',
  'blocks.*.*',
  ...(options.encoder ? ['encoder.embed', 'encoder.blocks.*.*', 'encoder.final'] : []),
  'final',
  'logits',
];
const dot = (a, b) => a.reduce((sum, x, i) => sum + (b[i] === 0 ? 0 : x * b[i]), 0);
const norm = (x) => Math.sqrt(dot(x, x));

/** Returns a metric: the sum of all logits, each times a random factor. */
function randomMetric(seed = SEED) {
  const factorsOf = ({ size }) => {
    const random = uniformSource(seed);
    return Float32Array.from({ length: size }, () => random() - 0.5);
  };
  const metric = ({ logits }) => dot(logits.data, factorsOf(logits));
  metric.gradient = ({ logits }) => ({ data: factorsOf(logits), shape: logits.shape });
  return metric;
}

/** Computes the slope of f at 0 by central differences with four points. */
const slopeOf = (f, h) => (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);

/**
 * Compares the gradients of all values with central differences. The direction of the steps is the sum of a random
 * direction and the direction of the gradient.
 */
function compare(hl, model, given, { of, measure, at, edit = [] }) {
  const result = model.differentiate(given, { of, at, edit });
  const gradients = Object.entries(result.gradients).map(([name, x]) => [name, x.copy(), x.shape]);
  assert.deepEqual(Object.keys(result.captured), Object.keys(result.gradients));
  result.dispose();
  const most = Math.max(...gradients.map(([, data]) => norm(data)));
  const random = uniformSource(SEED + 1);
  for (const [name, gradient, shape] of gradients) {
    const [length, other] = [norm(gradient), Float32Array.from(gradient, () => random() - 0.5)];
    const direction = other.map((x, i) => x / norm(other) + (length === 0 ? 0 : gradient[i] / length));
    const valueAt = (step) => {
      const add = { data: direction.map((x) => x * step), shape };
      const result = model.forward(given, {
        edit: [...edit, { at: name, add }],
        capture: typeof of === 'function' ? [] : Object.keys(of),
      });
      const value = measure(result);
      result.dispose();
      return value;
    };
    const expected = dot(gradient, direction);
    // Small steps have rounding errors. Large steps have errors by curvature, and by the kink of a ReLU.
    const slopes = [];
    const isSlope = (step) => {
      slopes.push(slopeOf(valueAt, step));
      return Math.abs(slopes.at(-1) - expected) < 3e-4 * most + 3e-3 * length;
    };
    assert.ok(
      [0.002, 0.006, 0.0005].some(isSlope),
      `${hl.info.simd}: ${name}: ${expected}, by differences ${slopes}, the largest ${most}`,
    );
  }
}

for (const [name, form] of Object.entries(FORMS))
  test(`${name}: the gradient of every value equals central differences`, () => {
    for (const hl of someFlavours) {
      const before = hl.info.memory.used;
      const model = build(hl, form);
      const { given } = taskOf({ ...SMALL, ...form });
      const metric = randomMetric();
      compare(hl, model, given, { of: metric, measure: metric, at: namesOf(model) });
      const inputs = ['query', 'key', 'value', 'mlp'].map((part) => `blocks.*.${part}.in`);
      compare(hl, model, given, { of: metric, measure: metric, at: ['embed', ...inputs] });
      model.dispose();
      assert.equal(hl.info.memory.used, before);
    }
  });

const EDITS = {
  'a set head': [{ at: 'blocks.0.heads', head: 1, token: [1, 2], set: 'zero' }],
  'a scaled value and an addend': [{ at: 'blocks.*.mlp', token: 1, scale: 0.5, add: [1, 2, 3, 4, 5, 6, 7, 8] }],
  'a mean of rows': [{ at: 'blocks.0.out', token: [0, 2], set: 'mean', scale: 2 }],
  'a mean of queries': [{ at: 'blocks.1.query', head: 0, set: 'mean' }],
  'a mean of scores': [{ at: 'blocks.0.scores', head: 0, token: [1, 3], set: 'mean', scale: 3 }],
  'a temperature': [{ at: 'blocks.*.scores', head: 1, temperature: 0.5, scale: 2, add: [1, 0, 0, 1, 0] }],
  'a shown key': [{ at: 'blocks.0.scores', mask: 'none' }],
  'masks in turn': [
    { at: 'blocks.*.scores', scale: 0.5 },
    { at: 'blocks.*.scores', mask: [1, 0, 1, 1, 1] },
    { at: 'blocks.*.scores', head: 1, mask: 'none', window: [2, 1], set: 'mean' },
    { at: 'blocks.*.scores', head: 0, mask: 'none', temperature: 2 },
  ],
  'edited weights': [
    { at: 'blocks.0.weights', head: 0, token: 3, scale: 2 },
    { at: 'blocks.1.weights', set: 'mean' },
  ],
  'edited keys and values': [
    { at: 'blocks.*.key', scale: 0.5 },
    { at: 'blocks.*.value', head: 0, add: [1, 2, 3, 4] },
  ],
  'edited logits': [{ at: 'logits', token: 1, scale: 3 }],
};
for (const [name, edit] of Object.entries(EDITS))
  for (const form of ['GPT-2', 'Gemma 2'])
    test(`${form}: with ${name}, the gradients are those of the edited values`, () => {
      const before = hl.info.memory.used;
      const model = build(hl, FORMS[form]);
      const { given } = taskOf(SMALL);
      const metric = randomMetric();
      for (const at of [namesOf(model), ['embed'], ['blocks.0.scores'], ['blocks.*.heads']])
        compare(hl, model, given, { of: metric, measure: metric, at, edit });
      model.dispose();
      assert.equal(hl.info.memory.used, before);
    });

test('the sum of cotangents times values is differentiated, also up to the middle of a model', () => {
  for (const form of ['GPT-2', 'encoder and decoder', 'sinks']) {
    const model = build(hl, FORMS[form]);
    const { given } = taskOf({ ...SMALL, ...FORMS[form] });
    const { captured } = model.forward(given, { capture: ['blocks.0.*', 'blocks.1.*', 'final', 'logits'] });
    for (const names of [
      ['blocks.0.out'],
      ['blocks.0.weights', 'blocks.1.query'],
      ['final'],
      ['logits', 'blocks.1.scores'],
    ]) {
      const random = uniformSource(SEED);
      const of = Object.fromEntries(
        names.map((name) => {
          const { size, shape } = captured[name];
          return [name, { data: Float32Array.from({ length: size }, () => random() - 0.5), shape }];
        }),
      );
      // The scores −∞ of masked keys are omitted, because −∞ · 0 is NaN.
      const finite = (x) => Float32Array.from(x.data, (value) => (value === -Infinity ? 0 : value));
      const measure = (result) =>
        names.reduce((sum, name) => sum + dot(of[name].data, finite(result.captured[name])), 0);
      compare(hl, model, given, { of, measure, at: ['embed', 'blocks.0.*', ...names] });
    }
  }
});

test('a cotangent broadcasts to the shape of its value', () => {
  const model = build(hl, FORMS['GPT-2']);
  const { captured, gradients } = model.differentiate([1, 2, 3], {
    of: { 'blocks.1.out': [0, 1, 0, 0, 0, 0, 0, 0] },
    at: ['blocks.1.out'],
  });
  assert.deepEqual(captured['blocks.1.out'].shape, [1, 3, 8]);
  assert.deepEqual(gradients['blocks.1.out'].toArray(), [[1, 2, 3].map(() => [0, 1, 0, 0, 0, 0, 0, 0])]);
});

test('a value that the metric does not depend on has a gradient of zeros', () => {
  const model = build(hl, FORMS['GPT-2']);
  const { gradients } = model.differentiate([1, 2, 3], { of: { 'blocks.0.out': [1] }, at: ['blocks.*.out', 'final'] });
  assert.ok(gradients['blocks.0.out'].data.every((x) => x === 1));
  assert.ok(gradients['blocks.1.out'].data.every((x) => x === 0));
  assert.ok(gradients.final.data.every((x) => x === 0));
});

test('gradients pass straight through a block as if it added a constant', () => {
  for (const form of ['GPT-2', 'Gemma 2', 'norms that replace the residual stream', 'ModernBERT']) {
    const model = build(hl, { ...FORMS[form], layers: 3, window: undefined });
    const { given } = taskOf(SMALL);
    const of = randomMetric();
    const at = ['embed', 'blocks.*.*'];
    const { gradients, captured } = model.differentiate(given, { of, at, straight: 1 });
    assert.deepEqual(gradients['blocks.1.in'].data, gradients['blocks.1.out'].data);
    const inside = Object.keys(gradients).filter((name) => /^blocks\.1\.(?!in$|out$)/.test(name));
    assert.ok(inside.length > 8);
    for (const name of inside)
      assert.ok(
        gradients[name].data.every((x) => x === 0),
        name,
      );
    // The expected gradients are those of a model whose block 1 only adds a constant to its input.
    const [input, output] = [captured['blocks.1.in'].data, captured['blocks.1.out'].data];
    const added = { data: output.map((x, i) => x - input[i]), shape: captured['blocks.1.in'].shape };
    compare(hl, model, given, {
      of: { 'blocks.0.out': { data: gradients['blocks.1.in'].data.slice(), shape: added.shape } },
      measure: ({ captured: { 'blocks.0.out': x } }) => dot(gradients['blocks.1.in'].data, x.data),
      at: ['embed'],
    });
    const pulled = model.differentiate(given, {
      of: { 'blocks.0.out': { data: gradients['blocks.1.out'].data.slice(), shape: added.shape } },
      at: ['embed', 'blocks.0.*'],
    });
    for (const [name, { data }] of Object.entries(pulled.gradients)) assert.deepEqual(data, gradients[name].data, name);
  }
});

test('values and gradients are those of a batch or of one sequence', () => {
  const model = build(hl, FORMS.Llama);
  const of = randomMetric();
  const one = model.differentiate([1, 2, 3, 4], { of, at: ['embed'] });
  const batch = model.differentiate([[1, 2, 3, 4]], { of, at: ['embed'] });
  assert.deepEqual(one.logits.shape, [4, 7]);
  assert.deepEqual(batch.logits.shape, [1, 4, 7]);
  assert.deepEqual(one.gradients.embed.shape, [1, 4, 8]);
  assert.deepEqual(one.gradients.embed.data, batch.gradients.embed.data);
  assert.equal(one.value, of(model.forward([1, 2, 3, 4])));
});

test(
  'gradients of parameters stay unchanged, and no dropout is applied',
  everywhere((hl) => {
    const model = build(hl, { ...FORMS['Gemma 2'], dropout: 0.5 });
    const { given, targets } = taskOf(SMALL);
    model.learn(given, targets);
    const before = Object.entries(model.gradients).map(([name, x]) => [name, x.copy()]);
    const of = randomMetric();
    const plain = model.forward(given);
    const { value, logits } = model.differentiate(given, { of, at: ['embed'] });
    assert.equal(value, of(plain));
    assert.deepEqual(logits.data, plain.logits.data);
    for (const [name, x] of before) assert.deepEqual(model.gradients[name].data, x, name);
    model.dispose();
  }),
);

test('a pending backward is not disturbed', () => {
  const model = build(hl, FORMS['GPT-2']);
  const { given } = taskOf(SMALL);
  const { logits } = model.forward(given, { train: true });
  const dLogits = { data: logits.copy(), shape: logits.shape };
  model.differentiate(given, { of: randomMetric(), at: ['embed'] }).dispose();
  model.backward({ dLogits });
  const after = model.gradients['blocks.0.attention.wq'].copy();
  model.zeroGrad();
  model.forward(given, { train: true });
  model.backward({ dLogits });
  assert.deepEqual(model.gradients['blocks.0.attention.wq'].data, after);
});

test('everything is freed after an error', () => {
  const model = build(hl, FORMS['GPT-2']);
  const before = hl.info.memory.used;
  const metric = randomMetric();
  const fails = () => {
    throw new Error('mine');
  };
  const shaped = Object.assign(() => 1, { gradient: () => [[1]] });
  const wrong = [
    [{ of: Object.assign(fails, { gradient: metric.gradient }), at: ['embed'] }, { message: 'mine' }],
    [{ of: Object.assign((result) => metric(result), { gradient: fails }), at: ['embed'] }, { message: 'mine' }],
    [
      { of: shaped, at: ['embed'] },
      { code: 'SHAPE', parameter: 'of.gradient' },
    ],
    [{ of: metric, at: ['embed'], edit: [{ at: 'blocks.1.out', add: [1, 2] }] }, { code: 'SHAPE' }],
    [
      { of: { 'blocks.1.out': [1, 2] }, at: ['embed'] },
      { code: 'SHAPE', parameter: 'of.blocks.1.out' },
    ],
    [
      { of: () => 1, at: ['embed'] },
      { code: 'ARGUMENT', parameter: 'of' },
    ],
    [
      { of: 3, at: ['embed'] },
      { code: 'ARGUMENT', parameter: 'of' },
    ],
    [
      { of: { 'blocks.*.out': [1] }, at: ['embed'] },
      { code: 'ARGUMENT', parameter: 'of' },
    ],
    [
      { of: { 'blocks.1.mlp': [1] }, at: ['embed'], straight: 1 },
      { code: 'ARGUMENT', parameter: 'of' },
    ],
    [
      { of: { nothing: [1] }, at: ['embed'] },
      { code: 'ARGUMENT', parameter: 'of' },
    ],
    [
      { of: metric, at: ['embed', 'nothing'] },
      { code: 'ARGUMENT', parameter: 'at[1]' },
    ],
    [
      { of: metric, at: 'embed' },
      { code: 'ARGUMENT', parameter: 'at' },
    ],
    [{ of: metric }, { code: 'ARGUMENT', parameter: 'at' }],
    [
      { of: metric, at: [], straight: 2 },
      { code: 'ARGUMENT', parameter: 'straight' },
    ],
    [
      { of: metric, at: [], other: 2 },
      { code: 'ARGUMENT', parameter: 'other' },
    ],
  ];
  for (const [options, expected] of wrong) {
    assert.throws(() => model.differentiate([1, 2, 3], options), expected);
    assert.equal(hl.info.memory.used, before);
  }
});

test('a model without logits, or without the value, has no such gradient', () => {
  const headless = build(hl, { head: 'none' });
  assert.throws(() => headless.differentiate([1], { of: randomMetric(), at: ['embed'] }), {
    code: 'ARGUMENT',
    parameter: 'of',
    message: /no logits/,
  });
  const shallow = build(hl, { mlp: 0 });
  assert.throws(() => shallow.differentiate([1], { of: { 'blocks.0.mlp': [1] }, at: ['embed'] }), {
    code: 'ARGUMENT',
    parameter: 'of',
  });
});

test('a model with int8 weights is refused', () => {
  const model = build(hl, FORMS.Llama);
  model.quantize();
  assert.throws(() => model.differentiate([1], { of: randomMetric(), at: ['embed'] }), {
    code: 'STATE',
    message: /int8/,
  });
});

test('unbatched ids train the parameters', () => {
  const [one, batch] = [build(hl, FORMS['GPT-2']), build(hl, FORMS['GPT-2'])];
  one.learn([0, 3, 1], [3, 1, 2]);
  batch.learn([[0, 3, 1]], [[3, 1, 2]]);
  for (const [name, { data }] of Object.entries(batch.gradients))
    assert.deepEqual(one.gradients[name].data, data, name);
  assert.ok(norm(one.gradients['blocks.0.attention.wq'].data) > 0);
});
