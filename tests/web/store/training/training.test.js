// Tests training in the page: the requests to the worker when the state changes, the reports of the worker, and the
// buttons.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { change, initialState } from '../../../../web/model/state.ts';
import { usualSettings } from '../../../../web/model/training/tasks.ts';
import { createTraining } from '../../../../web/store/training/training.ts';

const opened = change(initialState, { model: 'trained', panel: 'train' });
const report = (fields = {}, more = {}) => ({
  progress: { steps: 5, end: 100, at: null, playing: true, settings: usualSettings('repeat'), ...fields },
  points: [],
  ...more,
});
const first = {
  curves: { loss: [[0, 1]], right: [], scores: {} },
  frames: [{ step: 0 }],
  settings: usualSettings('sort'),
};

function start() {
  const asked = [];
  const state = signal(initialState);
  const updates = [];
  const requests = {
    send: ({ verb, state: _, ...fields }) => asked.push([verb, fields]),
    cancel: (verb) => asked.push(['cancel', verb]),
  };
  const about = signal({ trained: { probe: 'abc' } });
  const training = createTraining({ requests, state, update: (patch) => updates.push(patch), about });
  const since = () => asked.splice(0);
  const follow = (now) => {
    const before = state.value;
    state.value = now;
    return [training.follow(before, now), since()];
  };
  return { training, follow, since, updates, state };
}
const control = (action, more = {}) => ['controlTraining', { action, ...more }];

test('training begins when it is shown, again with other settings, and pauses when it is left', () => {
  const { follow, training, since, state } = start();
  assert.deepEqual(follow(initialState), [false, []]);
  const begins = (how) => ['train', { speed: 20, paced: true, ...how }];
  assert.deepEqual(follow(opened), [true, [['cancel', 'show'], begins({ fresh: false, start: true })]]);
  assert.deepEqual(follow(opened), [true, [['cancel', 'show']]]);
  const rate = { ...opened, training: { ...opened.training, rate: 0.02 } };
  assert.deepEqual(follow(rate)[1].slice(1), [control('rate', { rate: 0.02 })]);
  assert.deepEqual(follow({ ...rate, layer: 0 })[1].slice(1), [control('look', { layer: 0, head: rate.head })]);
  assert.deepEqual(follow({ ...rate, layer: 0, head: 3 })[1].slice(1), [control('look', { layer: 0, head: 3 })]);
  const wider = { ...rate, training: { ...rate.training, seed: rate.training.seed + 1 } };
  assert.deepEqual(follow(wider)[1].slice(1), [begins({ fresh: false, start: true })]);
  training.restart();
  assert.deepEqual(since(), [begins({ fresh: true, start: true })]);
  assert.deepEqual(follow(initialState), [false, [['cancel', 'train'], control('pause')]]);
  state.value = opened;
  training.follow(null, opened);
  assert.deepEqual(since().at(-1), begins({ fresh: false, start: false }), 'at first it only shows what is there');
});

test('a file of a training is read, and its settings become those of the page', () => {
  const { follow, training, since, updates } = start();
  training.loadFile(Uint8Array.of(1));
  assert.deepEqual(since()[0][1].bytes, Uint8Array.of(1));
  assert.deepEqual(follow(opened), [true, [['cancel', 'show']]]);
  training.parts.trainingReport(report({}, { started: first }));
  assert.deepEqual(since(), [['acknowledgeReport', {}]]);
  assert.equal(updates.at(-1).training.task, 'sort');
  training.parts.trainingReport(report({}, { started: first }));
  assert.equal(updates.length, 1);
});

test('reports bring progress, points, frames and changes; each is acknowledged', () => {
  const { training, since } = start();
  training.parts.trainingReport(report({}, { started: first, changes: { heads: [] } }));
  assert.deepEqual([training.progress.value.steps, training.film.value.length], [5, 1]);
  assert.deepEqual(training.changes.value, { heads: [] });
  training.parts.trainingReport(report({ steps: 9 }, { points: [[9, 0.5]], frame: { step: 9 }, diverged: 'why' }));
  assert.deepEqual(training.curves.value.loss.at(-1), [9, 0.5]);
  assert.deepEqual(
    training.film.value.map(({ step }) => step),
    [0, 9],
  );
  assert.deepEqual([training.changes.value, training.diverged.value], [{ heads: [] }, 'why']);
  training.parts.trainingReport(report({}, { started: first }));
  assert.equal(training.changes.value, null, 'a new model has no changes');
  assert.equal(since().length, 3);
  training.play();
  assert.equal(training.diverged.value, undefined);
});

test('the button plays, pauses, or plays the film from the step that is shown', () => {
  const { training, since } = start();
  training.play();
  training.parts.trainingReport(report());
  training.play();
  training.parts.trainingReport(report({ playing: false }));
  training.play();
  assert.deepEqual(
    since().filter(([verb]) => verb === 'controlTraining'),
    [control('play'), control('pause'), control('play')],
  );
  training.parts.trainingReport(
    report({ playing: false, at: 0 }, { started: { ...first, frames: [{ step: 0 }, { step: 4 }] } }),
  );
  training.play();
  assert.equal(training.replaying.value, true);
  training.play();
  assert.equal(training.replaying.value, false);
  since();
  training.step();
  training.showStep(0);
  training.setSpeed(null);
  training.save();
  training.saveFolder();
  training.saveOnnx();
  training.removeSaved('k');
  assert.deepEqual(since(), [
    control('step'),
    control('back', { step: 0 }),
    control('speed', { speed: null }),
    control('save'),
    control('folder'),
    control('onnx'),
    control('remove', { key: 'k' }),
  ]);
  assert.equal(training.speed.value, null);
});

test('a model that the browser cannot store is unsaved until it is saved as a file', (t) => {
  t.mock.method(URL, 'createObjectURL', () => 'blob:x');
  t.mock.method(URL, 'revokeObjectURL', () => {});
  globalThis.document = { createElement: () => ({ click() {} }) };
  t.after(() => delete globalThis.document);
  const { training, updates } = start();
  const { parts, unsaved } = training;
  parts.trainingReport(report());
  assert.equal(unsaved.value, false);
  parts.storedModels({ problem: 'full' });
  assert.deepEqual([unsaved.value, training.problem.value], [true, 'full']);
  parts.savedFile({ bytes: Uint8Array.of(1), settings: { task: 'repeat' }, extension: 'onnx' });
  assert.equal(unsaved.value, true, 'the page cannot open ONNX files again');
  parts.savedFile({ bytes: Uint8Array.of(1), settings: { task: 'repeat' } });
  assert.equal(unsaved.value, false);
  parts.trainingReport(report({ steps: 6 }));
  assert.equal(unsaved.value, true);
  parts.storedModels({ list: ['a'] });
  assert.deepEqual([unsaved.value, training.savedModels.value, training.problem.value], [false, ['a'], null]);
  training.readText();
  assert.deepEqual(updates.at(-1), { panel: 'reading', text: 'abc' });
});

test('the curves of the previous training are kept for comparison only if it learned the same', () => {
  const { training } = start();
  const loss = Array.from({ length: 30 }, (_, step) => [step, 1]);
  const begin = (task, text = '') => {
    training.restart();
    const settings = { ...usualSettings(task === 'whale' ? 'repeat' : task), task, text };
    training.parts.trainingReport(
      report({}, { started: { ...first, curves: { loss, right: [], scores: {} }, settings } }),
    );
    return training.previousCurves.value?.loss.length ?? null;
  };
  assert.deepEqual([begin('repeat'), begin('repeat')], [null, 30]);
  assert.deepEqual([begin('whale', 'one'), begin('whale', 'one'), begin('whale', 'two')], [null, 30, null]);
});
