// Tests the requests of training in the worker, without a page and with a store of models in memory.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { initialState } from '../../../../web/model/state.ts';
import { taughtTask } from '../../../../web/model/training/lessons.ts';
import { settingsOf, usualTraining } from '../../../../web/model/training/settings.ts';
import { batchOf } from '../../../../web/model/training/tasks.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';

const hl = await load();
after(() => hl.dispose?.());

const SMALL = { ...usualTraining('repeat'), layers: 1, heads: 2, width: 16 };

/** Creates a worker. Returns its messages so far, and functions that send requests and wait for messages. */
function begin(training = SMALL, modelStore = storeInMemory()) {
  const messages = [];
  const waiting = new Set();
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: () => assert.fail('nothing is fetched'),
    modelStore,
    post(message) {
      messages.push(message);
      for (const check of waiting) check();
    },
  });
  let id = 0;
  const state = { ...initialState, model: 'trained', panel: 'train', training };
  return {
    messages,
    modelStore,
    state,
    ask: (request) => answer({ id: ++id, state, speed: null, ...request }),
    /** Waits for a message that matches, from an index on. */
    until: (matches, from = 0) =>
      new Promise((resolve) => {
        const check = () => {
          const found = messages.slice(from).find(matches);
          if (!found) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
  };
}

function storeInMemory() {
  const stored = new Map();
  return {
    stored,
    put: async (one) => void stored.set(one.key, structuredClone(one)),
    get: async (key) => stored.get(key),
    remove: async (key) => void stored.delete(key),
    list: async () => [...stored.values()],
  };
}

const reachedStep = (steps) => (message) => message.part === 'trainingReport' && message.progress.steps >= steps;
const isFirst = (message) => message.part === 'trainingReport' && message.started;

test('the worker trains as a transformer with the same seed and steps does', async () => {
  const { ask, until, modelStore } = begin();
  ask({ verb: 'train' });
  await until(isFirst);
  for (let i = 0; i < 3; i++) await ask({ verb: 'controlTraining', action: 'step' });
  assert.equal((await until(reachedStep(3))).progress.playing, false);
  await until((message) => message.part === 'storedModels' && message.list?.[0]?.steps === 3);

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
  const [stored] = modelStore.stored.values();
  other.loadStateDict(readSafetensors(stored.bytes).tensors);
  for (const [name, { data }] of Object.entries(model.stateDict()))
    assert.deepEqual(other.stateDict()[name].data, data, name);
});

test('it runs, pauses, continues, and starts over', async () => {
  const { ask, until, messages } = begin();
  ask({ verb: 'train', start: true });
  await until(reachedStep(5));
  await ask({ verb: 'controlTraining', action: 'pause' });
  const { steps } = messages.findLast((message) => message.part === 'trainingReport').progress;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(messages.findLast((message) => message.part === 'trainingReport').progress.steps, steps);
  const paused = messages.length;
  await ask({ verb: 'controlTraining', action: 'pause' });
  const shown = messages.slice(paused).find((message) => message.part === 'trainingReport' && message.scores);
  assert.equal(shown?.progress.steps, steps, 'a pause shows the model as it is');
  for (const head of [1, 0]) {
    const looked = messages.length;
    await ask({ verb: 'controlTraining', action: 'look', layer: 0, head });
    assert.equal(messages.slice(looked).find(({ part }) => part === 'run')?.head, head, 'it is shown at once');
  }
  await ask({ verb: 'controlTraining', action: 'play' });
  await until(reachedStep(steps + 5));
  const from = messages.length;
  ask({ verb: 'train', fresh: true });
  const again = await until(isFirst, from);
  assert.equal(again.progress.steps, 0);
  assert.deepEqual(again.started.curves.loss, []);
});

test('a model before its first step is not stored, nor is an earlier step that is shown', async () => {
  const { ask, until, modelStore, messages } = begin();
  ask({ verb: 'train' });
  await until(isFirst);
  await ask({ verb: 'controlTraining', action: 'pause' });
  assert.equal(modelStore.stored.size, 0);
  await ask({ verb: 'controlTraining', action: 'play' });
  await until(reachedStep(25));
  await ask({ verb: 'controlTraining', action: 'pause' });
  await until(({ part }) => part === 'storedModels');
  const [{ steps }] = modelStore.stored.values();
  assert.ok(steps >= 25);
  await ask({ verb: 'controlTraining', action: 'back', step: 10 });
  await until(({ part, progress }) => part === 'trainingReport' && progress.at === 10);
  const before = messages.filter(({ part }) => part === 'storedModels').length;
  await ask({ verb: 'controlTraining', action: 'pause' });
  assert.equal(messages.filter(({ part }) => part === 'storedModels').length, before);
  assert.equal([...modelStore.stored.values()][0].steps, steps);
});

test('the film shows earlier steps: each has the weights of its frame', async () => {
  const { ask, until, messages } = begin();
  ask({ verb: 'train', start: true });
  await until(reachedStep(25));
  await ask({ verb: 'controlTraining', action: 'pause' });
  const frames = messages.filter(({ frame }) => frame).map(({ frame }) => frame);
  assert.deepEqual(
    frames.slice(0, 3).map(({ step }) => step),
    [0, 10, 20],
  );
  const from = messages.length;
  await ask({ verb: 'controlTraining', action: 'back', step: 10 });
  const run = await until(({ part }) => part === 'run', from);
  assert.deepEqual(run.weights, frames[1].weights);
  const { progress } = await until(({ part }) => part === 'trainingReport', from);
  assert.equal(progress.at, 10);
  assert.ok(progress.steps >= 25, 'training keeps its step');
});

test('a trained model is stored: another worker continues it, until it is deleted', async () => {
  const first = begin();
  first.ask({ verb: 'train' });
  await first.until(isFirst);
  await first.ask({ verb: 'controlTraining', action: 'step' });
  await first.until((message) => message.part === 'storedModels' && message.list?.length === 1);
  const second = begin(SMALL, first.modelStore);
  second.ask({ verb: 'train' });
  assert.equal((await second.until(isFirst)).progress.steps, 1);
  const [{ key }] = first.modelStore.stored.values();
  await second.ask({ verb: 'controlTraining', action: 'remove', key });
  assert.equal(first.modelStore.stored.size, 0);
  const third = begin(SMALL, first.modelStore);
  third.ask({ verb: 'train' });
  assert.equal((await third.until(isFirst)).progress.steps, 0);
});

test('another worker continues without a difference: weights, moments, sequences and film', async () => {
  const modelStore = storeInMemory();
  const isStored = (steps) => (message) => message.part === 'storedModels' && message.list?.[0]?.steps === steps;
  const train = async (worker, from, to) => {
    worker.ask({ verb: 'train' });
    const { started } = await worker.until(isFirst);
    for (let step = from; step < to; step++) await worker.ask({ verb: 'controlTraining', action: 'step' });
    await worker.until(isStored(to));
    return started;
  };
  await train(begin(SMALL, modelStore), 0, 12);
  const { frames } = await train(begin(SMALL, modelStore), 12, 24);
  assert.deepEqual(
    frames.map(({ step }) => step),
    [0, 10, 12],
  );
  const [one] = modelStore.stored.values();
  const whole = storeInMemory();
  await train(begin(SMALL, whole), 0, 24);
  const [other] = whole.stored.values();
  const [mine, theirs] = [one, other].map(({ bytes }) => readSafetensors(bytes));
  assert.deepEqual(mine.tensors, theirs.tensors);
  assert.equal(mine.metadata['headlight.step'], '24', 'dropout depends on it');
  assert.deepEqual(one.progress.optimizer, other.progress.optimizer);
  assert.deepEqual(one.curves, other.curves);
});

test('full storage is reported, and training continues', async () => {
  const modelStore = {
    ...storeInMemory(),
    put: async () => Promise.reject(new DOMException('', 'QuotaExceededError')),
  };
  const { ask, until } = begin(SMALL, modelStore);
  ask({ verb: 'train' });
  await until(isFirst);
  await ask({ verb: 'controlTraining', action: 'step' });
  assert.equal((await until((message) => message.part === 'storedModels' && message.problem)).problem, 'full');
  await ask({ verb: 'controlTraining', action: 'step' });
  await until(reachedStep(2));
});

test('a training that diverges is reported, and the last finite state is restored', async () => {
  const { ask, until } = begin({ ...SMALL, rate: 10 });
  ask({ verb: 'train', start: true });
  const { diverged, progress } = await until((message) => message.diverged);
  assert.equal(diverged.rate, 10);
  assert.ok(diverged.back < diverged.step);
  assert.equal(progress.steps, diverged.back);
  assert.equal(progress.playing, false);
});

test('it is a source like the demo model: it takes a text, and its heads can be switched off', async () => {
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
  await first.until(isFirst);
  await first.ask({ verb: 'controlTraining', action: 'step' });
  await first.ask({ verb: 'controlTraining', action: 'save' });
  const { bytes } = await first.until(({ part }) => part === 'savedFile');
  const second = begin(usualTraining('sort'));
  second.ask({ verb: 'train', bytes });
  const opened = await second.until(isFirst);
  assert.equal(opened.progress.steps, 1);
  assert.equal(opened.started.settings.task, 'repeat');
  assert.equal(opened.started.settings.width, 16);
});

test('two pages train at once, each its own model, and both are stored', async () => {
  const modelStore = storeInMemory();
  const pages = [begin(SMALL, modelStore), begin({ ...SMALL, seed: 2 }, modelStore)];
  for (const { ask } of pages) ask({ verb: 'train', start: true });
  await Promise.all(pages.map(({ until }) => until(reachedStep(10))));
  await Promise.all(pages.map(({ ask }) => ask({ verb: 'controlTraining', action: 'pause' })));
  for (const { until } of pages) await until((message) => message.part === 'storedModels');
  assert.deepEqual([...modelStore.stored.keys()].sort(), ['repeat-1-2-16-1', 'repeat-1-2-16-2']);
});

test('training waits while reports are not acknowledged, and then continues', async () => {
  const { ask, messages, until } = begin();
  const reports = () => messages.filter(({ part }) => part === 'trainingReport');
  const stepsNow = async () => {
    await ask({ verb: 'controlTraining', action: 'look', layer: 0, head: 0 });
    return reports().at(-1).progress.steps;
  };
  ask({ verb: 'train', start: true, paced: true });
  await until(() => reports().length > 2);
  const before = await stepsNow();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(await stepsNow(), before);
  for (const _ of reports()) await ask({ verb: 'acknowledgeReport' });
  await until(({ part, progress }) => part === 'trainingReport' && progress.steps > before);
  await ask({ verb: 'controlTraining', action: 'pause' });
});
