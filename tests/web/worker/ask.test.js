// The page's end of the channel to the worker, with a worker that answers when it is told to.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createAsk } from '../../../web/worker/ask.js';
import { until } from '../../support/wait.js';

function open() {
  const posted = [];
  const worker = { postMessage: (message) => posted.push(message) };
  const heard = { shown: [], errors: [], progress: [] };
  let stopped = false;
  const ask = createAsk(
    {
      onShown: (shown) => heard.shown.push(shown),
      onError: (error) => heard.errors.push(error),
      onProgress: (progress) => heard.progress.push(progress),
    },
    () => ({ worker, stop: () => (stopped = true) }),
  );
  const answer = (data) => worker.onmessage({ data: { id: posted.at(-1).id, ...data } });
  return { ask, posted, worker, heard, answer, isStopped: () => stopped };
}

test('one question at a time: only the newest state waits, files wait in turn', async () => {
  const { ask, posted, answer, heard } = open();
  ask.show({ state: 1 });
  ask.show({ state: 2 });
  ask.show({ state: 3 });
  const made = ask.request('make', { what: 'csv' });
  assert.deepEqual(
    posted.map(({ verb, state }) => [verb, state]),
    [['show', 1]],
  );
  answer({ parts: { a: 1 }, keys: { a: 'one' } });
  assert.equal(posted.at(-1).verb, 'make');
  answer({ made: 'text' });
  assert.equal((await made).made, 'text');
  assert.deepEqual([posted.at(-1).verb, posted.at(-1).state], ['show', 3]);
  assert.equal(ask.busy(), true);
  answer({ parts: {}, keys: {} });
  assert.equal(ask.busy(), false);
  assert.equal(heard.shown.length, 2);
});

test('each question says what the page has, and what did not change is shown on', () => {
  const { ask, posted, answer, heard } = open();
  ask.show({});
  assert.deepEqual(posted[0].have, {});
  answer({ parts: { a: 1, b: 2 }, keys: { a: 'one', b: 'two' } });
  ask.show({});
  assert.deepEqual(posted[1].have, { a: 'one', b: 'two' });
  answer({ parts: { b: 3 }, keys: { a: 'one', b: 'three' } });
  assert.deepEqual(heard.shown.at(-1), { a: 1, b: 3 });
  ask.show({});
  answer({ cancelled: true });
  ask.show({});
  assert.deepEqual(posted[3].have, { a: 'one', b: 'three' });
  answer({ parts: {}, keys: {} });
  assert.deepEqual(heard.shown.at(-1), {});
  ask.show({});
  assert.deepEqual(posted[4].have, {});
  answer({ error: 'too wide' });
  assert.deepEqual(heard.errors, [{ cancelled: true }, { message: 'too wide' }]);
});

test('what was left out in a hurry is asked for when nobody drags any more', async () => {
  const { ask, posted, answer } = open();
  ask.show({ state: 1 });
  answer({ parts: {}, keys: {}, late: true });
  assert.equal(ask.owing(), true);
  await until(() => posted.length === 2);
  assert.deepEqual([posted[1].state, ask.owing()], [1, false]);
});

test('progress is passed on; an answer of a question that is over is not', () => {
  const { ask, posted, answer, worker, heard } = open();
  ask.show({});
  answer({ progress: { done: 1, of: 3 } });
  ask.cancel();
  assert.deepEqual([heard.progress, posted.at(-1)], [[{ done: 1, of: 3 }], { verb: 'cancel' }]);
  worker.onmessage({ data: { id: 99, parts: {}, keys: {} } });
  assert.equal(heard.shown.length, 0);
});

test('a worker that does not start ends every question', async () => {
  const { ask, worker, heard, isStopped } = open();
  ask.show({});
  const made = ask.request('make', {});
  worker.onerror({ message: 'no worker' });
  assert.deepEqual([heard.errors, await made, ask.busy()], [[{ message: 'no worker' }], { error: 'no worker' }, false]);
  ask.stop();
  assert.equal(isStopped(), true);
});
