// Tests the trainer without the page.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { OPTIMIZERS } from '../../../../web/model/training/settings.ts';
import { batchOf, TASKS, usualSettings } from '../../../../web/model/training/tasks.ts';
import { pytorchFolder } from '../../../../web/worker/trainer/exportedFiles.ts';
import { Trainer } from '../../../../web/worker/trainer/trainer.ts';

const hl = await load();
const small = (task, more = {}) => ({
  ...usualSettings(task),
  layers: 1,
  heads: 2,
  width: 16,
  mlp: false,
  ...more,
});

test('the folder for PyTorch has the model, its optimizer, and the next sequences', async () => {
  for (const optimizer of OPTIMIZERS) {
    const trainer = new Trainer(hl, small('copy', { optimizer, mlp: optimizer === 'adam' }));
    for (let i = 0; i < 3; i++) trainer.step();
    const files = await pytorchFolder(trainer);
    const opened = await hl.openModel(files);
    assert.deepEqual(opened.stateDict(), trainer.model.stateDict());
    const { ids } = opened.encode('ab|c');
    assert.deepEqual(ids, [0, 1, 26, 2]);
    assert.equal(opened.decode(ids), 'ab|c');
    assert.equal(readSafetensors(files['optimizer.safetensors']).metadata.headlight.includes(`"${optimizer}"`), true);
    const { tokens, targets } = readSafetensors(files['tokens.safetensors']).tensors;
    const [batch, T] = [TASKS.copy.training.batch, TASKS.copy.context];
    assert.deepEqual(tokens.shape, [100 * batch, T]);
    const head = ({ data }) => ({ data: Int32Array.from(data.subarray(0, batch * T)), shape: [batch, T] });
    const { loss } = opened.judge(head(tokens), head(targets));
    assert.equal(trainer.step().loss, loss);
    opened.dispose();
    trainer.dispose();
  }
});

test('sequences follow the rules of their tasks, have the length of the context, and are equal for equal seeds', () => {
  for (const [name, task] of Object.entries(TASKS)) {
    const [once, again] = [5, 5].map((seed) => batchOf(task, uniformSource(seed), 40));
    assert.deepEqual(once, again);
    assert.deepEqual(once.labels.shape, [40, task.context], name);
    assert.ok(
      once.labels.data.every((label) => label >= 0 && label < task.tokens.length),
      name,
    );
    assert.ok(
      once.targets.data.every((target) => target === -100 || (target >= 0 && target < task.tokens.length)),
      name,
    );
    assert.ok(once.targets.data.some((target) => target >= 0));
  }
  const text = (task, i) => {
    const { tokens, targets } = TASKS[task].sequence(uniformSource(i));
    return {
      tokens: tokens.map((label) => TASKS[task].tokens[label]).join(''),
      targets: targets.map((label) => (label < 0 ? ' ' : TASKS[task].tokens[label])).join(''),
    };
  };
  for (let i = 0; i < 20; i++) {
    const reversed = text('reverse', i);
    assert.equal(reversed.targets.trim(), [...reversed.tokens.split('|')[0]].reverse().join(''));
    const sorted = text('sort', i);
    assert.equal(sorted.targets.trim(), [...sorted.tokens.split('|')[0]].sort().join(''));
    const brackets = text('brackets', i);
    const open = [];
    [...brackets.tokens].forEach((sign, t) =>
      sign === '·' ? assert.equal(brackets.targets[t], open.pop()) : open.push(sign),
    );
    assert.equal(open.length, 0);
    const repeated = text('repeat', i);
    [...repeated.targets].forEach(
      (sign, t) => sign !== ' ' && assert.equal(sign, repeated.tokens[repeated.tokens.indexOf(repeated.tokens[t]) + 1]),
    );
  }
});

test('the same seed gives the same losses, and they fall', () => {
  const run = () => {
    const trainer = new Trainer(hl, small('previous', { width: 32 }));
    const losses = Array.from({ length: 120 }, () => trainer.step().loss);
    trainer.dispose();
    return losses;
  };
  const [once, again] = [run(), run()];
  assert.deepEqual(once, again);
  assert.ok(once.at(-1) < 0.7 * once[0], `${once[0]} → ${once.at(-1)}`);
});

test('the rate rises over the first fifty steps', () => {
  const settings = { ...small('copy'), optimizer: 'adam', rate: 0.05 };
  const trainer = new Trainer(hl, settings);
  const weights = () => readSafetensors(trainer.save()).tensors['head.weight'].data;
  const before = weights();
  trainer.step();
  // The first step of Adam changes every weight by the learning rate, independent of the gradient.
  const moved = weights().map((w, i) => Math.abs(w - before[i]));
  const max = Math.max(...moved);
  assert.ok(max > 0.0009 && max < 0.0011, `moved by ${max}, expected ${settings.rate / 50}`);
  trainer.dispose();
});

test('any snapshot can be loaded, and training continues as if it had not been', () => {
  const plain = new Trainer(hl, small('copy'));
  const shown = new Trainer(hl, small('copy'));
  const losses = (trainer, count) => Array.from({ length: count }, () => trainer.step().loss);
  const first = losses(plain, 20);
  assert.deepEqual(losses(shown, 20), first);
  shown.takeSnapshot();
  const now = shown.validate();
  assert.deepEqual(shown.snapshots, [0, 20]);
  shown.goBack(0);
  assert.notDeepEqual(shown.validate(), now);
  shown.goBack(1);
  assert.deepEqual(shown.validate(), now);
  shown.goBack(0);
  shown.goBack(0);
  assert.deepEqual(losses(shown, 10), losses(plain, 10));
  for (let i = 0; i < 120; i++) {
    shown.step();
    shown.takeSnapshot();
  }
  assert.ok(
    shown.snapshots.length <= 48 && shown.snapshots[0] === 0 && shown.snapshots.at(-1) === 150,
    shown.snapshots.join(),
  );
  for (const trainer of [plain, shown]) trainer.dispose();
});

for (const optimizer of OPTIMIZERS) {
  test(`after NaN the last finite state is restored, with a new ${optimizer}`, () => {
    const trainer = new Trainer(hl, small('copy', { optimizer, rate: 0.01 }));
    for (let i = 0; i < 5; i++) trainer.step();
    trainer.takeSnapshot();
    const { loss } = trainer.validate();
    trainer.setRate(1e30);
    let last = 0;
    for (let i = 0; i < 20 && Number.isFinite(last); i++) {
      last = trainer.step().loss;
      // A step returns the loss before its update, so a snapshot that is taken after the step may have a higher loss.
      trainer.takeSnapshot();
    }
    assert.ok(!Number.isFinite(last));
    trainer.recover();
    assert.equal(trainer.validate().loss, loss);
    assert.equal(trainer.steps, 5);
    assert.deepEqual(trainer.snapshots, [0, 5]);
    trainer.setRate(0.01);
    for (let i = 0; i < 10; i++) trainer.step();
    const after = trainer.validate().loss;
    assert.ok(Number.isFinite(after) && after < 2 * loss, `${loss} → ${after}`);
    trainer.dispose();
  });
}

test('a saved model can be loaded into another trainer', () => {
  const trainer = new Trainer(hl, small('repeat'));
  for (let i = 0; i < 3; i++) trainer.step();
  const { tensors, metadata } = readSafetensors(trainer.save());
  const settings = JSON.parse(metadata.settings);
  const other = new Trainer(hl, settings);
  assert.notDeepEqual(other.validate(), trainer.validate());
  other.load(tensors, Number(metadata.steps));
  assert.deepEqual(other.validate(), trainer.validate());
  assert.equal(other.steps, 3);
  // Loading a state also replaces the snapshot that is shown, and the state from which training would resume.
  other.step();
  other.goBack(0);
  other.load(tensors, Number(metadata.steps));
  other.resume();
  assert.deepEqual(other.validate(), trainer.validate());
  for (const one of [trainer, other]) one.dispose();
});

test('many steps, validations and snapshots leak no memory', () => {
  const trainer = new Trainer(hl, small('previous', { width: 16 }));
  const work = () => {
    for (let i = 0; i < 100; i++) {
      trainer.step();
      if (i % 10 === 0) trainer.takeSnapshot();
      if (i % 25 === 0) trainer.validate();
    }
  };
  work();
  const { used } = hl.info.memory;
  for (let i = 0; i < 4; i++) work();
  assert.equal(hl.info.memory.used, used);
  trainer.dispose();
});
