import assert from 'node:assert/strict';
import test from 'node:test';
import { makeWatch } from '../../../src/js/load/watch.ts';

test('a worker is lost after 15 s without progress, in which the sleep of a computer counts as 1 s', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const watch = makeWatch();
  const look = (step, { first = 0, done = 0, work = 0 } = {}) => {
    now += step;
    watch(first, done, work);
  };
  const idle = (seconds, more) => {
    for (let i = 0; i < seconds; i++) look(1000, more);
  };
  const lost = { name: 'HeadlightError', code: 'STATE', message: /a worker ended/ };
  look(5000, { first: 1 });
  look(3_600_000);
  idle(14);
  assert.throws(() => idle(1), lost);
  // The time limit starts again with a new call and with each finished chunk. A chunk with more work has more time.
  look(1000, { first: 1 });
  idle(15);
  look(1000, { done: 1 });
  idle(15, { done: 1 });
  idle(10, { done: 1, work: 1e9 });
  assert.throws(() => idle(1, { done: 1, work: 1e9 }), lost);
  look(1000, { first: 1 });
  for (let i = 0; i < 15_000; i++) look(1);
  assert.throws(() => look(1), lost);
});
