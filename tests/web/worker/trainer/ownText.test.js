// Tests training the demo model further on a text: the windows, the steps, and the comparison with the model before.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { openTokenizer } from '../../../../src/js/text/tokenizer.ts';
import { initialState } from '../../../../web/model/state.ts';
import { settingsOf, usualTraining } from '../../../../web/model/training/settings.ts';
import { batchOf } from '../../../../web/model/training/tasks.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { openDemoModel } from '../../../../web/worker/sources/demoModel.ts';
import { pytorchFolder } from '../../../../web/worker/trainer/exportedFiles.ts';
import { comparisonWithBase, divergence, headDivergences } from '../../../../web/worker/trainer/headChanges.ts';
import { ownTextTask } from '../../../../web/worker/trainer/ownText.ts';
import { Trainer } from '../../../../web/worker/trainer/trainer.ts';

const hl = await load();
after(() => hl.dispose?.());

const file = (name) => new Uint8Array(readFileSync(new URL(`../../../../web/demo/${name}`, import.meta.url)));
const FILES = { 'whale.tokenizer.json': file('tokenizer.json'), 'whale.safetensors': file('whale.safetensors') };
const demo = {
  model: openDemoModel(hl, FILES['whale.safetensors']),
  tokenizer: openTokenizer(FILES['whale.tokenizer.json']),
  readTokenizer: async () => FILES['whale.tokenizer.json'],
};
const SHORT = 'The letters came on Monday, and nobody read them.';
const LONG =
  `${SHORT} `.repeat(20) +
  'In the end a postman sang of rivers, and the whole town listened to his song until dawn. '.repeat(4);

test('a long text is learned without its end, which is judged; a short one is learned and judged whole', () => {
  const long = ownTextTask(LONG, demo);
  const { ids } = demo.tokenizer.encode(LONG.trim());
  const held = Math.floor(0.2 * ids.length);
  const [learned, judged] = [ids.slice(0, -held), ids.slice(-held)].map((part) => part.join());
  assert.equal(long.base.holdsOut, true);
  for (let seed = 0; seed < 30; seed++) {
    const { tokens, targets } = long.sequence(uniformSource(seed));
    assert.equal(tokens.length, 128);
    assert.deepEqual(tokens.slice(1), targets.slice(0, -1));
    assert.ok(learned.includes(tokens.join()));
    assert.ok(judged.includes(long.heldOut(uniformSource(seed)).tokens.join()));
  }
  assert.equal(long.training.batch, 4);

  const short = ownTextTask(SHORT, demo);
  const all = demo.tokenizer.encode(SHORT).ids;
  assert.equal(short.base.holdsOut, false);
  assert.deepEqual(short.sequence(uniformSource(1)), { tokens: all.slice(0, -1), targets: all.slice(1) });
  assert.equal(short.training.batch, 1);
  assert.equal(short.limits.validation, 1);
  assert.throws(() => ownTextTask('too short', demo), { code: 'ARGUMENT', parameter: 'text' });
});

test('the sentence that is shown begins with a whole word, and has the tokens of its text', () => {
  for (const text of [SHORT, LONG, '春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。床前明月光，疑是地上霜。']) {
    const { shown } = ownTextTask(text, demo);
    assert.ok(text.includes(shown.text));
    assert.deepEqual(demo.tokenizer.encode(shown.text).ids, shown.tokens);
    assert.deepEqual(shown.targets, [...shown.tokens.slice(1), -100]);
  }
  assert.match(LONG, new RegExp(`[ ]${ownTextTask(LONG, demo).shown.text}`));
});

test('a step equals that of AdamW on the same windows, from the weights of the demo model', () => {
  const settings = settingsOf(usualTraining('whale'), SHORT);
  const task = ownTextTask(SHORT, demo);
  const trainer = new Trainer(hl, settings, task);
  assert.deepEqual(trainer.model.stateDict(), demo.model.stateDict());
  const { loss } = trainer.step();

  const model = hl.transformer({ ...demo.model.options, dropout: 0 });
  model.loadStateDict(demo.model.stateDict());
  const optimizer = hl.adamW([model], { lr: settings.rate / 50, weightDecay: 0.01 });
  const { labels, targets } = batchOf(task, uniformSource(settings.seed), task.training.batch);
  const expected = model.learn(labels, targets).loss;
  hl.clipGradients([model], 1);
  optimizer.step();
  assert.equal(loss, expected);
  assert.deepEqual(trainer.model.stateDict(), model.stateDict());
  for (const one of [trainer, optimizer, model]) one.dispose();
});

test('training makes the text likelier; at first nothing has changed, and a stored model is compared as well', () => {
  const settings = settingsOf(usualTraining('whale'), SHORT);
  const task = ownTextTask(SHORT, demo);
  const trainer = new Trainer(hl, settings, task);
  const compare = comparisonWithBase(hl, trainer);
  const first = compare();
  assert.equal(first.loss, null);
  assert.equal(first.learned[0], first.learned[1]);
  assert.ok(first.likely.every(([before, now]) => before === now));
  assert.deepEqual(first.heads, Array(5).fill([0, 0, 0, 0]));

  for (let i = 0; i < 15; i++) trainer.step();
  trainer.validate();
  const { learned: loss, likely, heads } = compare();
  assert.equal(loss[0], first.learned[0]);
  assert.ok(loss[1] < loss[0], loss.join(' → '));
  const mean = (i) => likely.reduce((sum, pair) => sum + Math.log(pair[i]), 0) / likely.length;
  // The displayed sentence contains the whole text, so both losses must be equal.
  assert.ok(Math.abs(mean(0) + loss[0]) < 1e-4 && Math.abs(mean(1) + loss[1]) < 1e-4);
  assert.ok(heads.flat().every((x) => x > 0 && x < 1));

  const saved = new Trainer(hl, settings, task);
  saved.load(readSafetensors(trainer.save()).tensors, trainer.steps);
  assert.deepEqual(comparisonWithBase(hl, saved)().heads, heads);
  for (const one of [trainer, saved]) one.dispose();
});

test('the folder for PyTorch has the model with its tokenizer, and windows of the text', async () => {
  const trainer = new Trainer(hl, settingsOf(usualTraining('whale'), SHORT), ownTextTask(SHORT, demo));
  trainer.step();
  const files = await pytorchFolder(trainer);
  const opened = await hl.openModel(files);
  assert.deepEqual(opened.stateDict(), trainer.model.stateDict());
  const { ids } = demo.tokenizer.encode(SHORT);
  assert.deepEqual(opened.encode(SHORT).ids, ids);
  const { tokens } = readSafetensors(files['tokens.safetensors']).tensors;
  assert.deepEqual([...tokens.data.subarray(0, ids.length - 1)], ids.slice(0, -1));
  for (const one of [opened, trainer]) one.dispose();
});

test('the divergence of rows is 0 if they are equal, 1 if they have nothing in common', () => {
  assert.equal(divergence([0.25, 0.75], [0.25, 0.75]), 0);
  assert.equal(divergence([1, 0], [0, 1]), 1);
  // The divergence is H(¾, ¼) − ½ H(½, ½) − ½ H(1, 0), where H is the entropy.
  const entropy = -0.75 * Math.log2(0.75) - 0.25 * Math.log2(0.25);
  assert.ok(Math.abs(divergence([1, 0], [0.5, 0.5]) - (entropy - 0.5)) < 1e-12);
  const [before, now] = [Float32Array.of(1, 0, 1, 0, 1, 0, 0, 1), Float32Array.of(1, 0, 0, 1, 1, 0, 0, 1)];
  assert.deepEqual(headDivergences(before, now, { layers: 1, heads: 2, T: 2 }), [[1, 0]]);
});

test('the worker opens the demo model, takes a step, reports the changes, and stores the model', async () => {
  const messages = [];
  const stored = new Map();
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: async (name) => FILES[name],
    modelStore: {
      put: async (one) => void stored.set(one.key, structuredClone(one)),
      get: async (key) => stored.get(key),
      remove: async (key) => void stored.delete(key),
      list: async () => [...stored.values(), { key: 'text-2-4-64-1-abc', settings: { task: 'text' }, steps: 9, at: 0 }],
    },
    post: (message) => messages.push(message),
  });
  const state = { ...initialState, model: 'trained', panel: 'train', training: usualTraining('whale'), lesson: SHORT };
  const train = answer({ id: 1, verb: 'train', state, speed: null });
  await answer({ id: 2, verb: 'controlTraining', action: 'step' });
  const reports = messages.filter(({ part }) => part === 'trainingReport');
  assert.equal(reports[0].progress.steps, 0);
  const { changes, progress } = reports.at(-1);
  assert.equal(progress.steps, 1);
  assert.ok(changes.heads.flat().some((x) => x > 0));
  const { pieces, guesses } = messages.findLast(({ part }) => part === 'run');
  assert.equal(pieces.length, guesses.length);
  await answer({ id: 3, verb: 'controlTraining', action: 'pause' });
  const { list } = messages.findLast(({ part }) => part === 'storedModels');
  assert.deepEqual(
    list.map(({ settings, steps }) => [settings.task, steps]),
    [['whale', 1]],
  );
  // Starting another training stops this one, so the promise `train` resolves.
  answer({ id: 4, verb: 'train', state: { ...state, training: usualTraining('previous') }, speed: null });
  await train;
});
