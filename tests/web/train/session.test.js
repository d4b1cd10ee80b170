// What the worker of the Train view says to what it is told, without a worker.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight';
import { readSafetensors, writeSafetensors } from 'headlight/formats';
import { usualSettings } from '../../../web/model/tasks.js';
import { createSession } from '../../../web/train/session.js';
import { until } from '../../support/wait.js';

const settings = { ...usualSettings('previous'), width: 16, heads: 2 };

/** A session, and how it is told something: the last message that it posts in answer. */
function open(start = load) {
  const posted = [];
  const hear = createSession(start, (message) => posted.push(message));
  let order = 0;
  const tell = async (verb, more = {}) => {
    await hear({ verb, order: ++order, ...more });
    return posted.at(-1);
  };
  return { posted, tell };
}

test('it starts, steps, plays until it is paused, and goes back', async () => {
  const { posted, tell } = open();
  const first = await tell('start', { settings });
  assert.deepEqual([first.order, first.steps, first.started.settings, first.snapshots], [1, 0, settings, [0]]);
  assert.deepEqual([first.seen.weights.length, first.seen.examples.length], [1, 4]);
  const step = await tell('step');
  assert.deepEqual([step.steps, step.points.length, step.points[0].length], [1, 1, 5]);
  await tell('play');
  await until(() => posted.at(-1).steps > 25);
  const paused = await tell('pause');
  assert.equal(paused.playing, false);
  assert.ok(posted.some(({ points }) => points?.some((point) => point.length === 5 && point[0] === 20)));
  assert.equal((await tell('set', { rate: 0.1, speed: 'slow' })).steps, paused.steps);
  const back = await tell('back', { at: 0 });
  assert.deepEqual([back.at, back.steps], [0, paused.steps]);
  assert.equal((await tell('step')).steps, paused.steps + 1);
});

test('a rate that is too high is said, and the model goes on from its last good state', async () => {
  const { tell } = open();
  await tell('start', { settings: { ...settings, optimizer: 'sgd' } });
  await tell('set', { rate: 1e30 });
  let said = {};
  for (let i = 0; i < 20 && !said.broken; i++) said = await tell('step');
  assert.equal(said.broken, true);
  await tell('set', { rate: 0.01 });
  // The loss of a step is from before the optimizer writes: what it wrote shows in the next.
  for (let i = 0; i < 3; i++) assert.ok(Number.isFinite((await tell('step')).points[0][1]));
});

test('a model that is saved is loaded; one that is bad leaves the good one as it is', async () => {
  const { tell } = open();
  await tell('start', { settings });
  for (let i = 0; i < 3; i++) await tell('step');
  const { saved } = await tell('save');
  const { tensors, metadata } = readSafetensors(saved);
  const [name, ...others] = Object.keys(tensors);
  const less = Object.fromEntries(others.map((other) => [other, tensors[other]]));
  const written = (patch) => writeSafetensors(tensors, { ...metadata, ...patch });
  const bad = [
    new Uint8Array([1, 2, 3]),
    writeSafetensors(less, metadata),
    writeSafetensors({ ...less, [name]: { data: new Float32Array(2), shape: [1, 2] } }, metadata),
    writeSafetensors(tensors, {}),
    written({ settings: '{' }),
    written({ settings: JSON.stringify({ ...settings, width: 2 ** 20 }) }),
    written({ settings: JSON.stringify({ ...settings, width: 32 }) }),
    written({ steps: '-1' }),
  ];
  for (const [i, bytes] of bad.entries()) {
    const answer = await tell('load', { bytes });
    assert.equal(answer.verb, 'load', `file ${i}`);
    assert.ok(answer.error.length > 0);
  }
  assert.equal((await tell('step')).steps, 4);
  const loaded = await tell('load', { bytes: saved });
  assert.deepEqual([loaded.steps, loaded.started.settings, loaded.points[0].length], [3, settings, 5]);
  assert.equal((await tell('step')).steps, 4);
});

test('whatever is started or loaded takes the place of what was there, and no memory is lost', async () => {
  const hl = await load();
  const { tell } = open(async () => hl);
  const begin = async () => {
    await tell('start', { settings });
    const { saved } = await tell('save');
    await tell('load', { bytes: saved });
  };
  await begin();
  const { used } = hl.info.memory;
  for (let i = 0; i < 3; i++) await begin();
  assert.ok(hl.info.memory.used <= used, `${used} → ${hl.info.memory.used}`);
});

test('a layer is given with its inputs and tokens', async () => {
  const { tell } = open();
  await tell('start', { settings });
  const { layer } = await tell('layer', { at: 0 });
  const { tensors, metadata } = readSafetensors(layer.bytes);
  assert.deepEqual([layer.heads, tensors.x.shape, JSON.parse(metadata.keys).length], [2, [1, 24, 16], 24]);
});

test('what cannot be started is said', async () => {
  const { tell } = open();
  assert.match((await tell('start', { settings: { ...settings, task: 'text', text: '' } })).error, /20 characters/);
  assert.equal((await tell('start', { settings })).steps, 0);
});
