import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { inTier } from '../../support/tier.js';

const up = (n, to) => Math.ceil(n / to) * to;

/** Computes x·wᵀ + bias in float64. */
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

/** Writes a struct gemm_product into linear memory, with the fields y, weight, bias, out, add and first. */
function product(k, { y, w, bias, out, inside }) {
  const packed = k.block(up(out, 8) * inside);
  k.core.hl_weight_pack(packed.at, k.block(w).at, out, inside);
  return [y.at, packed.at, bias ? k.block(bias).at : 0, out, 0, 0];
}

function words(k, values) {
  const block = k.block(values.length);
  new Uint32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block.at;
}

test(
  'linear equals the float64 product for sizes around every tile, chunk and block',
  kernels((k) => {
    const sizes = [
      [0, 3, 3],
      [3, 0, 3],
      [3, 3, 0],
      [1, 1, 1],
      [1, 75, 300],
      [2, 33, 9],
      [3, 7, 5],
      [4, 8, 4],
      [5, 9, 13],
      [6, 8, 16],
      [7, 16, 17],
      [13, 31, 29],
      [59, 7, 255],
      [60, 193, 256],
      [61, 9, 257],
      [127, 23, 512],
      [121, 400, 3],
      [1, 40, 1700],
      [7, 33, 769],
      [62, 9, 1600],
    ];
    for (const [rows, out, inside] of sizes) {
      for (const withBias of [false, true]) {
        const [x, w, bias] = [numbers(rows * inside, 2), numbers(out * inside, 3), withBias && numbers(out, 4)];
        const y = k.block(rows * out);
        const workspace = k.block(k.core.linear_workspace(rows, inside));
        k.core.linear(
          words(k, product(k, { y, w, bias, out, inside })),
          1,
          0,
          k.block(x).at,
          rows,
          inside,
          workspace.at,
        );
        assertClose(k.view(y), linear(x, w, bias, rows, out, inside), 1e-6, `${rows}×${inside}×${out}`);
        k.close();
      }
    }
  }),
);

test(
  'products with a shared input equal separate products',
  kernels((k) => {
    const [rows, inside, outs] = [67, 300, [200, 5, 193]];
    const x = numbers(rows * inside, 2);
    const ys = outs.map((out) => k.block(rows * out));
    const weights = outs.map((out, i) => numbers(out * inside, 3 + i));
    const biases = outs.map((out, i) => (i === 1 ? undefined : numbers(out, 9)));
    const products = words(
      k,
      outs.flatMap((out, i) => product(k, { y: ys[i], w: weights[i], bias: biases[i], out, inside })),
    );
    k.core.linear(products, 3, 0, k.block(x).at, rows, inside, k.block(k.core.linear_workspace(rows, inside)).at);
    outs.forEach((out, i) =>
      assertClose(k.view(ys[i]), linear(x, weights[i], biases[i], rows, out, inside), 1e-6, `product ${i}`),
    );
  }),
);

test(
  'the bits of a row do not depend on its position or on the other rows',
  kernels((k) => {
    for (const [out, inside] of [
      [77, 300],
      [77, 100],
      [40, 1000],
    ]) {
      const [x, w, bias] = [numbers(70 * inside, 2), numbers(out * inside, 3), numbers(out, 4)];
      const multiplyRows = (first, rows) => {
        const y = k.block(rows * out);
        const workspace = k.block(k.core.linear_workspace(rows, inside));
        k.core.linear(
          words(k, product(k, { y, w, bias, out, inside })),
          1,
          0,
          k.block(x.subarray(first * inside, (first + rows) * inside)).at,
          rows,
          inside,
          workspace.at,
        );
        return k.view(y).slice();
      };
      const allRows = multiplyRows(0, 70);
      for (const [first, rows] of [
        [0, 1],
        [3, 1],
        [10, 2],
        [5, 4],
        [7, 5],
        [1, 6],
        [60, 10],
        [2, 13],
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
  'a weight that is not packed gives the float64 product, for few and many rows and sizes around every chunk',
  kernels((k) => {
    const sizes = [
      [0, 3, 3],
      [3, 0, 3],
      [3, 3, 0],
      [9, 3, 0],
      ...[1, 2, 3, 4, 5, 6, 7].flatMap((rows) => [
        [rows, 1, 1],
        [rows, 4, 3],
        [rows, 65, 300],
        [rows, 130, 1031],
      ]),
      [13, 31, 29],
      [59, 17, 255],
      [239, 16, 33],
      [241, 33, 9],
      [500, 9, 200],
    ];
    for (const [rows, out, inside] of sizes) {
      for (const withBias of [false, true]) {
        const [x, w, bias] = [numbers(rows * inside, 2), numbers(out * inside, 3), withBias && numbers(out, 4)];
        const y = k.block(rows * out);
        const inputs = [k.block(x).at, k.block(w).at, bias ? k.block(bias).at : 0];
        assert.equal(k.core.hl_linear_forward(y.at, ...inputs, rows, out, inside), 0);
        assertClose(k.view(y), linear(x, w, bias, rows, out, inside), 1e-6, `${rows}×${inside}×${out}`);
        k.close();
      }
    }
  }),
);

test(
  'two to six rows have the same bits at any position, and the workspace does not hold a copy of the weight',
  kernels((k) => {
    const [out, inside] = [77, 301];
    const [x, w] = [numbers(6 * inside, 2), numbers(out * inside, 3)];
    const multiplyRows = (first, rows) => {
      const y = k.block(rows * out);
      const part = k.block(x.subarray(first * inside, (first + rows) * inside));
      assert.equal(k.core.hl_linear_forward(y.at, part.at, k.block(w).at, 0, rows, out, inside), 0);
      return k.view(y).slice();
    };
    const allRows = multiplyRows(0, 6);
    for (const [first, rows] of [
      [0, 2],
      [4, 2],
      [1, 3],
      [2, 4],
      [1, 5],
    ])
      assert.deepEqual(
        multiplyRows(first, rows),
        allRows.slice(first * out, (first + rows) * out),
        `${rows} from ${first}`,
      );
    for (let row = 0; row < 6; row++)
      assertClose(multiplyRows(row, 1), allRows.slice(row * out, (row + 1) * out), 1e-6);
    k.close();
    const [wide, y] = [k.block(new Float32Array(2000 * 1000)), k.block(10 * 2000)];
    const input = k.block(new Float32Array(10 * 1000));
    const reserved = k.core.hl_memory_reserved();
    k.core.hl_memory_set_limit(reserved + 1e6);
    for (const rows of [1, 10]) assert.equal(k.core.hl_linear_forward(y.at, input.at, wide.at, 0, rows, 2000, 1000), 0);
    k.core.hl_memory_set_limit(2 ** 32);
  }),
);

/**
 * Rounds numbers towards zero to 16 bits. Returns them in the 16-bit type and as float32. For float16 the numbers are
 * normal; the exponent bias of float16 is 112 less.
 */
function truncateTo16Bits(values, type) {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  const shift = type === BF16 ? 16 : 13;
  const truncated = words.map((word) => (word >>> shift) << shift);
  const bits = Uint16Array.from(truncated, (word) =>
    type === BF16 ? word >>> 16 : ((word >>> 16) & 0x8000) | (((word & 0x7fffffff) - (112 << 23)) >>> 13),
  );
  return { bits, values: new Float32Array(truncated.buffer) };
}
const [F16, BF16] = [1, 2];

test(
  'a weight of 16-bit numbers gives the same bits as in float32, or nearly the same product',
  kernels((k) => {
    const sizes = [
      [0, 3, 3],
      [3, 0, 3],
      [3, 3, 0],
      ...inTier([1, 2, 3, 6, 7], [1, 3, 7]).flatMap((rows) => [
        [rows, 1, 1],
        [rows, 2, 8],
        [rows, 131, 24],
        [rows, 65, 300],
        [rows, 17, 1031],
        [rows, 130, 1032],
      ]),
      [13, 31, 29],
      [241, 33, 16],
    ];
    for (const type of [F16, BF16])
      for (const [rows, out, inside] of sizes)
        for (const withBias of [false, true]) {
          const { bits, values } = truncateTo16Bits(
            numbers(out * inside, 3).map((x) => (Math.abs(x) < 0.001 ? 0.5 : x)),
            type,
          );
          const [x, bias] = [numbers(rows * inside, 2), withBias && numbers(out, 4)];
          const [y, plain] = [k.block(rows * out), k.block(rows * out)];
          const weight = k.block(Math.ceil(bits.length / 2));
          new Uint16Array(k.core.memory.buffer, weight.at, bits.length).set(bits);
          const [at, biasAt] = [k.block(x).at, bias ? k.block(bias).at : 0];
          assert.equal(k.core.hl_linear_stored(y.at, at, weight.at, biasAt, type, rows, out, inside), 0);
          assert.equal(k.core.hl_linear_forward(plain.at, at, k.block(values).at, biasAt, rows, out, inside), 0);
          const name = `type ${type}, ${rows}×${inside}×${out}`;
          assertClose(k.view(y), linear(x, values, bias, rows, out, inside), 1e-6, name);
          // The product of a single row sums in another order if the length is a multiple of eight.
          if (rows > 1 || inside % 8 > 0) assert.deepEqual(k.view(y), k.view(plain), name);
          k.close();
        }
  }),
);

test(
  '16-bit numbers may be denormal or negative, and in bfloat16 infinite or NaN',
  kernels((k) => {
    const multiplyRows = (type, bits, rows, value = 1) => {
      const [y, weight] = [k.block(rows), k.block(bits.length / 2)];
      new Uint16Array(k.core.memory.buffer, weight.at, bits.length).set(bits);
      const x = k.block(new Float32Array(rows * bits.length).fill(value));
      assert.equal(k.core.hl_linear_stored(y.at, x.at, weight.at, 0, type, rows, 1, bits.length), 0);
      return [...k.view(y)];
    };
    const alone = (half) => [0, 0, half, 0, 0, 0, 0, 0];
    for (const rows of [1, 2, 7]) {
      const all = (x) => new Array(rows).fill(x);
      assert.deepEqual(multiplyRows(F16, alone(0x0001), rows), all(2 ** -24));
      assert.deepEqual(multiplyRows(F16, alone(0x83ff), rows), all(-1023 * 2 ** -24));
      assert.deepEqual(multiplyRows(F16, alone(0xfbff), rows), all(-65504));
      assert.deepEqual(multiplyRows(F16, alone(0x3c01), rows), all(1 + 2 ** -10));
      // The input may be far larger or smaller than a float16.
      for (const value of [2 ** 40, -(2 ** -60)])
        assert.deepEqual(multiplyRows(F16, alone(0x3c01), rows, value), all((1 + 2 ** -10) * value));
      assert.deepEqual(multiplyRows(BF16, alone(0xff80), rows), all(-Infinity));
      assert.deepEqual(multiplyRows(BF16, alone(0x7fc0), rows), all(NaN));
      assert.deepEqual(multiplyRows(BF16, alone(0xbf81), rows), all(-1.0078125));
    }
  }),
);
