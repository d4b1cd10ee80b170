// Tests weights in blocks of codes of 4 or 8 bits. Each block has a scale and, in some formats, a minimum.

import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeFloats, encodeFloats, FLOATS } from '../../../src/js/check/floats.ts';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];

/** Formats: bits of a code, weights of a block, 1 if blocks have minimums, and 1 if inputs are rounded to 8 bits. */
const FORMS = [
  [4, 32, 0, 0],
  [4, 32, 1, 0],
  [4, 32, 0, 1],
  [4, 32, 1, 1],
  [8, 32, 0, 0],
  [8, 32, 1, 0],
  [8, 16, 0, 0],
  [8, 16, 1, 0],
];
const SIZES = [
  [1, 32],
  [8, 64],
  [9, 96],
  [31, 256],
  [9, 544],
];

function integers(k, values) {
  const block = k.block(values.length);
  new Int32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block;
}

/** Makes random rows of a format, and their values in float64. */
function makeWeight([bits, length, hasMinimums], out, inside, seed) {
  const codes = Uint8Array.from(numbers(out * inside, seed), (x) =>
    bits === 4 ? Math.floor(((x + 4) % 1) * 16) : Math.round(x * 100) & 255,
  );
  const scales = numbers((out * inside) / length, seed + 1).map((x) => x / 10);
  const minimums = hasMinimums ? numbers((out * inside) / length, seed + 2) : null;
  const values = Float64Array.from(codes, (code, i) => {
    const block = Math.floor(i / length);
    const signed = bits === 8 ? (code << 24) >> 24 : code - (hasMinimums ? 0 : 8);
    return scales[block] * signed + (minimums ? minimums[block] : -0);
  });
  return { codes, scales, minimums, values };
}

/** Returns rows in the layout that hl_blocks_pack reads, as 32-bit words. */
function rowWords({ codes, scales, minimums }, inside, length, first, count) {
  const blocks = inside / length;
  const parts = [];
  for (let row = first; row < first + count; row++) {
    for (const list of minimums ? [scales, minimums] : [scales])
      parts.push(new Int32Array(list.slice(row * blocks, (row + 1) * blocks).buffer));
    parts.push(new Int32Array(codes.slice(row * inside, (row + 1) * inside).buffer));
  }
  return parts.flatMap((part) => [...part]);
}

/** Packs all rows in one call, or in one call for each part. */
function pack(k, form, weight, out, inside, parts = [out]) {
  const described = integers(k, form);
  const packed = k.block(k.core.hl_blocks_size(described.at, out, inside));
  let first = 0;
  for (const count of parts) {
    const rows = integers(k, rowWords(weight, inside, form[1], first, count));
    assert.equal(k.core.hl_blocks_pack(packed.at, described.at, rows.at, first, count, out, inside), OK);
    first += count;
  }
  return packed;
}

test(
  'rows of a weight in blocks are scale · code + minimum, packed at once or in parts, in any order',
  kernels((k) => {
    for (const form of FORMS) {
      for (const [out, inside] of SIZES) {
        const weight = makeWeight(form, out, inside, 3);
        const parts = out > 8 ? [8, out - 8] : [out];
        const packed = pack(k, form, weight, out, inside, parts);
        const labels = [out - 1, 0, Math.floor(out / 2)];
        const output = k.block(3 * inside);
        assert.equal(k.core.hl_blocks_rows(output.at, packed.at, integers(k, labels).at, 3, out, inside), OK);
        const expected = labels.flatMap((row) => [...weight.values.subarray(row * inside, (row + 1) * inside)]);
        assert.deepEqual([...k.view(output)], expected.map(Math.fround), `${form}, ${out} × ${inside}`);
        k.close();
      }
    }
  }),
);

/** The results of each flavour of the core, which must have the same bits. */
const results = new Map();

test(
  'the product equals that of float64 within the rounding of x, with the same bits for each row and each flavour',
  kernels((k) => {
    for (const form of FORMS) {
      for (const [out, inside] of SIZES) {
        const weight = makeWeight(form, out, inside, 5);
        const packed = pack(k, form, weight, out, inside);
        const [x, bias] = [numbers(11 * inside, 1), numbers(out, 2)];
        const whole = multiply(k, packed, x, bias, 11, out, inside);
        const exact = Float64Array.from(whole, (_, i) => {
          const [r, j] = [Math.floor(i / out), i % out];
          let sum = bias[j];
          for (let n = 0; n < inside; n++) sum += x[r * inside + n] * weight.values[j * inside + n];
          return sum;
        });
        const name = `${form}, ${out} × ${inside}`;
        assertClose(whole, exact, form[3] ? 6e-3 : 3e-5, name);
        for (const rows of [1, 2, 3, 4, 5])
          for (let first = 0; first + rows <= 11; first += rows) {
            const some = multiply(k, packed, x.slice(first * inside), bias, rows, out, inside);
            assert.deepEqual(some, whole.slice(first * out, (first + rows) * out), `${name}: ${rows} rows at ${first}`);
          }
        const other = results.get(name) ?? whole;
        results.set(name, other);
        assert.deepEqual(whole, other, `${name}: the flavours differ`);
        k.close();
      }
    }
  }),
);

function multiply(k, packed, x, bias, rows, out, inside) {
  const y = k.block(rows * out);
  const from = k.block(x.slice(0, rows * inside));
  assert.equal(k.core.hl_blocks_linear(y.at, from.at, packed.at, k.block(bias).at, rows, out, inside), OK);
  return k.view(y).slice();
}

test(
  'the inputs of a packed weight of 4 bits can be rounded to 8 bits afterwards; those of other weights cannot',
  kernels((k) => {
    const [out, inside] = [9, 64];
    const [x, bias] = [numbers(5 * inside, 1), numbers(out, 2)];
    const use = (packed, columns = out, width = inside) => k.core.hl_blocks_use_byte_inputs(packed.at, columns, width);
    for (const hasMinimums of [0, 1]) {
      const weight = makeWeight([4, 32, hasMinimums], out, inside, 3);
      const [words, bytes] = [0, 1].map((has) => pack(k, [4, 32, hasMinimums, has], weight, out, inside));
      const [before, expected] = [words, bytes].map((packed) => multiply(k, packed, x, bias, 5, out, inside));
      assert.notDeepEqual(before, expected);
      for (let times = 0; times < 2; times++) {
        assert.equal(use(words), OK);
        assert.deepEqual(multiply(k, words, x, bias, 5, out, inside), expected);
      }
      assert.equal(use(words, out, 33), BAD_SHAPE);
    }
    const eight = pack(k, [8, 32, 0, 0], makeWeight([8, 32, 0], out, inside, 3), out, inside);
    assert.equal(use(eight), BAD_ARGUMENT);
    assert.equal(use({ at: 0 }, 0), OK);
    k.close();
  }),
);

test(
  'a number of x that is not finite gives NaN in its row alone',
  kernels((k) => {
    for (const form of FORMS) {
      const packed = pack(k, form, makeWeight(form, 9, 64, 3), 9, 64);
      const x = numbers(3 * 64, 1);
      x[64 + 40] = Infinity;
      const y = multiply(k, packed, x, new Float32Array(9), 3, 9, 64);
      assert.deepEqual(
        Array.from(y, (value) => Number.isNaN(value)),
        Array.from({ length: 27 }, (_, i) => Math.floor(i / 9) === 1),
      );
      k.close();
    }
  }),
);

test(
  'forms that do not exist, and wrong rows and sizes are refused',
  kernels((k) => {
    const size = (form, out, inside) => k.core.hl_blocks_size(integers(k, form).at, out, inside);
    assert.equal(size([4, 32, 0, 0], 8, 64), 4 + 2 * (8 + 32));
    for (const form of [
      [4, 16, 0, 0],
      [5, 32, 0, 0],
      [8, 64, 0, 0],
      [8, 32, 0, 1],
    ])
      assert.ok(Number.isNaN(size(form, 8, 64)));
    assert.ok(Number.isNaN(size([4, 32, 0, 0], 8, 48)));
    const form = integers(k, [4, 32, 0, 0]).at;
    const [packed, rows, labels] = [k.block(2 * 2 * 40 + 4), k.block(16 * 18), integers(k, [16])];
    const pack = (first, count, out, inside) =>
      k.core.hl_blocks_pack(packed.at, form, rows.at, first, count, out, inside);
    assert.equal(pack(0, 16, 16, 64), OK);
    assert.equal(pack(4, 8, 16, 64), BAD_SHAPE);
    assert.equal(pack(8, 9, 16, 64), BAD_SHAPE);
    assert.equal(pack(0, 4, 16, 64), BAD_SHAPE);
    assert.equal(pack(0, 16, 16, 48), BAD_ARGUMENT);
    assert.equal(k.core.hl_blocks_rows(rows.at, packed.at, labels.at, 1, 16, 64), BAD_ARGUMENT);
    assert.equal(k.core.hl_blocks_linear(rows.at, rows.at, 0, 0, 1, 8, 32), BAD_SHAPE);
    k.close();
  }),
);

test(
  'floats are rounded to 4 bits with less error than by the largest value alone, in parts and from each stored type',
  kernels((k) => {
    const [out, inside] = [20, 96];
    const w = numbers(out * inside, 3).map((x) => x ** 3);
    const packed = k.block(k.core.hl_blocks_size(integers(k, [4, 32, 0, 0]).at, out, inside));
    for (const [first, count] of [
      [0, 8],
      [8, 12],
    ]) {
      const rows = k.block(w.slice(first * inside, (first + count) * inside));
      assert.equal(k.core.hl_blocks_quantize_rows(packed.at, rows.at, 0, first, count, out, inside), OK);
    }
    const rows = k.block(out * inside);
    const labels = integers(
      k,
      Array.from({ length: out }, (_, i) => i),
    );
    assert.equal(k.core.hl_blocks_rows(rows.at, packed.at, labels.at, out, out, inside), OK);
    const got = k.view(rows);
    let [squares, plain] = [0, 0];
    for (let at = 0; at < w.length; at += 32) {
      const block = w.subarray(at, at + 32);
      const largest = block.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
      const d = largest / -8;
      const steps = new Set(got.subarray(at, at + 32).map((x) => Math.fround(x)));
      assert.ok(steps.size <= 16);
      block.forEach((x, i) => {
        squares += (x - got[at + i]) ** 2;
        plain += (x - d * (Math.min(15, Math.floor(x / d + 8.5)) - 8)) ** 2;
      });
    }
    assert.ok(squares < 0.9 * plain, `${squares / plain}`);
    const codes = new Uint16Array(w.length);
    encodeFloats(w, FLOATS.F16, codes);
    const halves = integers(k, new Int32Array(codes.buffer));
    const same = k.block(packed.length);
    assert.equal(k.core.hl_blocks_quantize_rows(same.at, halves.at, 1, 0, out, out, inside), OK);
    const rounded = k.block(decodeFloats(codes, FLOATS.F16));
    assert.equal(k.core.hl_blocks_quantize_rows(packed.at, rounded.at, 0, 0, out, out, inside), OK);
    assert.deepEqual(k.view(same), k.view(packed));
    const nan = k.block(new Float32Array(32).fill(NaN));
    assert.equal(k.core.hl_blocks_quantize_rows(packed.at, nan.at, 0, 0, 1, 1, 32), OK);
    assert.equal(k.core.hl_blocks_rows(rows.at, packed.at, integers(k, [0]).at, 1, 1, 32), OK);
    assert.ok(k.view(rows).subarray(0, 32).every(Number.isNaN));
    assert.equal(k.core.hl_blocks_quantize_rows(packed.at, rounded.at, 0, 0, 8, 8, 33), BAD_ARGUMENT);
    assert.equal(k.core.hl_blocks_quantize_rows(packed.at, rounded.at, 0, 4, 8, 20, 96), BAD_SHAPE);
  }),
);
