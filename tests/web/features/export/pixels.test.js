// Tests the pixels of a large heatmap: their positions, several cells in one pixel, and cells without a value.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_SIDE, NAN_PIXEL, pixelsOf } from '../../../../web/features/export/pixels.ts';

const colours = { pixel: (value) => 1000 + value };
const list = (n) => Array.from({ length: n }, (_, i) => `${i}`);

test('each cell is the pixel of its row and column; rows and columns may have other places', () => {
  const panel = { names: list(2), keys: list(3), value: (t, s) => (s > t + 1 ? undefined : 10 * t + s) };
  assert.deepEqual(pixelsOf(panel, colours), {
    across: 3,
    down: 2,
    pixels: Uint32Array.of(1000, 1001, 0, 1010, 1011, 1012),
  });
  const apart = pixelsOf({ ...panel, rows: { n: 3, at: (t) => 2 * t }, columns: { n: 4, at: (s) => s + 1 } }, colours);
  assert.deepEqual([apart.across, apart.down], [4, 3]);
  assert.deepEqual([...apart.pixels], [0, 1000, 1001, 0, 0, 0, 0, 0, 0, 1010, 1011, 1012]);
});

test('of several cells in a pixel the largest absolute value is shown, and NaN is grey', () => {
  const names = list(2 * MAX_SIDE);
  const value = (t, s) => (t < 2 ? [3, -7, -2, 5][2 * (t % 2) + (s % 2)] : Number.NaN);
  const { across, down, pixels } = pixelsOf({ names: names.slice(0, 4), keys: names, value }, colours);
  assert.deepEqual([across, down], [MAX_SIDE, 4]);
  for (const [row, pixel] of [1000 - 7, 1005, NAN_PIXEL, NAN_PIXEL].entries())
    assert.ok(
      pixels.subarray(row * across, (row + 1) * across).every((one) => one === pixel),
      `row ${row}`,
    );
});
