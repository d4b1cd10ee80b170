import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../support/kernels.js';

const COLS = 8;
const up = (n, to) => Math.ceil(n / to) * to;

/** x·wᵀ + bias in float64. */
function linear(x, w, bias, rows, out, inside) {
  const y = new Float64Array(rows * out);
  for (let r = 0; r < rows; r++)
    for (let j = 0; j < out; j++) {
      let sum = bias ? bias[j] : 0;
      for (let k = 0; k < inside; k++) sum += x[r * inside + k] * w[j * inside + k];
      y[r * out + j] = sum;
    }
  return y;
}

/** A gemm_product in linear memory: y, weight, bias, out. */
function product(k, { y, w, bias, out, inside }) {
  const packed = k.block(up(out, COLS) * inside);
  k.core.hl_weight_pack(packed.at, k.block(w).at, out, inside);
  return [y.at, packed.at, bias ? k.block(bias).at : 0, out];
}

function words(k, values) {
  const block = k.block(values.length);
  new Uint32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block.at;
}

test('gemm_linear equals the float64 product at every edge of its tiles, chunks and blocks', kernels((k) => {
  const sizes = [[0, 3, 3], [3, 0, 3], [3, 3, 0], [1, 1, 1], [1, 75, 300], [2, 33, 9], [3, 7, 5], [4, 8, 4], [5, 9, 13], [6, 8, 16], [7, 16, 17], [13, 31, 29], [59, 7, 255], [60, 193, 256], [61, 9, 257], [127, 23, 512], [121, 400, 3]];
  for (const [rows, out, inside] of sizes) {
    for (const withBias of [false, true]) {
      const [x, w, bias] = [numbers(rows * inside, 2), numbers(out * inside, 3), withBias && numbers(out, 4)];
      const y = k.block(rows * out);
      const workspace = k.block(Number(k.core.gemm_linear_workspace(BigInt(rows), inside)));
      k.core.gemm_linear(words(k, product(k, { y, w, bias, out, inside })), 1, k.block(x).at, rows, inside, workspace.at);
      assertClose(k.view(y), linear(x, w, bias, rows, out, inside), 1e-6, `${rows}×${inside}×${out}`);
      k.close();
    }
  }
}));

test('products that share their input are what they are alone', kernels((k) => {
  const [rows, inside, outs] = [67, 300, [200, 5, 193]];
  const x = numbers(rows * inside, 2);
  const ys = outs.map((out) => k.block(rows * out));
  const weights = outs.map((out, i) => numbers(out * inside, 3 + i));
  const biases = outs.map((out, i) => (i === 1 ? undefined : numbers(out, 9)));
  const products = words(k, outs.flatMap((out, i) => product(k, { y: ys[i], w: weights[i], bias: biases[i], out, inside })));
  k.core.gemm_linear(products, 3, k.block(x).at, rows, inside, k.block(Number(k.core.gemm_linear_workspace(BigInt(rows), inside))).at);
  outs.forEach((out, i) => assertClose(k.view(ys[i]), linear(x, weights[i], biases[i], rows, out, inside), 1e-6, `product ${i}`));
}));

test('a row has the same bits wherever it stands and whatever stands beside it', kernels((k) => {
  const [out, inside] = [77, 300];
  const [x, w, bias] = [numbers(70 * inside, 2), numbers(out * inside, 3), numbers(out, 4)];
  const run = (first, rows) => {
    const y = k.block(rows * out);
    const workspace = k.block(Number(k.core.gemm_linear_workspace(BigInt(rows), inside)));
    k.core.gemm_linear(words(k, product(k, { y, w, bias, out, inside })), 1, k.block(x.subarray(first * inside, (first + rows) * inside)).at, rows, inside, workspace.at);
    return k.view(y).slice();
  };
  const whole = run(0, 70);
  for (const [first, rows] of [[0, 1], [3, 1], [10, 2], [5, 4], [7, 5], [1, 6], [60, 10], [2, 13]]) {
    assert.deepEqual(run(first, rows), whole.slice(first * out, (first + rows) * out), `${rows} rows from ${first}`);
  }
}));

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
