import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const [OK, BAD_ARGUMENT] = [0, 3];

function quantized(k, w, out, inside) {
  const packed = k.block(k.core.hl_weight_quantized_size(out, inside));
  assert.equal(k.core.hl_weight_quantize(packed.at, k.block(w).at, out, inside), OK);
  return packed;
}

function integers(k, values) {
  const block = k.block(values.length);
  new Int32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block;
}

const SIZES = [
  [1, 1],
  [3, 5],
  [8, 16],
  [9, 127],
  [17, 128],
  [30, 129],
  [50, 300],
  [5, 0],
];

test(
  'rows of an int8 weight are what was rounded, within half a step of each group, in any order',
  kernels((k) => {
    for (const [out, inside] of SIZES) {
      const w = numbers(out * inside, 3);
      const packed = quantized(k, w, out, inside);
      const labels = [out - 1, 0, Math.floor(out / 2), out - 1];
      const output = k.block(labels.length * inside);
      assert.equal(k.core.hl_weight_rows(output.at, packed.at, integers(k, labels).at, 4, out, inside), OK);
      const got = k.view(output);
      labels.forEach((label, r) => {
        for (let from = 0; from < inside; from += 128) {
          const group = w.subarray(label * inside + from, label * inside + Math.min(from + 128, inside));
          const step = group.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 254;
          group.forEach((x, i) => {
            const off = Math.abs(got[r * inside + from + i] - x);
            assert.ok(off <= 0.51 * step, `${out}×${inside}, row ${label}, ${from + i}: off by ${off / step} steps`);
          });
        }
      });
      k.close();
    }
  }),
);

test(
  'the product with an int8 weight is that with its rows, within the rounding of x, for few rows and many',
  kernels((k) => {
    for (const [out, inside] of SIZES) {
      for (const rows of [0, 1, 2, 3, 4, 7, 61]) {
        const [x, bias] = [numbers(rows * inside, 1), numbers(out, 2)];
        const packed = quantized(k, numbers(out * inside, 3), out, inside);
        const weight = k.block(out * inside);
        const all = integers(
          k,
          Array.from({ length: out }, (_, i) => i),
        );
        k.core.hl_weight_rows(weight.at, packed.at, all.at, out, out, inside);
        const y = k.block(rows * out);
        const status = k.core.hl_linear_quantized(y.at, k.block(x).at, packed.at, k.block(bias).at, rows, out, inside);
        assert.equal(status, OK);
        const w = k.view(weight);
        const exact = Float64Array.from({ length: rows * out }, (_, i) => {
          const [r, j] = [Math.floor(i / out), i % out];
          let sum = bias[j];
          for (let n = 0; n < inside; n++) sum += x[r * inside + n] * w[j * inside + n];
          return sum;
        });
        assertClose(k.view(y), exact, 2e-3, `${rows}×${inside}×${out}`);
        k.close();
      }
    }
  }),
);

test(
  'a row has the same bits by itself and among others, with int8 weights',
  kernels((k) => {
    const [rows, out, inside] = [7, 203, 437];
    const [x, packed] = [numbers(rows * inside, 1), quantized(k, numbers(out * inside, 3), out, inside)];
    const run = (first, count) => {
      const y = k.block(count * out);
      const part = k.block(x.subarray(first * inside, (first + count) * inside));
      assert.equal(k.core.hl_linear_quantized(y.at, part.at, packed.at, 0, count, out, inside), OK);
      return k.view(y).slice();
    };
    const whole = run(0, rows);
    for (let row = 0; row < rows; row++)
      assert.deepEqual(run(row, 1), whole.slice(row * out, (row + 1) * out), `row ${row}`);
  }),
);

test(
  'a label that is no row of an int8 weight is refused before anything is written',
  kernels((k) => {
    const packed = quantized(k, numbers(12), 3, 4);
    const output = k.block(new Float32Array(8));
    for (const wrong of [-1, 3, 2 ** 31 - 1])
      assert.equal(k.core.hl_weight_rows(output.at, packed.at, integers(k, [0, wrong]).at, 2, 3, 4), BAD_ARGUMENT);
    assert.deepEqual(k.view(output), new Float32Array(8));
  }),
);
