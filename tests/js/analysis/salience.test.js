// Tests the salience of tokens.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { logitDifference, salience } from 'headlight-attention/analysis';
import { difference, GOLDEN, readPack } from '../../support/golden.js';
import { build, hl } from '../../support/headlight.js';

const SIZES = { layers: 2, dModel: 8, numHeads: 2, vocab: 11, context: 16, seed: 3 };
const IDS = [1, 4, 2, 9, 3];
const [T, C] = [IDS.length, SIZES.dModel];
const metric = logitDifference(3, 8);
const sumOf = (data) => data.reduce((a, x) => a + x, 0);

for (const { model: folder, options, inputs, outputs } of readPack('lens', join(GOLDEN, 'lens')).filter(
  ({ kind }) => kind === 'salience',
))
  test(`${folder}: each method gives the values of PyTorch`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', folder));
    const ids = [...inputs.ids.data];
    const { label, against, token, steps, padding } = options;
    const measure = logitDifference(label, against, token);
    const isNear = (actual, expected) => assert.ok(difference(actual, expected.data) < 1e-5);
    const gradient = await salience(model, ids, measure);
    isNear(gradient.tokens.data, outputs.gradInput);
    isNear([gradient.value], outputs.value);
    assert.deepEqual(gradient.tokens.shape, [ids.length]);
    assert.deepEqual(Object.keys(gradient), ['value', 'tokens', 'sum']);
    const norm = await salience(model, ids, measure, { method: 'norm' });
    isNear(norm.tokens.data, outputs.gradNorm);
    for (const baseline of ['zero', 'padding'])
      for (const rule of ['right', 'middle']) {
        const given = { method: 'integrated', baseline, rule, steps, padding };
        const result = await salience(model, ids, measure, given);
        isNear(result.tokens.data, outputs[`${baseline}.${rule}`]);
        isNear([result.baseline], outputs[`value_${baseline}`]);
        assert.ok(Math.abs(result.sum - sumOf(result.tokens.data)) < 1e-4);
        assert.equal(result.gap, result.value - result.baseline - result.sum);
      }
    model.dispose();
  });

test('the defaults are the gradient, zeros, 32 steps and the middle of each', async () => {
  const model = build(hl, SIZES);
  assert.deepEqual(await salience(model, IDS, metric), await salience(model, IDS, metric, { method: 'gradient' }));
  const written = { method: 'integrated', baseline: 'zero', steps: 32, rule: 'middle' };
  const seen = [];
  const onProgress = (step) => void seen.push(step);
  const plain = await salience(model, IDS, metric, { method: 'integrated', onProgress });
  assert.deepEqual(plain, await salience(model, IDS, metric, written));
  assert.deepEqual(
    seen,
    Array.from({ length: 32 }, (_, i) => ({ done: i + 1, total: 32 })),
  );
  model.dispose();
});

test('the gap closes as the steps grow, from the embedding of padding and from one of the caller', async () => {
  const model = build(hl, SIZES);
  const method = 'integrated';
  const gapOf = async (options) => {
    const { gap, value, baseline } = await salience(model, IDS, metric, { method, ...options });
    return Math.abs(gap / (value - baseline));
  };
  const data = Float32Array.from({ length: T * C }, (_, i) => Math.cos(i));
  for (const options of [{ baseline: 'padding', padding: 7 }, { baseline: { data, shape: [T, C] } }]) {
    const gaps = [];
    for (const steps of [4, 32]) gaps.push(await gapOf({ ...options, steps }));
    assert.ok(gaps[1] < gaps[0] / 10 && gaps[1] < 0.01, `${gaps}`);
    assert.ok((await gapOf({ ...options, rule: 'right', steps: 32 })) > gaps[1]);
  }
  model.config = { pad_token_id: 7 };
  const [own, given] = [undefined, 7].map((padding) =>
    salience(model, IDS, metric, { method, baseline: 'padding', padding }),
  );
  assert.deepEqual(await own, await given);
  const { tokens } = await salience(model, [7, 4, 7, 7, 2], metric, { method, baseline: 'padding' });
  assert.deepEqual(
    [...tokens.data].map((x) => x !== 0),
    [false, true, false, false, true],
  );
  model.dispose();
});

test('a batch has a row for each sequence, and the metric of one of them gives the others 0', async () => {
  const model = build(hl, SIZES);
  const batch = { data: Int32Array.from([...IDS, 5, 6, 7, 8, 9]), shape: [2, T] };
  const options = { method: 'integrated', steps: 3, baseline: 'padding', padding: 2 };
  const result = await salience(model, { ids: batch }, metric, options);
  const alone = await salience(model, IDS, metric, options);
  assert.deepEqual(result.tokens.shape, [2, T]);
  assert.ok(difference(result.tokens.data.subarray(0, T), alone.tokens.data) < 1e-6);
  assert.ok(result.tokens.data.subarray(T).every((x) => x === 0));
  const start = { data: new Float32Array(T * C).fill(0.5), shape: [T, C] };
  const both = { data: new Float32Array(2 * T * C).fill(0.5), shape: [2, T, C] };
  const from = (baseline) => salience(model, batch, metric, { ...options, baseline });
  assert.deepEqual(await from(start), await from(both));
  model.dispose();
});

test('inputs with token types and classes of a text have salience', async () => {
  const model = build(hl, { ...SIZES, causal: false, tokenTypes: 2, head: 'pooled', pool: 'first', classes: 3 });
  const input = { ids: IDS, typeIds: [0, 0, 1, 1, 1] };
  const classMetric = Object.assign(({ logits }) => logits.data[1], {
    gradient: ({ logits: { shape } }) => ({ data: Float32Array.of(0, 1, 0), shape }),
  });
  const options = { method: 'integrated', baseline: 'padding', padding: 0, steps: 64 };
  const { tokens, gap, value, baseline } = await salience(model, input, classMetric, options);
  assert.deepEqual(tokens.shape, [T]);
  assert.ok(Math.abs(gap) < 0.01 * Math.abs(value - baseline), `${gap} of ${value - baseline}`);
  // The padding baseline replaces only the ids, not the token types.
  const padded = model.forward({ ...input, ids: [0, 0, 0, 0, 0] });
  assert.ok(Math.abs(padded.logits.data[1] - baseline) < 1e-5);
  padded.dispose();
  model.dispose();
});

test('an abort takes effect before the next gradient, and no memory is left behind', async () => {
  const model = build(hl, SIZES);
  model.forward(IDS).dispose();
  const before = hl.info.memory.used;
  const controller = new AbortController();
  const seen = [];
  const onProgress = ({ done }) => {
    seen.push(done);
    if (done === 3) controller.abort();
  };
  const options = { method: 'integrated', onProgress, signal: controller.signal };
  await assert.rejects(salience(model, IDS, metric, options), { name: 'AbortError' });
  await assert.rejects(salience(model, IDS, metric, { signal: controller.signal }), { name: 'AbortError' });
  assert.deepEqual(seen, [1, 2, 3]);
  const failing = async () => Promise.reject(new Error('mine'));
  for (const method of ['gradient', 'norm', 'integrated'])
    await assert.rejects(salience(model, IDS, metric, { method, onProgress: failing }), /mine/);
  assert.equal(hl.info.memory.used, before);
  model.dispose();
});

test('invalid arguments are refused', async () => {
  const model = build(hl, SIZES);
  const refused = (options, parameter, code = 'ARGUMENT', of = metric, by = model) =>
    assert.rejects(salience(by, IDS, of, options), { code, parameter });
  for (const [name, ...values] of [
    ['method', 'integral', 5],
    ['rule', 'left', null, 5],
    ['steps', 0, 1.5, '3'],
    ['onProgress', 5],
    ['signal', {}],
    ['label', 1],
  ])
    for (const value of values) await refused({ [name]: value }, name);
  const method = 'integrated';
  await refused({ method, baseline: 'mean' }, 'baseline');
  await refused({ method, baseline: 'padding' }, 'padding');
  for (const padding of [11, -1, 0.5]) await refused({ method, baseline: 'padding', padding }, 'padding');
  const baseline = { data: new Float32Array(C), shape: [1, C] };
  await refused({ method, baseline }, 'baseline', 'SHAPE');
  await refused({}, 'metric', 'ARGUMENT', 5);
  const mine = ({ logits }) => logits.data[0];
  await assert.rejects(salience(model, IDS, mine), {
    code: 'ARGUMENT',
    parameter: 'metric',
    message: /salience: metric is .*, expected a metric with a gradient/,
  });
  const headless = { ...model, options: { ...model.options, head: 'none' } };
  await refused({}, 'model', 'ARGUMENT', metric, headless);
  model.quantize();
  await refused({}, undefined, 'STATE');
  model.dispose();
});
