import assert from 'node:assert/strict';
import test from 'node:test';
import { kernels, numbers } from '../support/kernels.js';

const COLS = 8;

test('panel_store turns columns into rows, panel_add adds them times a factor', kernels((k) => {
  for (const rows of [0, 1, 3, 4, 5, 8, 17]) {
    for (const columns of [1, 3, 4, 5, 7, 8]) {
      const panel = numbers(rows * COLS, 2);
      const stride = rows + 3;
      const before = numbers((columns - 1) * stride + rows, 3);
      const [stored, added] = [k.block(before), k.block(before)];
      const from = k.block(panel);
      k.core.panel_store(stored.at, stride, from.at, rows, columns);
      k.core.panel_add(added.at, stride, from.at, rows, columns, 0.25);
      for (let i = 0; i < before.length; i++) {
        const [c, r] = [Math.floor(i / stride), i % stride];
        assert.equal(k.view(stored)[i], r < rows ? panel[r * COLS + c] : before[i]);
        assert.equal(k.view(added)[i], r < rows ? Math.fround(before[i] + panel[r * COLS + c] * 0.25) : before[i]);
      }
      k.close();
    }
  }
}));
