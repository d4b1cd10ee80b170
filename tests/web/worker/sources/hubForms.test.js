// Tests the forms of weights in which a model of the Hub can be opened, and the bytes of each form.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BLOCK_FORMS } from '../../../../src/js/io/blockRows.ts';
import { formsOf } from '../../../../web/worker/sources/hubModels.ts';

const container = (matrix) => ({
  tensors: new Map([
    ['m', { shape: [64, 64], dtype: 'F32', ...matrix }],
    ['v', { shape: [64], dtype: 'F32' }],
  ]),
});
const stored = (matrix) => formsOf(container(matrix)).find(({ weights }) => weights === 'stored');

test('matrices of 16 bits take half of the memory; those in blocks that of their codes, scales and minimums', () => {
  assert.deepEqual(formsOf(container({}))[0], { weights: 'float32', bytes: 4 * (64 * 64 + 64) });
  assert.equal(stored({}), undefined);
  assert.deepEqual(stored({ dtype: 'F16' }), { weights: 'stored', inBlocks: false, bytes: 2 * 64 * 64 + 256 });
  const bits = (form) => ((stored({ form }).bytes - 256) * 8) / 64 ** 2;
  assert.deepEqual(
    ['nibbles', 'raisedNibbles', 'bytes', 'halves', 'raisedHalves'].map((name) => bits(BLOCK_FORMS[name])),
    [5, 6, 9, 10, 12],
  );
  assert.equal(stored({ form: BLOCK_FORMS.nibbles }).inBlocks, true);
});
