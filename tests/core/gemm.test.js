import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../support/kernels.js';

const COLS = 8;
const up = (n, to) => Math.ceil(n / to) * to;

test('gemm_tile adds a product to its base: itself, a row for all, or zeros; rows apart by the stride', kernels((k) => {
  const R = k.tileRows;
  for (const depth of [0, 1, 2, 3, 64, 251]) {
    for (const from of ['itself', 'a row']) {
      const [a, b, before, row] = [numbers(depth * R, 5), numbers(depth * COLS, 6), numbers(R * 11, 7), numbers(COLS, 8)];
      const c = k.block(before);
      if (from === 'itself') k.core.gemm_tile(c.at, 11, c.at, 11, k.block(a).at, k.block(b).at, depth);
      else k.core.gemm_tile(c.at, 11, k.block(row).at, 0, k.block(a).at, k.block(b).at, depth);
      const expected = Float64Array.from(before);
      for (let r = 0; r < R; r++)
        for (let j = 0; j < COLS; j++) {
          let sum = from === 'itself' ? before[r * 11 + j] : row[j];
          for (let d = 0; d < depth; d++) sum += a[d * R + r] * b[d * COLS + j];
          expected[r * 11 + j] = sum;
        }
      assertClose(k.view(c), expected, 1e-6, `depth ${depth}`);
      k.close();
    }
  }
}));

test('gemm_pack_rows lays rows side by side, scaled, with zeros where rows are lacking', kernels((k) => {
  for (const width of [k.tileRows, COLS]) {
    for (const [rows, depth, stride] of [[1, 1, 1], [width - 1, 3, 5], [width, 4, 4], [width + 1, 7, 9], [2 * width + 3, 13, 13]]) {
      const source = numbers((rows - 1) * stride + depth, 8);
      const panels = k.block(up(rows, width) * depth);
      k.core.gemm_pack_rows(panels.at, width, k.block(source).at, stride, rows, depth, 0.5);
      const packed = k.view(panels);
      for (let r = 0; r < up(rows, width); r++)
        for (let d = 0; d < depth; d++) {
          const expected = r < rows ? source[r * stride + d] / 2 : 0;
          assert.equal(packed[(r - (r % width)) * depth + d * width + (r % width)], expected, `row ${r}, depth ${d}`);
        }
      k.close();
    }
  }
}));

test('gemm_pack_columns lays columns side by side from a row on, and tells NaN and infinity', kernels((k) => {
  const R = k.tileRows;
  for (const [rows, columns, stride] of [[1, 1, 1], [3, R - 1, 9], [4, R, R], [5, R + 1, R + 3], [7, 3 * R + 2, 40]]) {
    const [capacity, first] = [rows + 3, 2];
    const source = numbers((rows - 1) * stride + columns, 9);
    const panels = k.block(up(columns, R) * capacity);
    const from = k.block(source);
    assert.equal(k.core.gemm_pack_columns(panels.at, capacity, first, from.at, stride, rows, columns), 1);
    const packed = k.view(panels);
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < up(columns, R); c++) {
        const expected = c < columns ? source[r * stride + c] : 0;
        assert.equal(packed[(c - (c % R)) * capacity + (first + r) * R + (c % R)], expected);
      }
    for (const bad of [NaN, Infinity, -Infinity]) {
      for (let c = 0; c < columns; c++) {
        k.view(from).set(source);
        k.view(from)[(rows - 1) * stride + c] = bad;
        assert.equal(k.core.gemm_pack_columns(panels.at, capacity, first, from.at, stride, rows, columns), 0, `${bad} in column ${c}`);
      }
    }
    k.close();
  }
}));
