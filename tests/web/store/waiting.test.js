// Tests when the page says that it waits, and which state it then shows.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { createWaiting, PATIENCE } from '../../../web/store/waiting.ts';

const states = ['one', 'two', 'three'].map((text) => ({ key: text, state: { text } }));

/** Returns a page that shows the run of the first state. @param {import('node:test').TestContext} t */
function shown(t) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [run, state] = [signal(/** @type {any} */ (null)), signal(/** @type {any} */ (states[0].state))];
  const waiting = createWaiting({ run, state });
  const ask = (/** @type {number} */ i) => {
    state.value = states[i].state;
    waiting.begin(states[i]);
  };
  ask(0);
  run.value = {};
  waiting.arrive();
  const { isOld, isLate, shownState, failedRun } = waiting.actions;
  const seen = () => [isOld.value, isLate.value, shownState.value.text];
  return { waiting, ask, seen, failedRun, tick: (ms) => t.mock.timers.tick(ms) };
}

test('the page says that it waits after a while only, and shows the state of the previous run', (t) => {
  const { waiting, ask, seen, tick } = shown(t);
  assert.deepEqual(seen(), [false, false, 'one']);
  ask(1);
  assert.deepEqual(seen(), [true, false, 'two']);
  tick(PATIENCE - 1);
  assert.deepEqual(seen(), [true, false, 'two']);
  tick(1);
  assert.deepEqual(seen(), [true, true, 'one']);
  waiting.arrive();
  assert.deepEqual(seen(), [false, false, 'two']);
});

test('an answer that arrives soon is never late, and the next one has its own time', (t) => {
  const { waiting, ask, seen, tick } = shown(t);
  ask(1);
  tick(PATIENCE - 1);
  waiting.arrive();
  ask(2);
  tick(PATIENCE - 1);
  assert.deepEqual(seen(), [true, false, 'three']);
});

test('another request does not start the time again', (t) => {
  const { ask, seen, tick } = shown(t);
  ask(1);
  tick(PATIENCE - 1);
  ask(2);
  tick(1);
  assert.deepEqual(seen(), [true, true, 'one']);
});

test('a return to the shown run ends the waiting, and a failure', (t) => {
  const { waiting, ask, seen, failedRun, tick } = shown(t);
  ask(1);
  tick(PATIENCE);
  ask(0);
  assert.deepEqual(seen(), [false, false, 'one']);
  ask(1);
  waiting.fail('too long');
  assert.deepEqual([...seen(), failedRun.value], [true, false, 'one', 'too long']);
  assert.deepEqual(waiting.lastState(), states[0].state);
  ask(0);
  assert.deepEqual([...seen(), failedRun.value], [false, false, 'one', null]);
});
