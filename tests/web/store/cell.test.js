// Tests which cell is explained: the cell under the pointer, the chosen cell, or the cell with the largest weight in
// the last row.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { createCell } from '../../../web/store/cell.ts';
import { hasContributions, hasPredictions, hasValues } from '../../../web/store/runParts.ts';

/** Weights of two layers of two heads. Head 1 of layer 1 attends most to key 1 in row 1 and to key 0 in row 2. */
const WEIGHTS = Float32Array.from({ length: 4 * 9 }, (_, i) =>
  i >= 27 ? [1, 0, 0, 0.3, 0.7, 0, 0.6, 0.1, 0.3][i - 27] : i % 3,
);
const RUN = { weights: WEIGHTS, large: false, about: { heads: 2 }, T: 3, S: 3, layer: 1, head: 1, place: 2 };

const cellOf = (run, hover = null, cell = null) =>
  createCell({ run: signal(run), hover: signal(hover), state: signal({ cell }) }).value;

test('the cell under the pointer comes before the selected one, and both are within the run', () => {
  assert.deepEqual(cellOf(RUN, { t: 1, s: 0 }, { t: 2, s: 2 }), { t: 1, s: 0 });
  assert.deepEqual(cellOf(RUN, null, { t: 2, s: 1 }), { t: 2, s: 1 });
  assert.deepEqual(cellOf(RUN, null, { t: 9, s: 9 }), { t: 2, s: 2 });
  assert.deepEqual(cellOf(RUN, { t: 1, s: -1 }), { t: 1, s: 1 });
});

test('without one it is the strongest key of the row that predicts, else of the last row', () => {
  assert.deepEqual(cellOf(RUN), { t: 2, s: 0 });
  assert.deepEqual(cellOf({ ...RUN, place: 1 }), { t: 1, s: 1 });
  assert.deepEqual(cellOf({ ...RUN, place: undefined }), { t: 2, s: 0 });
  const alone = { ...RUN, large: true, weights: WEIGHTS.subarray(27) };
  assert.deepEqual(cellOf(alone), { t: 2, s: 0 });
});

test('a run without tokens has no cell', () => {
  for (const run of [null, { ...RUN, T: 0 }, { ...RUN, S: 0 }]) assert.equal(cellOf(run, { t: 0, s: 0 }), null);
});

test('the parts of a run that only some models have', () => {
  assert.deepEqual([null, {}, { values: {} }].map(hasValues), [false, false, true]);
  assert.deepEqual([null, { top: [] }, { chosen: 0 }, { top: [], chosen: 0 }].map(hasPredictions), [
    ...[false, false, false, true],
  ]);
  assert.deepEqual([{ added: {} }, { top: [], chosen: 0 }, { added: {}, top: [], chosen: 0 }].map(hasContributions), [
    ...[false, false, true],
  ]);
});
