// Tests the geometry of the arc over the sentence.

import assert from 'node:assert/strict';
import test from 'node:test';
import { arcOf } from '../../../../web/features/first/arc.ts';

const box = (left, top, width) => ({ left, right: left + width, top, bottom: top + 40 });
const numbers = (path) => path.match(/-?[\d.]+/g).map(Number);
const given = { width: 360, thickness: 8, room: 200, on: true, endsLine: true };

test('in one line the arc rises from the copied word and ends above the guess, within its room', () => {
  const { path, label } = arcOf({ ...given, width: 1376, from: box(200, 200, 20), to: box(1200, 200, 90) });
  const [x1, y1, , top, , , x2, y2] = numbers(path);
  assert.deepEqual([x1, x2], [210, 1245]);
  assert.ok(y1 < 200 && y2 < 200 && y1 - 0.75 * (y1 - top) > 30, path);
  assert.ok(label.y > 0 && label.x > x1 && label.x < x2);
});

test('with the head off the arc stops short of the guess in every layout', () => {
  for (const [from, to, width] of [
    [box(200, 200, 20), box(1200, 200, 90), 1376],
    [box(150, 30, 90), box(120, 170, 80), 328],
  ]) {
    const [on, off] = [true, false].map((on) => arcOf({ ...given, width, from, to, on }).path);
    assert.notEqual(on, off);
  }
});

test('over several lines the arc goes through the right margin and stays in it', () => {
  for (const endsLine of [true, false]) {
    const { path, tip } = arcOf({ ...given, width: 328, endsLine, from: box(150, 60, 90), to: box(120, 200, 80) });
    const xs = numbers(path.replaceAll(/V-?[\d.]+/g, ''));
    assert.ok(Math.max(...xs) <= 328, path);
    assert.match(tip, /L210 220z$/, 'its head points at the guess');
  }
});
