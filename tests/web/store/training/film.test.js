// Tests the film of a training and the curves, as the page stores them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { createFilm } from '../../../../web/store/training/film.ts';
import { createCurves } from '../../../../web/store/training/trainingCurves.ts';

const frame = (step) => ({ step, weights: step });

function start(steps = [0, 10, 20], progress = { steps: 25, end: 100, playing: true }) {
  const sent = [];
  const now = signal(progress);
  const film = createFilm(now, (control) => sent.push(control));
  film.begin(steps.map(frame));
  return { film, now, sent };
}
const stepsOf = ({ frames }) => frames.value.map(({ step }) => step);

test('a frame is added after those of earlier steps; frames that are not kept are removed', () => {
  const { film } = start();
  film.add(frame(30));
  assert.deepEqual(stepsOf(film), [0, 10, 20, 30]);
  film.add(frame(10));
  assert.deepEqual(stepsOf(film), [0, 10]);
  film.add(frame(20), [0]);
  assert.deepEqual(stepsOf(film), [0, 20]);
});

test('the nearest frame is shown and training stops; without a frame or a run nothing happens', () => {
  const { film, now, sent } = start();
  film.show(14);
  assert.deepEqual(now.value, { steps: 25, end: 100, at: 10, playing: false });
  film.show(16);
  assert.deepEqual(sent, [
    { action: 'back', step: 10 },
    { action: 'back', step: 20 },
  ]);
  for (const given of [[[]], [[0], null]]) {
    const none = start(...given);
    none.film.show(0);
    assert.deepEqual(none.sent, []);
  }
});

test('a film is played from the frame that is shown; after the last one training continues', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { film, sent } = start();
  film.show(0);
  film.replay();
  assert.equal(film.replaying.value, true);
  t.mock.timers.tick(219);
  assert.equal(sent.length, 2);
  t.mock.timers.tick(1);
  assert.deepEqual(sent.slice(1), [
    { action: 'back', step: 10 },
    { action: 'back', step: 20 },
  ]);
  t.mock.timers.tick(220);
  assert.deepEqual(sent.at(-1), { action: 'play' });
  assert.equal(film.replaying.value, false);
});

test('a film can be stopped, and a training at its end does not continue', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { film, sent } = start();
  film.show(0);
  film.replay();
  film.stop();
  t.mock.timers.tick(1000);
  assert.equal(sent.length, 2);
  assert.equal(film.replaying.value, false);
  const ended = start([0], { steps: 100, end: 100 });
  ended.film.replay();
  assert.deepEqual(ended.sent, []);
});

test('curves of more than twenty marks are shown next to those of the next training of the same task', () => {
  const marks = (count) => ({ loss: Array.from({ length: count }, (_, i) => [i, 1]), right: [], scores: {} });
  for (const [count, isNew, kept] of [
    [20, true, false],
    [21, true, true],
    [21, false, false],
  ]) {
    const curves = createCurves();
    curves.begin(marks(count), false, { task: 'repeat', text: '' });
    curves.begin(marks(1), isNew, { task: 'repeat', text: '' });
    assert.equal(curves.previous.value?.loss.length, kept ? count : undefined);
    assert.equal(curves.now.value.loss.length, 1);
    curves.add({ points: [[5, 0.5]], step: 5 });
    assert.deepEqual(curves.now.value.loss.at(-1), [5, 0.5]);
  }
});
