import assert from 'node:assert/strict';
import test from 'node:test';
import { repeating } from '../../../../web/worker/run/repetition.ts';

test('tokens that would repeat three tokens are found, others are not', () => {
  assert.deepEqual(repeating([]), []);
  assert.deepEqual(repeating([1, 2]), []);
  assert.deepEqual(repeating([1, 2, 3, 4]), []);
  assert.deepEqual(repeating([1, 2, 3, 1, 2]), [3]);
  assert.deepEqual(repeating([1, 2, 3, 1, 2, 4, 1, 2]), [3, 4]);
  assert.deepEqual(repeating([1, 2, 3, 2]), []);
});

test('a token that stands twice in a row is not added a third time', () => {
  assert.deepEqual(repeating([5, 5]), [5]);
  assert.deepEqual(repeating([4, 5, 5]), [5]);
  assert.deepEqual(repeating([5, 4, 5]), []);
});

test('a text without these tokens never has the same three tokens twice', () => {
  const ids = [];
  while (ids.length < 20) ids.push([...Array(12).keys()].find((id) => !repeating(ids).includes(id)));
  const threes = ids.slice(2).map((_, t) => ids.slice(t, t + 3).join());
  assert.equal(new Set(threes).size, threes.length);
});
