import assert from 'node:assert/strict';
import test from 'node:test';
import { cosineSchedule, HeadlightError, warmupSchedule } from 'headlight-attention';

test('the learning rate rises linearly in the warm-up, and is then constant', () => {
  const rate = warmupSchedule({ lr: 0.4, warmup: 4 });
  assert.deepEqual([0, 1, 3, 4, 100].map(rate), [0.1, 0.2, 0.4, 0.4, 0.4]);
  assert.equal(warmupSchedule({ lr: 0.4, warmup: 0 })(0), 0.4);
});

test('a cosine schedule rises to lr, has the mean of lr and floor in the middle, and remains at the floor', () => {
  const rate = cosineSchedule({ lr: 1, warmup: 10, steps: 110, floor: 0.2 });
  for (const [step, expected] of [
    [0, 0.1],
    [9, 1],
    [10, 1],
    [60, 0.6],
    [110, 0.2],
    [1000, 0.2],
  ])
    assert.ok(Math.abs(rate(step) - expected) < 1e-12, `${step}`);
  for (let step = 10; step < 110; step++) assert.ok(rate(step + 1) < rate(step));
});

test('a schedule of 0 steps is refused', () => {
  assert.throws(
    () => cosineSchedule({ lr: 1, warmup: 5, steps: 5 }),
    (error) => error instanceof HeadlightError && error.parameter === 'steps',
  );
  assert.throws(
    () => cosineSchedule({ lr: 1, steps: 5, floor: 2 }),
    (error) => error instanceof HeadlightError && error.parameter === 'floor',
  );
});
