import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const COLS = 8;
const up = (n, to) => Math.ceil(n / to) * to;

/** Returns the inputs of a tile, and `before` + a·b in double precision. */
function tile(k, rows, width, depth, stride) {
  const [a, b, before] = [numbers(depth * width, 5), numbers(depth * stride, 6), numbers(rows * COLS, 7)];
  const expected = Float64Array.from(before, (x, i) => {
    for (let d = 0; d < depth; d++) x += a[d * width + Math.floor(i / COLS)] * b[d * stride + (i % COLS)];
    return x;
  });
  return { a: k.block(a).at, b: k.block(b).at, before: k.block(before).at, expected };
}

test(
  'gemm_full_tile adds the product of two panels of any depth; gemm_full_tile_overwrite is the product alone',
  kernels((k) => {
    const R = k.tileRows;
    for (const depth of [0, 1, 2, 3, 64, 251]) {
      const { a, b, before, expected } = tile(k, R, R, depth, COLS);
      const c = k.block(R * COLS);
      k.core.gemm_full_tile(c.at, COLS, before, a, b, depth);
      assertClose(k.view(c), expected, 1e-6, `depth ${depth}`);
      const alone = k.block(R * COLS);
      k.core.gemm_full_tile_overwrite(alone.at, a, b, depth);
      k.core.gemm_full_tile(c.at, COLS, k.core.gemm_zeros.value, a, b, depth);
      assert.deepEqual(k.view(alone), k.view(c));
      k.close();
    }
  }),
);

test(
  'gemm_partial_tile does the same for fewer, strided rows and writes no others',
  kernels((k) => {
    const depth = 37;
    for (let rows = 1; rows < k.tileRows; rows++) {
      for (let width = rows; width <= k.tileRows; width++) {
        for (const stride of [COLS, 13]) {
          const { a, b, before, expected } = tile(k, rows, width, depth, stride);
          const c = k.block(new Float32Array((rows - 1) * stride + COLS).fill(7));
          k.core.gemm_partial_tile(rows, c.at, stride, before, a, width, b, stride, depth);
          assertClose(
            expected.map((_, i) => k.view(c)[Math.floor(i / COLS) * stride + (i % COLS)]),
            expected,
            1e-6,
            `${rows} of ${width} rows`,
          );
          assert.ok(
            k.view(c).every((x, i) => i % stride < COLS || x === 7),
            'written between the rows',
          );
          k.close();
        }
      }
    }
  }),
);

test(
  'gemm_pack_rows packs scaled rows side by side and fills missing rows with zeros',
  kernels((k) => {
    for (const width of [k.tileRows, COLS]) {
      for (const [rows, depth, stride] of [
        [1, 1, 1],
        [width - 1, 3, 5],
        [width, 4, 4],
        [width + 1, 7, 9],
        [2 * width + 3, 13, 13],
      ]) {
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
  }),
);

test(
  'gemm_pack_columns packs columns side by side from a given row on and detects NaN and infinity',
  kernels((k) => {
    const R = k.tileRows;
    for (const [rows, columns, stride] of [
      [1, 1, 1],
      [3, R - 1, 9],
      [4, R, R],
      [5, R + 1, R + 3],
      [7, 3 * R + 2, 40],
    ]) {
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
          assert.equal(
            k.core.gemm_pack_columns(panels.at, capacity, first, from.at, stride, rows, columns),
            0,
            `${bad} in column ${c}`,
          );
        }
      }
      k.close();
    }
  }),
);
