import assert from 'node:assert/strict';
import test from 'node:test';
import { headStatistics, rankHeads } from '../../../web/model/stats.js';

/** A head of rows; null is hidden. */
const headOf = (rows) => ({
  weights: Float32Array.from(rows.flat(), (w) => w ?? 0),
  scores: Float32Array.from(rows.flat(), (w) => (w === null ? -Infinity : 0)),
  T: rows.length,
  S: rows[0]?.length ?? 0,
});
const letters = (text) => [...text];
const identity = (n) => Array.from({ length: n }, (_, t) => Array.from({ length: n }, (_, s) => Number(t === s)));

test('uniform rows have the entropy of their keys, sharp ones none', () => {
  assert.equal(headStatistics(headOf(Array(3).fill(Array(8).fill(1 / 8))), letters('abc'), false).entropy, 3);
  assert.equal(headStatistics(headOf(identity(4)), letters('abcd'), true).entropy, 0);
});

test('a head that looks one step back has previous 1, and distance 1 but for the first row', () => {
  const rows = [
    [1, 0, 0, 0],
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
  ];
  const { previous, distance, first } = headStatistics(headOf(rows), letters('abcd'), true);
  assert.deepEqual([previous, distance, first], [1, 0.75, 0.5]);
});

test('after "a b c a b c" an induction head looks at what came next', () => {
  const rows = identity(6);
  rows[3] = [0, 1, 0, 0, 0, 0];
  rows[4] = [0, 0, 0.5, 0.5, 0, 0];
  rows[5] = [0, 0, 0, 1, 0, 0];
  const { induction } = headStatistics(headOf(rows), letters('aBcAbc'), true);
  assert.equal(induction, (1 + 0.5 + 1) / 3);
});

test('queries that see nothing are left out; what does not apply is null', () => {
  const rows = [
    [null, null],
    [0.5, 0.5],
  ];
  assert.equal(headStatistics(headOf(rows), letters('ab'), true).entropy, 1);
  assert.deepEqual(headStatistics(headOf([[null, null]]), letters('a'), false), {
    entropy: null,
    distance: null,
    first: null,
    previous: null,
    induction: null,
  });
  assert.equal(headStatistics(headOf([[1]]), letters('a'), true).previous, null);
});

test('heads are ranked either way, those without the number last', () => {
  const statistics = [{ x: 2 }, { x: null }, { x: 5 }, { x: 2 }];
  assert.deepEqual(rankHeads(statistics, 'x', true), [2, 0, 3, 1]);
  assert.deepEqual(rankHeads(statistics, 'x', false), [0, 3, 2, 1]);
});
