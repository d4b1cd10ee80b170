// Tests the pace of training, and the reports to the page.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Pace } from '../../../../web/worker/trainer/pace.ts';
import { Reporter } from '../../../../web/worker/trainer/reporter.ts';

/** Returns a clock that a test sets. */
function clock(t, time = 1000) {
  const at = { time };
  t.mock.method(performance, 'now', () => at.time);
  return at;
}

test('steps are due at the chosen speed, and at most a tenth of a second is caught up', (t) => {
  const at = clock(t);
  const pace = new Pace(20);
  pace.restart();
  assert.deepEqual([pace.takeStep(), pace.takeStep(), pace.delay], [true, false, 50]);
  at.time += 49;
  assert.deepEqual([pace.takeStep(), pace.delay], [false, 1]);
  at.time += 1;
  assert.equal(pace.takeStep(), true);
  at.time += 10_000;
  let steps = 0;
  while (pace.takeStep()) steps++;
  assert.equal(steps, 4);
  const free = new Pace(null);
  free.restart();
  assert.deepEqual([free.takeStep(), free.takeStep(), free.delay], [true, true, 0]);
});

function start(t, paced = true) {
  const at = clock(t);
  const sent = [];
  const reporter = new Reporter();
  reporter.send('early', {});
  reporter.redirect((part, fields) => sent.push([part, fields]), paced);
  return { at, sent, reporter };
}

test('a report is due 90 ms after the last one, if there are points', (t) => {
  const { at, reporter, sent } = start(t);
  assert.equal(reporter.isDue, false);
  reporter.add([1, 2]);
  reporter.report({ steps: 1 }, { changed: 'x' });
  assert.deepEqual(sent, [
    ['trainingReport', { progress: { steps: 1, perSecond: null }, points: [[1, 2]], changed: 'x' }],
  ]);
  at.time += 91;
  assert.equal(reporter.isDue, false);
  reporter.add([2, 1]);
  assert.equal(reporter.isDue, true);
  at.time -= 1;
  assert.equal(reporter.isDue, false);
});

test('training waits while the page has more than two reports to acknowledge', (t) => {
  const { reporter } = start(t);
  const waits = Array.from({ length: 3 }, () => {
    reporter.report({ steps: 1 });
    return reporter.isWaiting;
  });
  assert.deepEqual(waits, [false, false, true]);
  reporter.acknowledge();
  assert.equal(reporter.isWaiting, false);
  for (let i = 0; i < 5; i++) reporter.acknowledge();
  for (let i = 0; i < 3; i++) reporter.report({ steps: 1 });
  assert.equal(reporter.isWaiting, true);
  reporter.redirect(() => {}, false);
  for (let i = 0; i < 9; i++) reporter.report({ steps: 1 });
  assert.equal(reporter.isWaiting, false);
});

test('the speed is that of more than two steps, counted anew after two seconds', (t) => {
  const { at, reporter, sent } = start(t);
  const speed = () => {
    reporter.report({ steps: 1 });
    return sent.at(-1)[1].progress.perSecond;
  };
  const steps = (count) => {
    for (let i = 0; i < count; i++) reporter.countStep();
  };
  reporter.restartCount();
  steps(2);
  at.time += 500;
  assert.equal(speed(), null);
  steps(1);
  assert.equal(speed(), 6);
  at.time += 1500;
  assert.equal(speed(), 1.5);
  at.time += 1;
  speed();
  steps(4);
  at.time += 1000;
  assert.equal(speed(), 4);
});

test('curves contain what was reported, all curves also what was not', (t) => {
  const { reporter } = start(t);
  reporter.startWith([0, 3]);
  reporter.completeLast(() => 0.25);
  reporter.completeLast(() => 0.75);
  reporter.report({ steps: 0 });
  reporter.add([1, 2]);
  assert.deepEqual(reporter.curves.loss, [[0, 3]]);
  assert.deepEqual(reporter.curves.right, [[0, 0.25]]);
  assert.deepEqual(reporter.allCurves(1).loss, [
    [0, 3],
    [1, 2],
  ]);
  reporter.reset();
  assert.deepEqual([reporter.curves.loss, reporter.isDue], [[], false]);
});
