// Tests the store of trained models: what is stored, what is reported to the page, and films that are too long.

import assert from 'node:assert/strict';
import test from 'node:test';
import { writeSafetensors } from 'headlight-attention/formats';
import { noCurves } from '../../../../web/model/training/curves.ts';
import { usualSettings } from '../../../../web/model/training/tasks.ts';
import { everyOther, Snapshots } from '../../../../web/worker/trainer/snapshots.ts';
import { readSavedFile, StoredModels } from '../../../../web/worker/trainer/storedModels.ts';

const settings = usualSettings('repeat');
/** Returns a trainer with `count` snapshots of `bytes` bytes in total. */
const trainerOf = (count, bytes) => ({
  settings,
  steps: 7,
  save: () => Uint8Array.of(1, 2),
  progress: () => ({
    rest: 'kept',
    snapshots: Array.from({ length: count }, (_, step) => ({
      step,
      state: { a: { data: { byteLength: bytes / count - 40 } }, b: { data: { byteLength: 40 } } },
    })),
  }),
});

function start(fields = {}) {
  const [put, sent] = [[], []];
  const list = [{ settings }, { settings: { task: 'an earlier task' } }];
  const store = { put: async (one) => void put.push(one), list: async () => list, remove: async () => {}, ...fields };
  return { models: new StoredModels(store, (kind, content) => sent.push([kind, content])), put, sent };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));
const framesOf = async (count, bytes) => {
  const { models, put } = start();
  models.put(trainerOf(count, bytes), { key: 'k', end: 9, curves: {} });
  await settled();
  return put[0].progress.snapshots.map(({ step }) => step);
};

test('a model is stored with its run, and the page gets the list of models of known tasks', async () => {
  const { models, put, sent } = start();
  models.put(trainerOf(2, 1000), { key: 'k', end: 9, curves: {} });
  await settled();
  const { at, progress, ...rest } = put[0];
  assert.ok(at > 0);
  assert.equal(progress.rest, 'kept');
  assert.deepEqual(rest, { key: 'k', end: 9, curves: {}, settings, steps: 7, bytes: Uint8Array.of(1, 2) });
  assert.deepEqual(sent, [['storedModels', { list: [{ settings }] }]]);
  await models.remove('k');
  assert.equal(sent.length, 2);
});

test('of a film beyond 8 MB every other frame is stored, until it fits', async () => {
  assert.deepEqual(await framesOf(8, 8e6), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await framesOf(8, 8e6 + 800), [0, 2, 4, 6]);
  assert.deepEqual(await framesOf(8, 16e6 + 800), [0, 4]);
  assert.deepEqual(await framesOf(8, 1e9), [0]);
  assert.deepEqual(await framesOf(0, 0), []);
});

test('a full store and another failure are told', async () => {
  for (const [error, problem] of [
    [Object.assign(new Error('x'), { name: 'QuotaExceededError' }), 'full'],
    [new Error('it is locked'), 'it is locked'],
  ]) {
    const { models, sent } = start({ put: () => Promise.reject(error) });
    models.put(trainerOf(1, 100), { key: 'k', end: 9, curves: {} });
    await settled();
    assert.deepEqual(sent, [['storedModels', { problem }]]);
  }
});

test('a store that cannot be read has no models', async () => {
  const failing = () => Promise.reject(new Error('closed'));
  const { models, sent } = start({ list: failing, get: failing });
  await models.list();
  assert.deepEqual(sent, [['storedModels', { list: [] }]]);
  assert.equal(await models.get('k'), undefined);
});

test('a model is due ten seconds after the last time', (t) => {
  let now = 50_000;
  t.mock.method(performance, 'now', () => now);
  const { models } = start();
  models.restart();
  now += 10_000;
  assert.equal(models.isDue, false);
  now += 1;
  assert.equal(models.isDue, true);
});

test('a file that was saved in the page has its settings and steps; another file is refused', () => {
  const tensors = { a: { data: Float32Array.of(1), shape: [1] } };
  const bytes = writeSafetensors(tensors, { settings: JSON.stringify(settings), steps: '30' });
  const { steps, end, settings: read, at } = readSavedFile(bytes);
  assert.deepEqual([steps, end, read, at], [30, 30, settings, 0]);
  assert.throws(() => readSavedFile(writeSafetensors(tensors, {})), /contains no settings/);
});

test('snapshots: one for each step, every other one when there are too many, the last always', () => {
  const snapshots = new Snapshots([], 4);
  for (const step of [0, 0, 5, 10, 15, 20]) snapshots.add(step, () => ({ step }));
  assert.deepEqual(snapshots.steps, [0, 10, 20]);
  assert.deepEqual([snapshots.last.step, snapshots.at(1).state], [20, { step: 10 }]);
  snapshots.removeLast();
  assert.deepEqual(snapshots.steps, [0, 10]);
  assert.deepEqual(everyOther([1, 2, 3, 4]), [1, 3]);
  assert.deepEqual(everyOther([1, 2, 3, 4], true), [1, 3, 4]);
});

test('a record that another version of the page stored is neither listed nor opened', async () => {
  const good = { key: 'k', settings, steps: 3, end: 9, at: 1, bytes: Uint8Array.of(1), curves: noCurves() };
  const wrong = [
    { ...good, settings: undefined },
    { ...good, settings: { ...settings, layers: 99 } },
    { ...good, steps: 'many' },
    { ...good, bytes: 'text' },
    { ...good, curves: undefined },
    { ...good, curves: { loss: [], right: [], scores: { a: 3 } } },
  ];
  const read = async (record) => start({ get: async () => record }).models.get('k');
  assert.equal(await read(good), good);
  assert.equal(await read({ ...good, progress: undefined }).then(({ key }) => key), 'k');
  for (const record of wrong) assert.equal(await read(record), undefined);
  const { models, sent } = start({ list: async () => [good, ...wrong.slice(0, 2), null] });
  await models.list();
  assert.deepEqual(sent.at(-1), ['storedModels', { list: [good] }]);
});
