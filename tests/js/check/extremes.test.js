import assert from 'node:assert/strict';
import test from 'node:test';
import { indexOfLargest, largestOf } from '../../../src/js/check/extremes.ts';
import { encodeBatch } from '../../../src/js/models/results/encodeBatch.ts';

test('the largest of a million values is found', () => {
  const values = Float32Array.from({ length: 1e6 }, (_, i) => (i * 7919) % 1e6);
  assert.equal(largestOf(values), 999_999);
  assert.equal(values[indexOfLargest(values)], 999_999);
  assert.equal(indexOfLargest([2, 3, 3]), 1);
  assert.deepEqual([largestOf([]), indexOfLargest([])], [-Infinity, -1]);
});

test('a batch of 150,000 texts is encoded', () => {
  const encoding = { ids: [1, 2], tokens: ['a', 'b'], offsets: [], typeIds: [0, 0] };
  const model = { encode: () => encoding, options: { tokenTypes: 0 } };
  assert.deepEqual(encodeBatch(model, 'encode', new Array(150_000).fill('a')).ids.shape, [150_000, 2]);
});
