import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { judge, train } from '../../../src/build/demo/train.ts';
import { windows } from '../../../src/build/demo/windows.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { openDemoModel, shrinkDemoModel } from '../../../web/worker/sources/demoModel.ts';

const SEED = 4;
const START = 11;
/** Returns tokens that count from 0 to 9 again and again, with a start token at every 50th position. */
const count = (length) => Int32Array.from({ length }, (_, i) => (i % 50 === 0 ? START : i % 10));
const texts = { train: count(2000), heldOut: count(400), start: START };
const settings = {
  model: { layers: 1, dModel: 16, numHeads: 2, mlp: 32, vocab: 12, context: 32 },
  ...{
    steps: 60,
    batch: 4,
    window: 16,
    rate: 0.01,
    warmUp: 5,
    weightDecay: 0.01,
    repeats: 0.25,
    noise: 0,
    average: 0.9,
    seed: SEED,
  },
};
const folderFor = (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test(`windows are parts of the text, or repetitions of a passage (seed ${SEED})`, () => {
  const tokens = Int32Array.from({ length: 5000 }, (_, i) => i);
  const [batch, window] = [400, 128];
  const { labels, targets } = windows(
    { train: tokens },
    { batch, window, repeats: 0.3, noise: 0 },
    uniformSource(SEED),
  );
  let repeated = 0;
  for (let b = 0; b < batch; b++) {
    const [row, next] = [labels, targets].map((all) => all.subarray(b * window, (b + 1) * window));
    const period = row.findIndex((token, t) => t > 0 && token === row[0]);
    if (period < 0) {
      assert.deepEqual(row, tokens.subarray(row[0], row[0] + window));
      assert.deepEqual(next, tokens.subarray(row[1], row[1] + window));
      continue;
    }
    repeated++;
    assert.ok(period <= 64);
    for (let t = 0; t + 1 < window; t++) if (next[t] !== -100) assert.equal(next[t], row[t + 1]);
    assert.equal(next[0], -100);
    assert.ok(next.subarray(64).every((target) => target !== -100));
  }
  assert.ok(repeated > 90 && repeated < 150, `${repeated}`);
});

test(`noise replaces some input tokens, but no targets (seed ${SEED})`, () => {
  const tokens = Int32Array.from({ length: 5000 }, (_, i) => i);
  const options = { batch: 100, window: 128, repeats: 0, noise: 0.1 };
  const { labels, targets } = windows({ train: tokens }, options, uniformSource(SEED));
  let others = 0;
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] + 1 !== targets[i]) others++;
    if (i % 128 > 0) assert.equal(targets[i], targets[i - 1] + 1);
  }
  assert.ok(others > 0.08 * labels.length && others < 0.12 * labels.length, `${others}`);
});

test('every held-out token is predicted once, except those that begin a chapter', async () => {
  const hl = await load();
  const model = hl.transformer(settings.model);
  const starts = texts.heldOut.filter((token, i) => i > 0 && token === START).length;
  const { tokens, loss } = judge(model, texts.heldOut, { window: 16, start: START });
  assert.equal(tokens, texts.heldOut.length - 1 - starts);
  const few = texts.heldOut.slice(0, 17);
  const [ids, targets] = [few.slice(0, 16), few.slice(1)].map((data) => ({ data, shape: [1, 16] }));
  assert.equal(judge(model, few, { window: 16, start: START }).loss, model.judge(ids, targets).loss);
  assert.ok(judge(model, texts.heldOut, { window: 16, start: START, share: 0.25 }).tokens < tokens / 2);
  assert.ok(loss > 1);
  hl.dispose();
});

test(`training lowers the loss, can be stopped, and then continues with the same results (seed ${SEED})`, async (t) => {
  const hl = await load();
  const folder = folderFor(t);
  const said = [];
  const run = (where, isEnough = () => false, other = settings) =>
    train(hl, texts, other, { folder: where, isEnough, say: (text) => said.push(text) });
  const whole = run(folderFor(t));
  assert.equal(whole.step, 60);
  const { loss } = judge(whole.model, texts.heldOut, { window: 16, start: START });
  assert.ok(loss < 0.7, `${loss}`);

  assert.equal(run(folder, (step) => step === 25).step, 25);
  const second = run(folder);
  assert.equal(second.step, 60);
  assert.deepEqual(second.model.stateDict(), whole.model.stateDict());
  assert.deepEqual(run(folder).model.stateDict(), whole.model.stateDict());
  assert.deepEqual(said, ['continues after step 25', 'continues after step 60']);
  // A run with other settings can continue from the state in which the first run ended.
  const before = { ...whole.after, seconds: 100 };
  const other = { ...settings, steps: 10, rate: 0.001 };
  const next = train(hl, texts, other, { folder: folderFor(t), isEnough: () => false, say() {} }, before);
  assert.ok(judge(next.model, texts.heldOut, { window: 16, start: START }).loss < loss + 0.05);
  assert.ok(next.after.seconds > 100);
  // A state that was saved in the folder with other settings is not used.
  assert.equal(run(folder, undefined, { ...settings, steps: 10 }).step, 10);
  hl.dispose();
});

test('a model with int8 weights has nearly the same loss', async (t) => {
  const hl = await load();
  const { model } = train(hl, texts, settings, { folder: folderFor(t), isEnough: () => false, say() {} });
  const bytes = model.save();
  const small = shrinkDemoModel(bytes, { seed: '4' });
  assert.ok(small.length < bytes.length);
  const opened = openDemoModel(hl, small);
  const of = (each) => judge(each, texts.heldOut, { window: 16, start: START }).loss;
  assert.ok(Math.abs(of(opened) - of(model)) < 0.02, `${of(opened)}, ${of(model)}`);
  hl.dispose();
});
