// Tests the detection of weights whose last two axes are swapped.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sumsOf, swapped } from '../../../web/model/rowSums.ts';

const of = (shape, data) => [{ shape, data: Float32Array.from(data) }];

test('rows and columns that sum to 1 are distinguished, and swapping the axes exchanges them', () => {
  const rows = of([1, 2, 3], [0.5, 0.25, 0.25, 0, 0, 1]);
  assert.equal(sumsOf(rows), 'rows');
  const columns = swapped(rows);
  assert.deepEqual(columns[0].shape, [1, 3, 2]);
  assert.deepEqual([...columns[0].data], [0.5, 0, 0.25, 0, 0.25, 1]);
  assert.equal(sumsOf(columns), 'columns');
  assert.deepEqual(swapped(columns), rows);
  assert.equal(sumsOf(of([1, 2, 2], [0.9, 0, 0.5, 0])), 'neither');
  assert.equal(sumsOf(of([1, 1, 2], [Number.NaN, 0])), 'rows', 'NaN is said elsewhere');
});
