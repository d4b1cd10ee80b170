// Tests the intervals of maxima: the edges are rounded as in NumPy, and each maximum is in one interval.

import assert from 'node:assert/strict';
import test from 'node:test';
import { edgesOf, intervalOf } from '../../../../src/js/analysis/scan/intervals.ts';

test('edges are the maxima at equal shares, halves rounded to even places', () => {
  const of = (length, count) => [
    ...edgesOf(
      Float32Array.from({ length }, (_, i) => length - 1 - i),
      count,
    ),
  ];
  assert.deepEqual(of(8, 4), [2, 4, 6]);
  assert.deepEqual(of(10, 4), [2, 5, 8], '2.5 becomes 2, and 7.5 becomes 8');
  assert.deepEqual(of(7, 2), [4], '3.5 becomes 4');
  assert.deepEqual(of(5, 3), [2, 3]);
  assert.deepEqual(of(1, 3), [0, 0], 'the last place at most');
  assert.deepEqual(of(0, 3), [Number.NaN, Number.NaN]);
});

test('a maximum is above the edges that it reaches', () => {
  assert.deepEqual(
    [0.1, 0.2, 0.25, 0.5, 0.9].map((max) => intervalOf(max, [0.2, 0.5])),
    [1, 2, 2, 3, 3],
  );
});
