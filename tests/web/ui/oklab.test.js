import assert from 'node:assert/strict';
import test from 'node:test';
import { oklabToRgb, shortest } from '../../../web/ui/oklab.ts';

test('the shortest decimal reads back as the same float32', () => {
  for (const x of [0, 1, 0.1, 1 / 3, 1e-30, 123456.7, -2.5, NaN].map(Math.fround))
    assert.ok(Object.is(Math.fround(Number(shortest(x))), x));
  assert.deepEqual([0.1, 0.25, 1].map(Math.fround).map(shortest), ['0.1', '0.25', '1']);
});

test('grey in OKLab is grey, and what lies beyond the screen is cut', () => {
  assert.deepEqual(
    [0, 1].map((L) => oklabToRgb([L, 0, 0])),
    [
      [0, 0, 0],
      [255, 255, 255],
    ],
  );
  assert.ok(oklabToRgb([0.7, 0.4, 0]).every((x) => x >= 0 && x <= 255));
});
