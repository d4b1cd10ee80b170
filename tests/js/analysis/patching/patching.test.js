// Tests activation patching on a transformer in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logitDifference, patch } from 'headlight-attention/analysis';
import { plainModel } from '../../../support/plain_model.js';

const CLEAN = [[1, 5, 2, 7]];
const CORRUPTED = [[1, 6, 2, 7]];
const metric = logitDifference(3, 8);
/** Returns the metric of a run with edits. */
const run = (model, edit) => metric(model.forward(CORRUPTED, { edit }));

for (const [at, each, shape] of [
  ['blocks.*.heads', undefined, [2, 2]],
  ['blocks.*.heads', 'token', [2, 4]],
  ['blocks.*.weights', undefined, [2, 2]],
  ['blocks.*.out', undefined, [2, 4]],
  ['blocks.*.mlp', 'token', [2, 4]],
])
  test(`each place of ${at} is patched separately${each ? `, by ${each}` : ''}`, async () => {
    const model = plainModel({});
    const { captured } = model.forward(CLEAN, { capture: [at] });
    const seen = [];
    const result = await patch(model, CLEAN, CORRUPTED, metric, { at, each, onProgress: (step) => seen.push(step) });
    assert.equal(result.clean, metric(model.forward(CLEAN)));
    assert.equal(result.corrupted, run(model, []));
    assert.deepEqual(result.values.shape, shape);
    const by = each ?? (shape[1] === 2 ? 'head' : 'token');
    for (let layer = 0; layer < 2; layer++)
      for (let place = 0; place < shape[1]; place++) {
        const name = at.replace('*', layer);
        const value = run(model, [{ at: name, [by]: place, set: captured[name] }]);
        const i = layer * shape[1] + place;
        assert.equal(result.values.data[i], Math.fround(value));
        const share = (value - result.corrupted) / (result.clean - result.corrupted);
        assert.ok(Math.abs(result.recovered.data[i] - share) < 1e-5);
        assert.deepEqual(seen[i], { done: i + 1, total: 2 * shape[1], layer, place, value });
      }
    assert.equal(seen.length, 2 * shape[1]);
  });

test('in the first block, patching the only token that differs recovers the whole difference', async () => {
  const { recovered } = await patch(plainModel({}), CLEAN, CORRUPTED, metric, { at: 'blocks.*.in' });
  assert.ok(Math.abs(recovered.data[1] - 1) < 1e-6, `${recovered.data}`);
  for (const t of [0, 2, 3]) assert.ok(Math.abs(recovered.data[t]) < 1e-5, `${recovered.data}`);
});

test('an abort takes effect before the next run, and every result is freed', async () => {
  const model = plainModel({});
  const made = [];
  const counted = {
    ...model,
    forward(...given) {
      const result = model.forward(...given);
      const entry = { freed: 0 };
      made.push(entry);
      return { ...result, dispose: () => entry.freed++ };
    },
  };
  const controller = new AbortController();
  const onProgress = ({ done }) => done === 3 && controller.abort();
  const options = { at: 'blocks.*.out', onProgress, signal: controller.signal };
  await assert.rejects(patch(counted, CLEAN, CORRUPTED, metric, options), { name: 'AbortError' });
  assert.equal(made.length, 5);
  assert.ok(made.every(({ freed }) => freed === 1));
  await assert.rejects(patch(counted, CLEAN, CORRUPTED, metric, options), { name: 'AbortError' });
  assert.equal(made.length, 5);
  const fails = () => {
    throw new Error('no metric');
  };
  await assert.rejects(patch(counted, CLEAN, CORRUPTED, fails, { at: 'blocks.*.out' }), /no metric/);
  assert.ok(made.every(({ freed }) => freed === 1));
});

test('invalid arguments are refused before the first run', async () => {
  const model = { ...plainModel({}), forward: () => assert.fail('forward was called') };
  for (const [name, value] of [
    ['at', 'blocks.0.heads'],
    ['at', 'logits'],
    ['signal', {}],
    ['at', undefined],
    ['each', 'head'],
    ['layers', 1],
  ]) {
    const options = { at: 'blocks.*.out', [name]: value };
    await assert.rejects(patch(model, CLEAN, CORRUPTED, metric, options), { code: 'ARGUMENT', parameter: name });
  }
  const parts = { code: 'ARGUMENT', parameter: 'metric' };
  await assert.rejects(patch(model, CLEAN, CORRUPTED, 3, { at: 'blocks.*.out' }), parts);
  const options = { at: 'blocks.*.out' };
  await assert.rejects(patch(plainModel({}), CLEAN, [[1, 2]], metric, options), {
    code: 'SHAPE',
    parameter: 'corrupted',
  });
});

test('logitDifference reads the given token, by default the last one', () => {
  const logits = { data: Float32Array.of(1, 2, 3, 10, 20, 40), shape: [1, 2, 3] };
  assert.equal(logitDifference(2, 1)({ logits }), 20);
  assert.equal(logitDifference(2)({ logits }), 40);
  assert.equal(logitDifference(2, 0, 0)({ logits }), 2);
  assert.equal(logitDifference(1, 0)({ logits: { data: logits.data, shape: [2, 3] } }), 10);
});

test('a metric that does not return a number is refused, and so is an invalid label', async () => {
  const options = { at: 'blocks.*.out' };
  for (const value of ['a', Number.NaN, undefined, Infinity])
    await assert.rejects(
      patch(plainModel({}), CLEAN, CORRUPTED, () => value, options),
      {
        code: 'ARGUMENT',
        message: /patch: the value of metric is .*, expected a finite number/,
      },
    );
  assert.throws(() => logitDifference('a', {}), { code: 'ARGUMENT', parameter: 'label' });
  assert.throws(() => logitDifference(1, {}), { code: 'ARGUMENT', parameter: 'against' });
  const logits = { data: Float32Array.of(1, 2, 3), shape: [1, 3] };
  assert.throws(() => logitDifference(3)({ logits }), { code: 'ARGUMENT', parameter: 'label' });
  assert.throws(() => logitDifference(1, 0, 1)({ logits }), { code: 'ARGUMENT', parameter: 'token' });
});

test('onProgress is awaited, and an invalid signal is refused', async () => {
  const options = { at: 'blocks.*.out' };
  const failing = async () => Promise.reject(new Error('mine'));
  await assert.rejects(patch(plainModel({}), CLEAN, CORRUPTED, metric, { ...options, onProgress: failing }), /mine/);
  for (const signal of [5, {}])
    await assert.rejects(patch(plainModel({}), CLEAN, CORRUPTED, metric, { ...options, signal }), {
      code: 'ARGUMENT',
      parameter: 'signal',
    });
});
