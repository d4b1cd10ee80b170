import assert from 'node:assert/strict';
import test from 'node:test';
import { kernels, numbers } from '../../support/kernels.js';

const COLS = 8;

test(
  'panel_transpose transposes, panel_add_from_rows reverses panel_add_to_rows, panel_dots sums products',
  kernels((k) => {
    const square = numbers(COLS * COLS, 1);
    const transposed = k.block(COLS * COLS);
    k.core.panel_transpose(transposed.at, k.block(square).at);
    square.forEach((x, i) => assert.equal(k.view(transposed)[(i % COLS) * COLS + Math.floor(i / COLS)], x));
    for (const rows of [0, 1, 5, 8]) {
      for (const columns of [1, 7, 8]) {
        const [panel, source, stride] = [numbers(rows * COLS, 2), numbers(COLS * (rows + 2), 3), rows + 2];
        const [added, sums] = [k.block(panel), k.block(numbers(COLS, 4))];
        k.core.panel_add_from_rows(added.at, k.block(source).at, stride, rows, columns, 0.5);
        panel.forEach((x, i) =>
          assert.equal(
            k.view(added)[i],
            i % COLS < columns ? Math.fround(x + source[(i % COLS) * stride + Math.floor(i / COLS)] * 0.5) : x,
          ),
        );
        k.core.panel_dots(sums.at, added.at, k.block(panel).at, rows);
        for (let c = 0; c < COLS; c++) {
          let expected = numbers(COLS, 4)[c];
          for (let r = 0; r < rows; r++) expected += k.view(added)[r * COLS + c] * panel[r * COLS + c];
          assert.ok(Math.abs(k.view(sums)[c] - expected) < 1e-6);
        }
        k.close();
      }
    }
  }),
);

test(
  'panel_store writes columns as rows, panel_add_to_rows adds them times a factor',
  kernels((k) => {
    for (const rows of [0, 1, 3, 4, 5, 8, 17]) {
      for (const columns of [1, 3, 4, 5, 7, 8]) {
        const panel = numbers(rows * COLS, 2);
        const stride = rows + 3;
        const before = numbers((columns - 1) * stride + rows, 3);
        const [stored, added] = [k.block(before), k.block(before)];
        const from = k.block(panel);
        k.core.panel_store(stored.at, stride, from.at, rows, columns);
        k.core.panel_add_to_rows(added.at, stride, from.at, rows, columns, 0.25);
        for (let i = 0; i < before.length; i++) {
          const [c, r] = [Math.floor(i / stride), i % stride];
          assert.equal(k.view(stored)[i], r < rows ? panel[r * COLS + c] : before[i]);
          assert.equal(k.view(added)[i], r < rows ? Math.fround(before[i] + panel[r * COLS + c] * 0.25) : before[i]);
        }
        k.close();
      }
    }
  }),
);
