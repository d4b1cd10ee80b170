// Tests the selection of edges that keep most of a prediction together.

import assert from 'node:assert/strict';
import test from 'node:test';
import { neededLines } from '../../../../web/model/circuit/neededLines.ts';

/** Returns the share that edges keep: all if one of each group of alternatives is among them, otherwise none. */
const alternatives = (groups) => async (lines) =>
  groups.every((group) => group.some((line) => lines.includes(line))) ? 1 : 0;

test('of two edges that carry the same information, only the stronger is kept', async () => {
  const asked = [];
  const shareOf = alternatives([['a'], ['b', 'c'], ['d']]);
  const needed = await neededLines(['a', 'b', 'c', 'd', 'e', 'f', 'g'], async (lines) => {
    asked.push(lines.join(''));
    return shareOf(lines);
  });
  assert.deepEqual(needed, ['a', 'b', 'd']);
  assert.deepEqual(asked, ['a', 'ab', 'abcd', 'abc', 'abd', 'ad', 'bd']);
});

test('the last edges are found although their number is no power of two', async () => {
  assert.deepEqual(await neededLines(['a', 'b', 'c', 'd', 'e'], alternatives([['e'], ['b']])), ['b', 'e']);
});

test('no edge is selected if all of them keep too little', async () => {
  assert.deepEqual(await neededLines(['a', 'b', 'c'], async () => 0.89), []);
  assert.deepEqual(await neededLines([], async () => 1), []);
});
