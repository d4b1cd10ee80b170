// Tests the list of predictions: the likeliest labels, and labels that must be listed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { listed } from '../../../../web/worker/run/predictions.ts';

const LIKELY = [0.02, 0.5, 0.1, 0.04, 0.2, 0.08, 0.05, 0.01];
const ids = (list) => list.map(({ id }) => id);

test('the list of predictions has the likeliest labels in order, however small the others are', () => {
  assert.deepEqual(ids(listed(LIKELY, 5, [1])), [1, 4, 2, 5, 6]);
  assert.deepEqual(ids(listed([0.95, 0.007, 0.004, 0.003, 0.001, 0.0005], 5, [0])), [0, 1, 2, 3, 4]);
});

test('a required label replaces the least likely one of the list, and its rank says how many are left out', () => {
  const list = listed(LIKELY, 5, [7, 1]);
  assert.deepEqual(ids(list), [1, 4, 2, 5, 7]);
  assert.deepEqual(
    list.map(({ rank }) => rank),
    [1, 2, 3, 4, 8],
  );
  assert.deepEqual(ids(listed(LIKELY, 5, [7, 0])), [1, 4, 2, 0, 7]);
  assert.deepEqual(ids(listed(LIKELY, 5, [6, 0])), [1, 4, 2, 6, 0]);
  assert.deepEqual(ids(listed(LIKELY, 5, [6, 6])), [1, 4, 2, 5, 6]);
});
