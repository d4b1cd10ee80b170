import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeFloats, encodeFloats, FLOATS } from '../../../src/js/check/floats.ts';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];
const [F32, F16, BF16] = [0, 1, 2];

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
  'rows of an int8 weight equal the original within half a step of each group, in any order',
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
          const step = group.reduce((max, x) => Math.max(max, Math.abs(x)), 0) / 254;
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
  'the product with an int8 weight equals that with its unpacked rows within the rounding of x, for few and many rows',
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
  'with int8 weights a row has the same bits alone and among others',
  kernels((k) => {
    const [rows, out, inside] = [7, 203, 437];
    const [x, packed] = [numbers(rows * inside, 1), quantized(k, numbers(out * inside, 3), out, inside)];
    const multiplyRows = (first, count) => {
      const y = k.block(count * out);
      const part = k.block(x.subarray(first * inside, (first + count) * inside));
      assert.equal(k.core.hl_linear_quantized(y.at, part.at, packed.at, 0, count, out, inside), OK);
      return k.view(y).slice();
    };
    const complete = multiplyRows(0, rows);
    for (let row = 0; row < rows; row++)
      assert.deepEqual(multiplyRows(row, 1), complete.slice(row * out, (row + 1) * out), `row ${row}`);
  }),
);

test(
  'a label outside an int8 weight is refused before anything is written',
  kernels((k) => {
    const packed = quantized(k, numbers(12), 3, 4);
    const output = k.block(new Float32Array(8));
    for (const wrong of [-1, 3, 2 ** 31 - 1])
      assert.equal(k.core.hl_weight_rows(output.at, packed.at, integers(k, [0, wrong]).at, 2, 3, 4), BAD_ARGUMENT);
    assert.deepEqual(k.view(output), new Float32Array(8));
  }),
);

/** Converts numbers to a stored type. Returns the bytes, and the numbers that they represent. */
function store(values, type) {
  if (type === F32) return [new Uint8Array(Float32Array.from(values).buffer), Float32Array.from(values)];
  const format = type === F16 ? FLOATS.F16 : FLOATS.BF16;
  const raw = new Uint16Array(values.length);
  encodeFloats(values, format, raw);
  return [new Uint8Array(raw.buffer), decodeFloats(raw, format)];
}

function bytesBlock(k, bytes) {
  const block = k.block(Math.ceil(bytes.length / 4));
  new Uint8Array(k.core.memory.buffer, block.at, bytes.length).set(bytes);
  return block;
}

const bitsOf = (floats) => new Uint32Array(floats.slice().buffer);

test(
  'stored numbers are converted to the same bits as in JavaScript, for every code and any count',
  kernels((k) => {
    for (const [type, format] of [
      [F16, FLOATS.F16],
      [BF16, FLOATS.BF16],
    ]) {
      const all = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
      const to = k.block(all.length);
      const from = bytesBlock(k, new Uint8Array(all.buffer));
      assert.equal(k.core.hl_stored_load(to.at, from.at, type, all.length), OK);
      assert.deepEqual(bitsOf(k.view(to)), bitsOf(decodeFloats(all, format)));
      k.close();
    }
    for (const type of [F32, F16, BF16])
      for (const count of [0, 1, 3, 7, 8, 9, 15, 16, 17, 31]) {
        const [bytes, expected] = store(numbers(count, 4), type);
        const to = k.block(count);
        assert.equal(k.core.hl_stored_load(to.at, bytesBlock(k, bytes).at, type, count), OK);
        assert.deepEqual(bitsOf(k.view(to)), bitsOf(expected), `${count} of type ${type}`);
        k.close();
      }
    assert.equal(k.core.hl_stored_load(k.block(1).at, k.block(1).at, 3, 1), BAD_ARGUMENT);
  }),
);

test(
  'quantizing a weight of any type in parts gives the same bits as quantizing it at once',
  kernels((k) => {
    for (const [out, inside] of [...SIZES, [8, 0], [64, 40]])
      for (const type of [F32, F16, BF16]) {
        const values = numbers(out * inside, 3);
        // One group contains Infinity, and one consists of zeros.
        if (inside > 100) values[2 * inside + 1] = Infinity;
        if (inside > 128) values.fill(0, inside, inside + 128);
        const [bytes, floats] = store(values, type);
        const complete = quantized(k, floats, out, inside);
        for (const step of [8, 16, 1000]) {
          const packed = k.block(k.core.hl_weight_quantized_size(out, inside));
          const rowBytes = out === 0 ? 0 : bytes.length / out;
          for (let first = 0; first < out; first += step) {
            const count = Math.min(step, out - first);
            const rows = bytesBlock(k, bytes.subarray(first * rowBytes, (first + count) * rowBytes));
            const status = k.core.hl_weight_quantize_rows(packed.at, rows.at, type, first, count, out, inside);
            assert.equal(status, OK);
          }
          const label = `${out}×${inside} of type ${type}, ${step} rows at a time`;
          assert.deepEqual(bitsOf(k.view(packed)), bitsOf(k.view(complete)), label);
        }
        k.close();
      }
  }),
);

test(
  'rows that begin inside a panel or exceed the weight are refused before anything is written',
  kernels((k) => {
    const [out, inside] = [20, 4];
    const packed = k.block(k.core.hl_weight_quantized_size(out, inside));
    const before = k.view(packed).slice();
    const rows = k.block(out * inside);
    for (const [first, count] of [
      [1, 8],
      [0, 7],
      [8, 9],
      [16, 5],
      [16, 8],
      [24, 0],
      [2 ** 32 - 8, 8],
      [8, 2 ** 32 - 8],
    ])
      assert.equal(
        k.core.hl_weight_quantize_rows(packed.at, rows.at, F32, first, count, out, inside),
        BAD_SHAPE,
        `${first}, ${count}`,
      );
    assert.equal(k.core.hl_weight_quantize_rows(packed.at, rows.at, 3, 0, 8, out, inside), BAD_ARGUMENT);
    assert.deepEqual(k.view(packed), before);
    assert.equal(k.core.hl_weight_quantize_rows(packed.at, rows.at, F32, 16, 4, out, inside), OK);
  }),
);
