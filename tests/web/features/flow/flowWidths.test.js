import assert from 'node:assert/strict';
import test from 'node:test';
import { widthsFor } from '../../../../web/features/flow/flowWidths.ts';

/** Returns the scale of one layer in a wide and low panel, where only the ribbons above the rows limit the scale. */
function scaleOf(parts, widest) {
  const columns = { count: 4, slots: 4, pitch: 10_000, pad: 0, lineRoom: 0, toRight: () => true };
  const flowing = parts.map(([slot, value]) => ({ kind: 'head', layer: 0, slot, value }));
  return widthsFor({ flowing, widest: flowing[widest], columns, width: 1e6, tall: 100, layers: 1 }, 0).scale;
}

// Above the rows, ribbons take at most 34% of the height on each side. A ribbon takes 3 pixels more than its width.
const ROOM = 34 - 3;

test('above the rows, the ribbons on the fuller side of the widest one limit the scale', () => {
  const right = scaleOf(
    [
      [0, 1],
      [1, 10],
      [2, 4],
    ],
    1,
  );
  const left = scaleOf(
    [
      [0, 4],
      [1, 10],
      [2, 1],
    ],
    1,
  );
  assert.ok(Math.abs(right - ROOM / 4) < 1e-9, `${right}`);
  assert.ok(Math.abs(left - ROOM / 4) < 1e-9, `${left}`);
});

test('parts in the column of the widest ribbon count on both sides', () => {
  const scale = scaleOf(
    [
      [0, 1],
      [1, 10],
      [1, 4],
      [2, 1],
    ],
    1,
  );
  assert.ok(Math.abs(scale - (34 - 2 * 3) / 5) < 1e-9, `${scale}`);
});
