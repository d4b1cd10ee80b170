// Training as the page asks for it, without a page: the worker's part with a shelf in memory.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.js';
import { settingsOf, taughtTask, usualTraining } from '../../../../web/features/train/lessons.js';
import { batchOf } from '../../../../web/features/train/tasks.js';
import { initialState } from '../../../../web/store/state.js';
import { createAnswerer } from '../../../../web/worker/requests.js';

const hl = await load();
after(() => hl.dispose?.());

const SMALL = { ...usualTraining('repeat'), layers: 1, heads: 2, width: 16 };

/** A worker, what it has said, and waiting for what it will say. */
function begin(training = SMALL, shelf = shelfInMemory()) {
  const said = [];
  const waiting = new Set();
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: () => assert.fail('nothing is fetched'),
    shelf,
    post(message) {
      said.push(message);
      for (const look of waiting) look();
    },
  });
  let id = 0;
  const state = { ...initialState, model: 'trained', panel: 'train', training };
  return {
    said,
    shelf,
    state,
    ask: (question) => answer({ id: ++id, state, speed: null, ...question }),
    /** The first message from now on, or since the beginning, that is such a one. */
    until: (is, from = 0) =>
      new Promise((resolve) => {
        const look = () => {
          const found = said.slice(from).find(is);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

function shelfInMemory() {
  const kept = new Map();
  return {
    kept,
    put: async (one) => void kept.set(one.key, structuredClone(one)),
    get: async (key) => kept.get(key),
    remove: async (key) => void kept.delete(key),
    list: async () => [...kept.values()],
  };
}

const trained = (steps) => (message) => message.part === 'trained' && message.progress.steps >= steps;
const begun = (message) => message.part === 'trained' && message.began;

test('the worker trains as a transformer with the same seed and steps does', async () => {
  const { ask, until, shelf } = begin();
  ask({ verb: 'train' });
  await until(begun);
  for (let i = 0; i < 3; i++) await ask({ verb: 'steer', act: 'step' });
  const { step3 } = { step3: await until(trained(3)) };
  assert.equal(step3.progress.playing, false);
  await until((message) => message.part === 'shelf' && message.list?.[0]?.steps === 3);

  const settings = settingsOf(SMALL, '');
  const task = taughtTask(settings);
  const model = hl.transformer({
    layers: 1,
    dModel: 16,
    numHeads: 2,
    mlp: 0,
    vocab: 26,
    context: task.context,
    dropout: 0,
    seed: SMALL.seed,
  });
  const optimizer = hl.adamW([model], { lr: SMALL.rate, weightDecay: 0.01 });
  const random = uniformSource(SMALL.seed);
  for (let step = 0; step < 3; step++) {
    const { labels, targets } = batchOf(task, random, task.training.batch);
    optimizer.lr = SMALL.rate * Math.min(1, (step + 1) / 50);
    model.zeroGrad();
    model.learn(labels, targets);
    hl.clipGradients([model], 1);
    optimizer.step();
  }
  const other = hl.transformer({ ...model.options, seed: 2 });
  const [kept] = shelf.kept.values();
  other.loadStateDict(readSafetensors(kept.bytes).tensors);
  for (const [name, { data }] of Object.entries(model.stateDict()))
    assert.deepEqual(other.stateDict()[name].data, data, name);
});

test('it runs, pauses, goes on, and starts over', async () => {
  const { ask, until, said } = begin();
  ask({ verb: 'train', go: true });
  await until(trained(5));
  await ask({ verb: 'steer', act: 'pause' });
  const { steps } = said.findLast((message) => message.part === 'trained').progress;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(said.findLast((message) => message.part === 'trained').progress.steps, steps);
  await ask({ verb: 'steer', act: 'play' });
  await until(trained(steps + 5));
  const from = said.length;
  ask({ verb: 'train', afresh: true });
  const again = await until(begun, from);
  assert.equal(again.progress.steps, 0);
  assert.deepEqual(again.began.curves.loss, []);
});

test('what has learned nothing is not kept, and neither is a frame of the film that is looked at', async () => {
  const { ask, until, shelf, said } = begin();
  ask({ verb: 'train' });
  await until(begun);
  await ask({ verb: 'steer', act: 'pause' });
  assert.equal(shelf.kept.size, 0);
  await ask({ verb: 'steer', act: 'play' });
  await until(trained(25));
  await ask({ verb: 'steer', act: 'pause' });
  await until(({ part }) => part === 'shelf');
  const [{ steps }] = shelf.kept.values();
  assert.ok(steps >= 25);
  await ask({ verb: 'steer', act: 'back', step: 10 });
  await until(({ part, progress }) => part === 'trained' && progress.at === 10);
  const before = said.filter(({ part }) => part === 'shelf').length;
  await ask({ verb: 'steer', act: 'pause' });
  assert.equal(said.filter(({ part }) => part === 'shelf').length, before);
  assert.equal([...shelf.kept.values()][0].steps, steps);
});

test('the film shows what was: an earlier step has the weights of its frame', async () => {
  const { ask, until, said } = begin();
  ask({ verb: 'train', go: true });
  await until(trained(25));
  await ask({ verb: 'steer', act: 'pause' });
  const frames = said.filter(({ frame }) => frame).map(({ frame }) => frame);
  assert.deepEqual(
    frames.slice(0, 3).map(({ step }) => step),
    [0, 10, 20],
  );
  const from = said.length;
  await ask({ verb: 'steer', act: 'back', step: 10 });
  const run = await until(({ part }) => part === 'run', from);
  assert.deepEqual(run.weights, frames[1].weights);
  const { progress } = await until(({ part }) => part === 'trained', from);
  assert.equal(progress.at, 10);
  assert.ok(progress.steps >= 25, 'training has not gone back');
});

test('what is trained is kept: another worker goes on with it, until it is deleted', async () => {
  const first = begin();
  first.ask({ verb: 'train' });
  await first.until(begun);
  await first.ask({ verb: 'steer', act: 'step' });
  await first.until((message) => message.part === 'shelf' && message.list?.length === 1);
  const second = begin(SMALL, first.shelf);
  second.ask({ verb: 'train' });
  assert.equal((await second.until(begun)).progress.steps, 1);
  const [{ key }] = first.shelf.kept.values();
  await second.ask({ verb: 'steer', act: 'remove', key });
  assert.equal(first.shelf.kept.size, 0);
  const third = begin(SMALL, first.shelf);
  third.ask({ verb: 'train' });
  assert.equal((await third.until(begun)).progress.steps, 0);
});

test('another worker goes on as if nothing had come between: weights, moments, sequences and film', async () => {
  const shelf = shelfInMemory();
  const kept = (steps) => (message) => message.part === 'shelf' && message.list?.[0]?.steps === steps;
  const train = async (worker, from, to) => {
    worker.ask({ verb: 'train' });
    const { began } = await worker.until(begun);
    for (let step = from; step < to; step++) await worker.ask({ verb: 'steer', act: 'step' });
    await worker.until(kept(to));
    return began;
  };
  await train(begin(SMALL, shelf), 0, 12);
  const { frames } = await train(begin(SMALL, shelf), 12, 24);
  assert.deepEqual(
    frames.map(({ step }) => step),
    [0, 10, 12],
  );
  const [one] = shelf.kept.values();
  const whole = shelfInMemory();
  await train(begin(SMALL, whole), 0, 24);
  const [other] = whole.kept.values();
  const [mine, theirs] = [one, other].map(({ bytes }) => readSafetensors(bytes));
  assert.deepEqual(mine.tensors, theirs.tensors);
  assert.equal(mine.metadata['headlight.step'], '24', 'dropout depends on it');
  assert.deepEqual(one.going.optimizer, other.going.optimizer);
  assert.deepEqual(one.curves, other.curves);
});

test('a full shelf is told, and training goes on', async () => {
  const shelf = { ...shelfInMemory(), put: async () => Promise.reject(new DOMException('', 'QuotaExceededError')) };
  const { ask, until } = begin(SMALL, shelf);
  ask({ verb: 'train' });
  await until(begun);
  await ask({ verb: 'steer', act: 'step' });
  assert.equal((await until((message) => message.part === 'shelf' && message.problem)).problem, 'full');
  await ask({ verb: 'steer', act: 'step' });
  await until(trained(2));
});

test('a run that goes astray is told, and is back where its loss was a number', async () => {
  const { ask, until } = begin({ ...SMALL, rate: 10 });
  ask({ verb: 'train', go: true });
  const { astray, progress } = await until((message) => message.astray);
  assert.equal(astray.rate, 10);
  assert.ok(astray.back < astray.step);
  assert.equal(progress.steps, astray.back);
  assert.equal(progress.playing, false);
});

test('one writes into it: it is a source like the whale, with its heads switched off as they are there', async () => {
  const { ask, until, state } = begin();
  ask({ verb: 'show', state: { ...state, panel: 'reading', text: 'abcabc', scale: { 0.1: 0 } } });
  const run = await until(({ part }) => part === 'run');
  assert.deepEqual(
    run.pieces.map(({ name }) => name),
    [...'abcabc'],
  );
  const model = hl.transformer({ layers: 1, dModel: 16, numHeads: 2, mlp: 0, vocab: 26, context: 42, seed: 1 });
  const { logits } = model.forward(
    { ids: { data: Int32Array.from([0, 1, 2, 0, 1, 2]), shape: [1, 6] } },
    { edit: [{ at: 'blocks.0.heads', head: [1], set: 'zero' }] },
  );
  const row = logits.copy().subarray(5 * 26);
  const powers = [...row].map(Math.exp);
  const sum = powers.reduce((a, x) => a + x);
  assert.ok(Math.abs(run.top[0].now - Math.max(...powers) / sum) < 1e-6);
});

test('a saved file is opened again with its steps', async () => {
  const first = begin();
  first.ask({ verb: 'train' });
  await first.until(begun);
  await first.ask({ verb: 'steer', act: 'step' });
  await first.ask({ verb: 'steer', act: 'save' });
  const { bytes } = await first.until(({ part }) => part === 'saved');
  const second = begin(usualTraining('sort'));
  second.ask({ verb: 'train', bytes });
  const opened = await second.until(begun);
  assert.equal(opened.progress.steps, 1);
  assert.equal(opened.began.settings.task, 'repeat');
  assert.equal(opened.began.settings.width, 16);
});

test('two pages train at once, each its own model, and both are kept', async () => {
  const shelf = shelfInMemory();
  const pages = [begin(SMALL, shelf), begin({ ...SMALL, seed: 2 }, shelf)];
  for (const { ask } of pages) ask({ verb: 'train', go: true });
  await Promise.all(pages.map(({ until }) => until(trained(10))));
  await Promise.all(pages.map(({ ask }) => ask({ verb: 'steer', act: 'pause' })));
  for (const { until } of pages) await until((message) => message.part === 'shelf');
  assert.deepEqual([...shelf.kept.keys()].sort(), ['repeat-1-2-16-1', 'repeat-1-2-16-2']);
});

test('where reports are not seen training waits, and goes on when they are', async () => {
  const { ask, said, until } = begin();
  const reports = () => said.filter(({ part }) => part === 'trained');
  const stepsNow = async () => {
    await ask({ verb: 'steer', act: 'look', layer: 0, head: 0 });
    return reports().at(-1).progress.steps;
  };
  ask({ verb: 'train', go: true, paced: true });
  await until(() => reports().length > 2);
  const before = await stepsNow();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(await stepsNow(), before);
  for (const _ of reports()) await ask({ verb: 'seen' });
  await until(({ part, progress }) => part === 'trained' && progress.steps > before);
  await ask({ verb: 'steer', act: 'pause' });
});
