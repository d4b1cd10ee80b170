import assert from 'node:assert/strict';
import test from 'node:test';
import { findTransposed, transpose } from '../../../../web/worker/sources/transposed.ts';

/** Returns a tensor of a file. */
const stored = (shape, numbers) => ({
  name: 'attentions',
  shape,
  read: async (first, count) => Float32Array.from(numbers.slice(first, first + count)),
});
const COLUMNS = [
  [1, 0.5, 0, 0.5],
  [0.25, 1, 0.75, 0],
];

test('the last two axes are swapped, for any range that is read', async () => {
  const numbers = Array.from({ length: 24 }, (_, i) => i);
  const transposed = transpose(stored([2, 3, 4], numbers));
  const expected = Array.from({ length: 24 }, (_, i) => {
    const [m, s, t] = [Math.floor(i / 12), Math.floor((i % 12) / 3), i % 3];
    return numbers[m * 12 + t * 4 + s];
  });
  assert.deepEqual(transposed.shape, [2, 4, 3]);
  for (const [first, count] of [
    [0, 24],
    [0, 12],
    [12, 12],
    [5, 3],
    [10, 7],
    [23, 1],
  ])
    assert.deepEqual(
      [...(await transposed.read(first, count))],
      expected.slice(first, first + count),
      `${first}, ${count}`,
    );
  const vector = stored([3], [1, 2, 3]);
  assert.equal(transpose(vector), vector);
});

test('it finds the first tensor whose columns sum to 1 in every matrix', async () => {
  const swapped = stored([2, 2, 2], COLUMNS.flat());
  const neither = stored([2, 2, 2], [...COLUMNS[0], 0.3, 1, 0.75, 0]);
  const negative = stored([1, 2, 2], [1.5, 0.5, -0.5, 0.5]);
  const empty = stored([1, 2, 2], [0, 0, 0, 0]);
  const row = stored([1, 1, 2], [1, 1]);
  assert.equal(await findTransposed([neither, negative, empty, row, swapped]), swapped);
  assert.equal(await findTransposed([neither, negative, empty, row]), null);
});
