// Tests the state and requests of the panel of the Hub while a model is looked up and downloaded.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { Hub } from '../../../../web/store/opening/hub.ts';

const SMALL = 20e6;
const model = (fields = {}) => ({
  name: 'a/b@main',
  size: SMALL,
  download: SMALL,
  stores: true,
  forms: [
    { weights: 'float32', bytes: SMALL },
    { weights: 'stored', bytes: SMALL / 2 },
  ],
  room: 1e9,
  ...fields,
});

function start() {
  const [asked, begun, presented] = [[], [], []];
  const hub = new Hub(
    {
      requests: {
        send: ({ verb, ...fields }) => asked.push([verb, ...Object.values(fields)]),
        cancel: (verb) => asked.push(['cancel', verb]),
      },
      files: { actions: { problem: signal(null) }, clearProblem() {}, begin: (file) => begun.push(file) },
      aboutOf: (name) => (name === 'opened' ? { name } : null),
      present: (about) => presented.push(about),
    },
    null,
  );
  /** Returns the requests since the last call. */
  const since = () => asked.splice(0);
  since();
  return { hub, since, begun, presented };
}

test('only an answer about a wait shows one, until it ends', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { hub } = start();
  hub.receive({ stored: [] });
  assert.deepEqual([hub.waiting.value, hub.stored.value], [false, []]);
  hub.receive({ waits: 2 });
  assert.deepEqual([hub.waiting.value, hub.stored.value], [true, []]);
  t.mock.timers.tick(1000);
  hub.receive({ waits: 2 });
  t.mock.timers.tick(1999);
  assert.equal(hub.waiting.value, true, 'the second wait is not over');
  t.mock.timers.tick(1);
  assert.equal(hub.waiting.value, false);
});

test('a model is looked up with the token, once more on request, and shown if it is open', () => {
  const { hub, since, presented } = start();
  const view = { text: 'At sea' };
  hub.setToken(' hf_x ');
  hub.describe('a/b', view);
  hub.again();
  assert.deepEqual(since(), Array(2).fill(['hubDescribe', 'a/b', 'hf_x']));
  assert.equal(hub.describing.value, 'a/b');
  hub.receive({ described: model({ name: 'opened' }) });
  assert.deepEqual([presented, hub.describing.value, since()], [[{ name: 'opened' }], null, []]);
  assert.equal(hub.takeView(), view);
  assert.equal(hub.takeView(), undefined);
  hub.back();
  assert.deepEqual(since(), [['cancel', 'hubDescribe']]);
});

test('a small model is downloaded at once, a large one on request', () => {
  const { hub, since } = start();
  hub.receive({ described: model() });
  assert.deepEqual([hub.model.value, since()], [null, [['hubOpen', 'a/b@main', 'float32', '']]]);
  hub.receive({ described: model({ download: 60e6 }) });
  assert.deepEqual([hub.model.value.download, hub.form.value, since()], [60e6, 'float32', []]);
});

test('after the end of a worker the model is downloaded only on request', () => {
  const { hub, since, begun } = start();
  hub.askFirst();
  hub.receive({ described: model() });
  assert.deepEqual([hub.model.value.name, since()], ['a/b@main', []]);
  hub.setForm('stored');
  hub.open();
  assert.deepEqual(since(), [['hubOpen', 'a/b@main', 'stored', '']]);
  assert.deepEqual(begun, [{ title: 'a/b', total: SMALL, resumes: true }]);
  hub.cancelled();
  assert.deepEqual(since(), [['hubDescribe', 'a/b@main', '']]);
  hub.receive({ described: model({ download: 1e6 }) });
  assert.deepEqual([hub.form.value, hub.model.value.download], ['stored', 1e6], 'the form stays');
});
