import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../support/kernels.js';

const COLS = 8;
const up = (n, to) => Math.ceil(n / to) * to;

test('gemm_tile is the product of a left and a right panel, of any depth', kernels((k) => {
  const R = k.tileRows;
  for (const depth of [0, 1, 2, 3, 64, 251]) {
    const [a, b] = [numbers(depth * R, 5), numbers(depth * COLS, 6)];
    const c = k.block(R * COLS);
    k.core.gemm_tile(c.at, k.block(a).at, k.block(b).at, depth);
    const expected = new Float64Array(R * COLS);
    for (let i = 0; i < R * COLS; i++) for (let d = 0; d < depth; d++) expected[i] += a[d * R + Math.floor(i / COLS)] * b[d * COLS + (i % COLS)];
    assertClose(k.view(c), expected, 1e-6, `depth ${depth}`);
    k.close();
  }
}));

test('gemm_tile_rows is the same for fewer rows of a panel of any width, and writes no others', kernels((k) => {
  const depth = 37;
  for (let rows = 1; rows <= k.tileRows; rows++) {
    for (let width = rows; width <= k.tileRows; width++) {
      const [a, b] = [numbers(depth * width, 5), numbers(depth * COLS, 6)];
      const c = k.block(rows * COLS);
      k.core.gemm_tile_rows(rows, c.at, k.block(a).at, width, k.block(b).at, depth);
      const expected = new Float64Array(rows * COLS);
      for (let i = 0; i < rows * COLS; i++) for (let d = 0; d < depth; d++) expected[i] += a[d * width + Math.floor(i / COLS)] * b[d * COLS + (i % COLS)];
      assertClose(k.view(c), expected, 1e-6, `${rows} of ${width} rows`);
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
