import assert from 'node:assert/strict';
import test from 'node:test';
import { KEYS } from '../../../dist/abi/abi.js';
import { kernels, numbers } from '../../support/kernels.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];

/** Returns the number that the bits of a float16 represent. */
function numberOf(half) {
  const [sign, exponent, digits] = [half >> 15 ? -1 : 1, (half >> 10) & 31, half & 1023];
  if (exponent === 31) return digits ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + digits / 1024) * 2 ** (exponent - 15) : (digits / 1024) * 2 ** -14);
}

const POSITIVE = Array.from({ length: 0x7c00 }, (_, half) => half);
const halves = (k, block) => new Uint16Array(k.core.memory.buffer, block.at, 2 * block.length);

const store = (k, cache, fresh, { B = 1, G = 1, first = 0, rows, capacity, width, type = KEYS.FLOAT16 }) => {
  const strides = [G * rows * width, rows * width, width];
  return k.core.hl_cache_store(cache.at, fresh.at, B, G, first, rows, capacity, width, ...strides, type);
};

test(
  'every float16 is loaded as its number, and storing that number gives the same bits',
  kernels((k) => {
    const count = 65536;
    const [cache, stored, wide] = [k.block(count / 2), k.block(count / 2), k.block(count)];
    halves(k, cache).set(Array.from({ length: count }, (_, i) => i));
    assert.equal(k.core.hl_cache_load(wide.at, cache.at, 1, 1, 1, 1, count, KEYS.FLOAT16), OK);
    k.view(wide).forEach((x, half) => assert.ok(Object.is(x, numberOf(half)), `${half}: ${x}`));
    assert.equal(store(k, stored, wide, { rows: 1, capacity: 1, width: count }), OK);
    halves(k, stored).forEach((half, i) => assert.ok(half === i || Number.isNaN(numberOf(i)), `${i}: ${half}`));
    halves(k, stored).forEach((half, i) => assert.equal(Number.isNaN(numberOf(half)), Number.isNaN(numberOf(i))));
  }),
);

test(
  'float16 rounds to nearest, ties to even, and beyond the largest number to infinity',
  kernels((k) => {
    const above = (half) => (half === 0x7bff ? 65536 : numberOf(half + 1));
    const cases = POSITIVE.flatMap((half) => {
      const middle = (numberOf(half) + above(half)) / 2;
      const width = above(half) - numberOf(half);
      return [
        [middle, half % 2 ? half + 1 : half],
        [middle - width / 1024, half],
        [middle + width / 1024, half + 1],
      ];
    });
    cases.push([1e-30, 0], [2 ** -25, 0], [65519.99, 0x7bff], [65520, 0x7c00], [3e38, 0x7c00], [Infinity, 0x7c00]);
    const x = k.block(2 * cases.length);
    const cache = k.block(k.core.hl_cache_row_size(x.length, KEYS.FLOAT16));
    k.view(x).set(cases.flatMap(([number]) => [number, -number]));
    assert.equal(store(k, cache, x, { rows: 1, capacity: 1, width: 2 * cases.length }), OK);
    const got = halves(k, cache);
    cases.forEach(([number, half], i) => {
      assert.equal(got[2 * i], half, `${number}`);
      assert.equal(got[2 * i + 1], half | 0x8000, `${-number}`);
    });
  }),
);

test(
  'hl_cache_store writes the given rows of a cache of any type and nothing else',
  kernels((k) => {
    for (const [B, G, first, rows, capacity, width] of [
      [2, 3, 4, 2, 9, 7],
      [1, 1, 0, 1, 1, 1],
      [2, 2, 5, 3, 8, 16],
      [1, 2, 3, 0, 3, 5],
      [0, 2, 0, 1, 3, 5],
      [2, 2, 1, 1, 3, 0],
    ]) {
      const sizes = { B, G, first, rows, capacity, width };
      const fresh = numbers(B * G * rows * width, 1);
      const cells = B * G * capacity * width;
      const cacheIndex = (i) => {
        const row = Math.floor(i / width);
        return (Math.floor(row / rows) * capacity + first + (row % rows)) * width + (i % width);
      };
      const floats = k.block(numbers(cells, 2));
      const expected = numbers(cells, 2);
      fresh.forEach((x, i) => {
        expected[cacheIndex(i)] = x;
      });
      assert.equal(store(k, floats, k.block(fresh), { ...sizes, type: KEYS.FLOAT32 }), OK);
      assert.deepEqual(k.view(floats), expected);
      const expectedNarrow = new Float32Array(cells);
      fresh.forEach((x, i) => {
        expectedNarrow[cacheIndex(i)] = x;
      });
      for (const [type, limit] of [
        [KEYS.FLOAT16, 2 ** -11],
        [KEYS.INT8, 1 / 254 + 1e-6],
      ]) {
        const row = k.core.hl_cache_row_size(width, type);
        const narrow = k.block(new Float32Array(B * G * capacity * row).fill(0));
        assert.equal(store(k, narrow, k.block(fresh), { ...sizes, type }), OK);
        const wide = k.block(cells);
        assert.equal(k.core.hl_cache_load(wide.at, narrow.at, B, G, capacity, capacity, width, type), OK);
        k.view(wide).forEach((x, i) => assert.ok(Math.abs(x - expectedNarrow[i]) <= limit, `${i}: ${x}`));
        const partial = k.block(B * G * (first + rows) * width);
        assert.equal(k.core.hl_cache_load(partial.at, narrow.at, B, G, first + rows, capacity, width, type), OK);
        const short = (first + rows) * width;
        k.view(partial).forEach((x, i) => {
          assert.equal(x, k.view(wide)[Math.floor(i / short) * capacity * width + (i % short)]);
        });
      }
      k.close();
    }
  }),
);

test(
  'rows beyond the capacity and an unknown type are refused before anything is written',
  kernels((k) => {
    const [cache, fresh] = [k.block(numbers(12)), k.block(numbers(8))];
    const sizes = { rows: 2, capacity: 3, width: 4 };
    assert.equal(store(k, cache, fresh, { ...sizes, first: 2, type: KEYS.FLOAT32 }), BAD_SHAPE);
    assert.equal(store(k, cache, fresh, { ...sizes, first: 2 ** 32 - 1, type: KEYS.FLOAT32 }), BAD_SHAPE);
    assert.equal(store(k, cache, fresh, { ...sizes, type: 3 }), BAD_ARGUMENT);
    assert.equal(k.core.hl_cache_load(fresh.at, cache.at, 1, 1, 4, 3, 4, KEYS.INT8), BAD_SHAPE);
    assert.equal(k.core.hl_cache_load(fresh.at, cache.at, 1, 1, 1, 3, 4, KEYS.FLOAT32), BAD_ARGUMENT);
    assert.equal(k.core.hl_cache_load(fresh.at, cache.at, 1, 1, 1, 3, 4, 3), BAD_ARGUMENT);
    assert.deepEqual(k.view(cache), numbers(12));
  }),
);

test(
  'int8 rounds to multiples of the largest magnitude / 127, ties to even; a row that is not finite becomes NaN',
  kernels((k) => {
    const width = 11;
    const rows = [
      [127, -127, 0.5, 1.5, -0.5, -1.5, 2.5, 126.4, 1, -0, 63],
      [-254, 3, 2.9, 1.1, 0.9, 0, 0, 0, 0, 0, 254],
      new Array(width).fill(0),
      [NaN, ...new Array(width - 1).fill(1)],
      [...new Array(width - 1).fill(1), -Infinity],
      new Array(width).fill(1e-40),
      new Array(width).fill(-3e38),
    ];
    const [cache, wide] = [k.block(rows.length * k.core.hl_cache_row_size(width, KEYS.INT8)), k.block(7 * width)];
    const sizes = { rows: rows.length, capacity: rows.length, width, type: KEYS.INT8 };
    assert.equal(store(k, cache, k.block(Float32Array.from(rows.flat())), sizes), OK);
    const bytes = new Int8Array(k.core.memory.buffer, cache.at + 4, 16);
    assert.deepEqual([...bytes], [127, -127, 0, 2, 0, -2, 2, 126, 1, 0, 63, 0, 0, 0, 0, 0]);
    assert.equal(k.core.hl_cache_load(wide.at, cache.at, 1, 1, rows.length, rows.length, width, KEYS.INT8), OK);
    const row = (i) => [...k.view(wide).subarray(i * width, (i + 1) * width)];
    assert.deepEqual(row(1), [-254, 4, 2, 2, 0, 0, 0, 0, 0, 0, 254]);
    assert.ok(row(2).every((x) => x === 0));
    for (const i of [3, 4]) assert.ok(row(i).every(Number.isNaN), `row ${i}`);
    assert.ok(row(5).every((x) => Math.abs(x - 1e-40) < 2 ** -127));
    assert.ok(row(6).every((x) => Math.abs(x / -3e38 - 1) < 1e-6));
  }),
);
