import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const [PAIRS, SIGNED_QUADS, UNSIGNED_QUADS] = [0, 1, 2];

const GROUP = 128;
const largest = (row) => row.reduce((max, x) => Math.max(max, Math.abs(x)), 0);

/** Rounds to nearest, ties to even, like the core. */
function round(x) {
  const near = Math.round(x);
  return near - x === 0.5 && near % 2 !== 0 ? near - 1 : near;
}

/** Returns the step size of a row with this many levels, in float32 arithmetic like the core. */
const stepOf = (row, levels) => Math.max(Math.fround(Math.fround(largest(row)) / levels), 2 ** -126);

/** Rounds a scale up to a float32 with eight significant bits. */
function eightDigits(x) {
  const bits = new Uint32Array(new Float32Array([x]).buffer);
  bits[0] = (bits[0] + 0xffff) & 0xffff0000;
  return new Float32Array(bits.buffer)[0];
}

const integers = (row, step) => Array.from(row, (x) => round(Math.fround(x * Math.fround(1 / step))));

/** Quantizes one output channel of the weight in groups, each with its own step size. */
function quantizeWeight(row) {
  const groups = [];
  for (let i = 0; i < row.length; i += GROUP) {
    const step = eightDigits(stepOf(row.subarray(i, i + GROUP), 254));
    groups.push({ step, integers: integers(row.subarray(i, i + GROUP), step) });
  }
  return groups;
}

/**
 * Computes the integer product x·w in one form: PAIRS, or quads, which compute 16·a·c + 14·b·d with x = 8a + 7b and w =
 * c + d.
 */
function integerProduct(form, x, w) {
  if (form === PAIRS) return x * w;
  const quotient = round(x / 15);
  const remainder = x - 15 * quotient;
  const c = Math.floor(w / 2);
  return 16 * (quotient + remainder) * c + 14 * (quotient - remainder) * (w - c);
}

/** Computes x·wᵀ + bias as the form does, with exact integers and with scales in float64. */
function expectedProduct(form, x, w, bias, rows, out, inside) {
  const cut = (all, i) => all.subarray(i * inside, (i + 1) * inside);
  const right = Array.from({ length: out }, (_, j) => quantizeWeight(cut(w, j)));
  return Float64Array.from(
    Array.from({ length: rows }, (_, r) => {
      const step = stepOf(cut(x, r), form === PAIRS ? 32767 : 1800);
      const left = integers(cut(x, r), step);
      return right.map((groups, j) => {
        const sums = groups.map((group, g) =>
          group.integers.reduce((sum, q, k) => sum + integerProduct(form, left[g * GROUP + k], q), 0),
        );
        return (bias?.[j] ?? 0) + step * sums.reduce((sum, part, g) => sum + groups[g].step * part, 0);
      });
    }).flat(),
  );
}

function pack(k, form, weight, out, inside) {
  const packed = k.block(Number(k.core.gemm_int8_packed_floats(out, inside)));
  k.core.gemm_int8_pack_start(packed.at, form);
  for (let j = 0; inside > 0 && j < out; j += 8)
    k.core.gemm_int8_pack_panel(packed.at, j, weight.at + 4 * j * inside, 0, Math.min(out - j, 8), inside, form);
  return packed;
}

function multiply(k, form, { x, w, bias, rows, out, inside }) {
  const y = k.block(rows * out);
  const packed = pack(k, form, k.block(w), out, inside);
  const product = k.block(6);
  new Uint32Array(k.core.memory.buffer, product.at, 6).set([y.at, packed.at, bias ? k.block(bias).at : 0, out, 0, 0]);
  k.core.linear(product.at, 1, 1, k.block(x).at, rows, inside, k.block(k.core.linear_workspace(rows, inside)).at);
  return k.view(y);
}

const linearOf = (x, w, rows, out, inside) =>
  Float64Array.from({ length: rows * out }, (_, i) => {
    const [a, b] = [Math.floor(i / out) * inside, (i % out) * inside];
    let sum = 0;
    for (let k = 0; k < inside; k++) sum += x[a + k] * w[b + k];
    return sum;
  });

/** Returns the forms that this processor supports. Quads that saturate are not exact and are omitted. */
const formsOf = (k) => [...new Set([PAIRS, k.core.gemm_int8_form()])];

test(
  'int8 products are exact in integers, in every form, for sizes around every tile and chunk',
  kernels((k) => {
    const sizes = [
      [1, 1, 1],
      [1, 75, 300],
      [2, 33, 9],
      [3, 7, 5],
      [4, 8, 4],
      [5, 9, 13],
      [6, 8, 16],
      [7, 16, 17],
      [13, 31, 29],
      [31, 193, 64],
      [61, 9, 257],
      [65, 8, 127],
      [2, 9, 128],
      [3, 5, 129],
      [4, 17, 511],
      [5, 3, 513],
      [3, 4, 0],
    ];
    for (const form of formsOf(k)) {
      for (const [rows, out, inside] of sizes) {
        for (const withBias of [false, true]) {
          const operands = {
            x: numbers(rows * inside, 2),
            w: numbers(out * inside, 3),
            bias: withBias && numbers(out, 4),
            rows,
            out,
            inside,
          };
          const expected = expectedProduct(form, operands.x, operands.w, operands.bias || undefined, rows, out, inside);
          assertClose(multiply(k, form, operands), expected, 5e-7, `form ${form}, ${rows}×${inside}×${out}`);
          k.close();
        }
      }
    }
  }),
);

test(
  'quads are exact if no sum of two products exceeds 16 bits',
  kernels((k) => {
    if (k.flavour === 'simd128') return;
    // Every second input is 0, so that the products do not saturate and are the same on every processor.
    const [out, inside] = [19, 170];
    const w = numbers(out * inside, 6);
    const form = k.core.gemm_int8_form() === SIGNED_QUADS ? SIGNED_QUADS : UNSIGNED_QUADS;
    for (const rows of [1, 2, 3, 4, 11]) {
      const x = numbers(rows * inside, 5).map((value, i) => (i % 2 ? 0 : value));
      const expected = expectedProduct(form, x, w, undefined, rows, out, inside);
      assertClose(multiply(k, form, { x, w, rows, out, inside }), expected, 5e-7, `${rows} rows`);
      k.close();
    }
  }),
);

test(
  'the plain flavour uses pairs; the relaxed one the form that its dot product allows',
  kernels((k) => {
    const form = k.core.gemm_int8_form();
    if (k.flavour === 'simd128') assert.equal(form, PAIRS);
    else assert.ok([PAIRS, SIGNED_QUADS, UNSIGNED_QUADS].includes(form));
  }),
);

test(
  'sums of the largest integers do not overflow',
  kernels((k) => {
    for (const inside of [128, 516, 4096, 100_000]) {
      const [x, w] = [
        new Float32Array(inside).fill(0.7),
        new Float32Array(2 * inside).fill(-3, 0, inside).fill(0.1, inside),
      ];
      for (const form of formsOf(k)) {
        assertClose(
          multiply(k, form, { x, w, rows: 1, out: 2, inside }),
          [-2.1 * inside, 0.07 * inside],
          8e-3,
          `${inside} long, form ${form}`,
        );
        k.close();
      }
    }
  }),
);

test(
  'the smallest and the largest numbers are multiplied like others',
  kernels((k) => {
    const [rows, out, inside] = [3, 9, 140];
    for (const form of formsOf(k)) {
      for (const [tiny, huge] of [
        [1e-36, 1e30],
        [2e-38, 1e32],
        [1e-45, 1],
        [0, 1],
      ]) {
        const small = (values) => values.map((v) => v * tiny);
        const large = (values) => values.map((v) => v * huge);
        const [x, w] = [numbers(rows * inside, 2), numbers(out * inside, 3)];
        const expected = linearOf(x, w, rows, out, inside).map((y) => y * tiny * huge);
        // The step is never below the smallest normal number, so the error of a value can be half of that number.
        const limit = 0.02 * largest(expected) + 2 ** -127 * inside * huge;
        for (const operands of [
          { x: small(x), w: large(w) },
          { x: large(x), w: small(w) },
        ]) {
          multiply(k, form, { ...operands, rows, out, inside }).forEach((y, i) => {
            assert.ok(Math.abs(y - expected[i]) <= limit, `${y} for ${expected[i]}: ${tiny} by ${huge}, form ${form}`);
          });
          k.close();
        }
      }
    }
  }),
);

test(
  'rows of zeros give the bias; NaN and infinity give NaN in their own row or channel only',
  kernels((k) => {
    const [rows, out, inside] = [7, 9, 21];
    for (const form of formsOf(k)) {
      for (const bad of [NaN, Infinity, -Infinity]) {
        for (const at of [0, 15, 16, 20]) {
          const [x, w, bias] = [numbers(rows * inside, 7), numbers(out * inside, 8), numbers(out, 9)];
          x.fill(0, 2 * inside, 3 * inside);
          w.fill(0, 5 * inside, 6 * inside);
          x[4 * inside + at] = bad;
          w[8 * inside + at] = bad;
          const y = multiply(k, form, { x, w, bias, rows, out, inside });
          for (let i = 0; i < rows * out; i++) {
            const [r, j] = [Math.floor(i / out), i % out];
            assert.equal(Number.isNaN(y[i]), r === 4 || j === 8, `row ${r}, column ${j}, ${bad} at ${at}`);
            if (!Number.isNaN(y[i]) && (r === 2 || j === 5)) assert.equal(y[i], bias[j]);
          }
          k.close();
        }
      }
    }
  }),
);

test(
  'an int8 row has the same bits at any position',
  kernels((k) => {
    const [out, inside] = [43, 130];
    const [x, w, bias] = [numbers(40 * inside, 2), numbers(out * inside, 3), numbers(out, 4)];
    for (const form of formsOf(k)) {
      const multiplyRows = (first, rows) =>
        multiply(k, form, {
          x: x.subarray(first * inside, (first + rows) * inside),
          w,
          bias,
          rows,
          out,
          inside,
        }).slice();
      const allRows = multiplyRows(0, 40);
      for (const [first, rows] of [
        [0, 1],
        [3, 1],
        [10, 2],
        [5, 4],
        [1, 6],
        [30, 10],
      ]) {
        assert.deepEqual(
          multiplyRows(first, rows),
          allRows.slice(first * out, (first + rows) * out),
          `${rows} rows from ${first}`,
        );
      }
    }
  }),
);

test(
  'rows of any depth are packed into the floats that gemm_int8_left_row_floats gives, and no others',
  kernels((k) => {
    for (const form of [PAIRS, SIGNED_QUADS, UNSIGNED_QUADS])
      for (const inside of [1, 16, 17, GROUP, GROUP + 1, 2 * GROUP + 40])
        for (const [width, rows] of [
          [1, 1],
          [4, 3],
          [5, 6],
        ]) {
          const x = k.block(numbers(rows * inside, 12));
          const panels = k.block(Math.ceil(rows / width) * width * k.core.gemm_int8_left_row_floats(inside));
          k.core.gemm_int8_pack_left(panels.at, width, x.at, rows, inside, form);
          k.close();
        }
  }),
);
