// Tests the requests of the trace: one is sent for each trace, and another one after the worker has ended. The mean
// over the pairs of a task is requested only after the worker has sent the tasks.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { createTracing } from '../../../../web/store/measured/tracing.ts';

const pinned = runOf({ ...initialState, text: 'upper' });
const traced = (more = {}) => change({ ...initialState, pinned }, { view: 'trace', text: 'lower', ...more });
const mean = (state) => ({ ...state, trace: { ...state.trace, task: 'gender', pair: -1 } });

function start(first = traced()) {
  const asked = [];
  const state = signal(first);
  const fields = { trace: signal(null), traceTasks: signal(null) };
  const answers = { fields, set: (some) => Object.entries(some).forEach(([name, x]) => (fields[name].value = x)) };
  const requests = { tracing: signal(false), send: (request) => asked.push(request) };
  const tracing = createTracing({ requests, state, answers });
  const follow = (now) => {
    state.value = now;
    tracing.follow(now);
    return asked.splice(0).map(({ verb }) => verb);
  };
  return { tracing, follow, asked, fields, requests };
}

test('a trace is asked for once in its view, with the tasks of its model', () => {
  const { follow } = start();
  assert.deepEqual(follow({ ...traced(), view: 'heatmap' }), []);
  assert.deepEqual(follow(traced()), ['traceTasks', 'trace']);
  assert.deepEqual(follow(traced()), []);
  assert.deepEqual(follow(traced({ patch: { 'heads.4.10': 1 } })), [], 'a patch is not part of the trace');
  assert.deepEqual(follow(traced({ text: 'other' })), ['trace']);
  assert.deepEqual(follow({ ...traced({ text: 'other' }), pinned: null }), []);
  assert.deepEqual(follow({ ...traced(), model: 'constructed' }), ['traceTasks', 'trace']);
});

test('the mean of all pairs waits for the pairs of its task', () => {
  const { tracing, follow, asked, fields } = start();
  assert.deepEqual(follow(mean(traced())), ['traceTasks']);
  const pairs = [{ upper: 'a', lower: 'b' }];
  tracing.parts.traceTasks({ tasks: [{ name: 'gender', pairs }] });
  assert.deepEqual(asked[0].pairs, pairs);
  assert.equal(fields.traceTasks.value.tasks.length, 1);
});

test('after the worker has ended the trace is asked for again', () => {
  const { tracing, follow, asked } = start();
  follow(traced());
  tracing.again();
  assert.deepEqual(
    asked.map(({ verb }) => verb),
    ['traceTasks', 'trace'],
  );
});

test('a place is measured next only while a trace is measured; a new trace has none, and is not paused', () => {
  const { tracing, follow, asked, requests } = start();
  const place = { part: 'mlp', layer: 1, place: 2 };
  tracing.point(place);
  assert.deepEqual([tracing.pointed.value, asked], [place, []]);
  requests.tracing.value = true;
  tracing.point(place);
  tracing.pause(true);
  assert.deepEqual(asked.splice(0), [
    { verb: 'traceControl', place },
    { verb: 'traceControl', paused: true },
  ]);
  assert.equal(tracing.paused.value, true);
  follow(traced());
  assert.deepEqual([tracing.pointed.value, tracing.paused.value], [null, false]);
});

test('cells without a trace are ignored', () => {
  const { tracing, fields } = start();
  tracing.parts.traceCells({ cells: [], done: 1, total: 2, left: 0 });
  assert.equal(fields.trace.value, null);
});
