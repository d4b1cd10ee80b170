// What is trained on the page, without it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.js';
import { headScores } from '../../../../web/features/train/headStats.js';
import {
  batchOf,
  isLongEnough,
  OPTIMIZERS,
  TASKS,
  textTask,
  usualSettings,
  validationBatchOf,
} from '../../../../web/features/train/tasks.js';
import { createTrainer } from '../../../../web/worker/trainer/trainer.js';

const hl = await load();
const small = (task, more = {}, text = '') => ({
  ...usualSettings(task, text),
  layers: 1,
  heads: 2,
  width: 16,
  mlp: false,
  ...more,
});

test('what is taken to PyTorch has the model, its optimizer, and the sequences that would come next', async () => {
  for (const optimizer of OPTIMIZERS) {
    const trainer = createTrainer(hl, small('copy', { optimizer, mlp: optimizer === 'adam' }));
    for (let i = 0; i < 3; i++) trainer.step();
    const files = await trainer.folder();
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

test('sequences are what the tasks say, as long as their context, and the same for the same seed', () => {
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
  const text = (task, i, what) => {
    const { tokens, targets } = TASKS[task].sequence(uniformSource(i));
    return {
      tokens: tokens.map((label) => TASKS[task].tokens[label]).join(''),
      targets: targets.map((label) => (label < 0 ? ' ' : TASKS[task].tokens[label])).join(''),
      what,
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

test('a text becomes its characters; the rarest give way where there are too many', () => {
  const task = textTask('to be, or not to be, that is the question');
  assert.deepEqual(task.tokens, [...' ,abehinoqrstu', '\u25a1']);
  const { tokens, targets } = task.sequence(uniformSource(1));
  assert.deepEqual(tokens.slice(1), targets.slice(0, -1));
  assert.equal(
    textTask(Array.from({ length: 300 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')).tokens.length,
    96,
  );
});

test('validation sequences of a text are cut from its end, of which nothing is learned', () => {
  const text = Array.from({ length: 90 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
  const task = textTask(text);
  const seen = (batch) => new Set([...batch.labels.data, ...batch.targets.data]);
  const learned = seen(batchOf(task, uniformSource(3), 500));
  const heldOut = seen(validationBatchOf(task, uniformSource(3), 500));
  assert.equal(heldOut.size, 18);
  assert.equal(learned.size, 72);
  assert.equal(learned.intersection?.(heldOut).size ?? [...learned].filter((label) => heldOut.has(label)).length, 0);
});

test('a text that is too short is refused, one of twenty characters is learned', () => {
  for (const text of ['', 'a', 'to be, or not to be', '          a          b          '])
    assert.throws(() => textTask(text), { code: 'ARGUMENT', parameter: 'text' });
  assert.equal(isLongEnough('to be, or not to be.'), true);
  const trainer = createTrainer(hl, { ...small('text', {}, 'to be, or not to be.') });
  for (const { loss } of [trainer.step(), trainer.validate()]) assert.ok(Number.isFinite(loss));
  trainer.dispose();
});

test('scores: a head that looks one back, a head that looks behind what stood before', () => {
  const labels = [0, 1, 2, 0, 1, 2];
  const head = (look) => ({
    weights: Float32Array.from({ length: 36 }, (_, i) => Number(look(Math.floor(i / 6)) === i % 6)),
    T: 6,
    S: 6,
  });
  assert.deepEqual(
    headScores(
      head((t) => t - 1),
      labels,
    ),
    { previous: 1, induction: 0 },
  );
  assert.deepEqual(
    headScores(
      head((t) => t - 2),
      labels,
    ),
    { previous: 0, induction: 1 },
  );
});

test('the same seed gives the same losses, and they fall', () => {
  const run = () => {
    const trainer = createTrainer(hl, small('previous', { width: 32 }));
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
  const trainer = createTrainer(hl, settings);
  const weights = () => readSafetensors(trainer.save()).tensors['head.weight'].data;
  const before = weights();
  trainer.step();
  // The first step of Adam moves every weight by the rate, whatever the gradient.
  const moved = weights().map((w, i) => Math.abs(w - before[i]));
  const most = Math.max(...moved);
  assert.ok(most > 0.0009 && most < 0.0011, `moved by ${most}, expected ${settings.rate / 50}`);
  trainer.dispose();
});

test('one can look back at any snapshot, and training goes on as if one had not', () => {
  const plain = createTrainer(hl, small('copy'));
  const looked = createTrainer(hl, small('copy'));
  const losses = (trainer, count) => Array.from({ length: count }, () => trainer.step().loss);
  const first = losses(plain, 20);
  assert.deepEqual(losses(looked, 20), first);
  looked.takeSnapshot();
  const now = looked.validate();
  assert.deepEqual(looked.snapshots, [0, 20]);
  looked.goBack(0);
  assert.notDeepEqual(looked.validate(), now);
  looked.goBack(1);
  assert.deepEqual(looked.validate(), now);
  looked.goBack(0);
  looked.goBack(0);
  assert.deepEqual(losses(looked, 10), losses(plain, 10));
  for (let i = 0; i < 120; i++) {
    looked.step();
    looked.takeSnapshot();
  }
  assert.ok(
    looked.snapshots.length <= 48 && looked.snapshots[0] === 0 && looked.snapshots.at(-1) === 150,
    looked.snapshots.join(),
  );
  for (const trainer of [plain, looked]) trainer.dispose();
});

for (const optimizer of OPTIMIZERS) {
  test(`after NaN the last good state is restored, and ${optimizer} starts anew`, () => {
    const trainer = createTrainer(hl, small('copy', { optimizer, rate: 0.01 }));
    for (let i = 0; i < 5; i++) trainer.step();
    trainer.takeSnapshot();
    const { loss } = trainer.validate();
    trainer.setRate(1e30);
    let last = 0;
    for (let i = 0; i < 20 && Number.isFinite(last); i++) {
      last = trainer.step().loss;
      // The loss of a step is from before the optimiser writes: what it wrote may be no good already.
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

test('what is saved is loaded into another, and a layer of it can be explored', () => {
  const trainer = createTrainer(hl, small('repeat'));
  for (let i = 0; i < 3; i++) trainer.step();
  const { tensors, metadata } = readSafetensors(trainer.save());
  const settings = JSON.parse(metadata.settings);
  const other = createTrainer(hl, settings);
  assert.notDeepEqual(other.validate(), trainer.validate());
  other.load(tensors, Number(metadata.steps));
  assert.deepEqual(other.validate(), trainer.validate());
  assert.equal(other.steps, 3);
  // What is loaded takes the place of an earlier state that is shown, and of the one that training would resume.
  other.step();
  other.goBack(0);
  other.load(tensors, Number(metadata.steps));
  other.resume();
  assert.deepEqual(other.validate(), trainer.validate());
  const { weights } = other.inspect();
  const { tensors: layer, tokens } = other.layer(0);
  hl.scope(() => {
    const attention = hl.multiHeadAttention({ embedDim: 16, numHeads: 2 });
    const { x, ...own } = layer;
    attention.loadStateDict(own);
    const seen = attention.forward(x, { causal: true, weights: true }).weights.data;
    weights[0].forEach((w, i) => assert.ok(Math.abs(w - seen[i]) < 1e-6));
  });
  assert.equal(tokens.length, 63);
  for (const one of [trainer, other]) one.dispose();
});

test('nothing is lost over many steps, looks and snapshots', () => {
  const trainer = createTrainer(hl, small('previous', { width: 16 }));
  const work = () => {
    for (let i = 0; i < 100; i++) {
      trainer.step();
      if (i % 10 === 0) trainer.inspect();
      if (i % 25 === 0) trainer.validate();
    }
  };
  work();
  const { used } = hl.info.memory;
  for (let i = 0; i < 4; i++) work();
  assert.equal(hl.info.memory.used, used);
  trainer.dispose();
});
