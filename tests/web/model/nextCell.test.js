// Tests the keyboard keys that move the chosen cell.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nextCell } from '../../../web/model/nextCell.ts';

const causal = { T: 4, S: 4, full: false };
const full = { T: 2, S: 5, full: true };

test('arrow keys move by one cell and stop at the edges, in a causal matrix at the diagonal', () => {
  assert.deepEqual(nextCell('ArrowLeft', { t: 2, s: 1 }, causal), { t: 2, s: 0 });
  assert.deepEqual(nextCell('ArrowLeft', { t: 2, s: 0 }, causal), { t: 2, s: 0 });
  assert.deepEqual(nextCell('ArrowRight', { t: 2, s: 2 }, causal), { t: 2, s: 2 });
  assert.deepEqual(nextCell('ArrowRight', { t: 1, s: 2 }, full), { t: 1, s: 3 });
  assert.deepEqual(nextCell('ArrowUp', { t: 2, s: 2 }, causal), { t: 1, s: 1 });
  assert.deepEqual(nextCell('ArrowDown', { t: 1, s: 4 }, full), { t: 1, s: 4 });
});

test('Home and End lead to the ends of the row, Page Up and Page Down to the first and the last row', () => {
  assert.deepEqual(nextCell('Home', { t: 2, s: 1 }, causal), { t: 2, s: 0 });
  assert.deepEqual(nextCell('End', { t: 2, s: 1 }, causal), { t: 2, s: 2 });
  assert.deepEqual(nextCell('End', { t: 0, s: 1 }, full), { t: 0, s: 4 });
  assert.deepEqual(nextCell('PageUp', { t: 2, s: 1 }, causal), { t: 0, s: 0 });
  assert.deepEqual(nextCell('PageDown', { t: 1, s: 1 }, causal), { t: 3, s: 1 });
  assert.equal(nextCell('a', { t: 1, s: 1 }, causal), null);
});
