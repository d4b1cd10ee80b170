import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { HIDDEN, largest, NOT_FINITE, shrink } from '../../../web/model/shrink.js';
import { numbers } from '../../support/kernels.js';

const all = (T, S) => ({ queries: { from: 0, to: T }, keys: { from: 0, to: S } });

test('with room for all, every cell is its weight and what is hidden is NaN', () => {
  const visible = Float32Array.from({ length: 12 }, (_, i) => Number(i % 5 !== 2));
  const weights = numbers(12, 1).map((w, i) => w * visible[i]);
  const { rows, columns, values } = shrink({ weights, visible, S: 4, signed: true }, all(3, 4), {
    rows: 100,
    columns: 4,
  });
  assert.deepEqual([rows, columns], [3, 4]);
  values.forEach((value, i) => assert.ok(Object.is(value, visible[i] ? weights[i] : NaN), String(i)));
});

test('with less, every cell is the weight of largest magnitude that it covers, and every weight is covered', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(1000),
      (T, S, rows, columns, seed) => {
        const weights = numbers(T * S, seed);
        const small = shrink({ weights, visible: null, S, signed: true }, all(T, S), { rows, columns });
        const part = (i, count, length) => [Math.floor((i * length) / count), Math.floor(((i + 1) * length) / count)];
        for (let r = 0; r < small.rows; r++)
          for (let c = 0; c < small.columns; c++) {
            const [[t0, t1], [s0, s1]] = [part(r, small.rows, T), part(c, small.columns, S)];
            let most = 0;
            for (let t = t0; t < t1; t++)
              for (let s = s0; s < s1; s++)
                if (Math.abs(weights[t * S + s]) > Math.abs(most)) most = weights[t * S + s];
            assert.equal(small.values[r * small.columns + c], most);
          }
        assert.equal(largest(small.values), largest(weights));
        const plain = weights.map(Math.abs);
        assert.deepEqual(
          shrink({ weights: plain, visible: null, S }, all(T, S), { rows, columns }).values,
          small.values.map(Math.abs),
        );
      },
    ),
    { seed: 3 },
  );
});

test('a cell that covers a weight that is NaN or infinite says so, whatever else it covers', () => {
  for (const signed of [false, true])
    for (const bits of [0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000, 0x7f800001]) {
      const weights = Float32Array.from({ length: 16 }, (_, i) => i / 16);
      new Uint32Array(weights.buffer)[6] = bits;
      const visible = new Float32Array(16).fill(1);
      visible[0] = weights[0] = 0;
      const { values } = shrink({ weights, visible, S: 4, signed }, all(4, 4), { rows: 2, columns: 2 });
      assert.deepEqual([...values], [5 / 16, NOT_FINITE, 13 / 16, 15 / 16], `${bits}`);
      const whole = shrink({ weights, visible, S: 4, signed }, all(4, 4), { rows: 4, columns: 4 }).values;
      assert.deepEqual([...whole].slice(0, 8), [HIDDEN, 1 / 16, 2 / 16, 3 / 16, 4 / 16, 5 / 16, NOT_FINITE, 7 / 16]);
      assert.equal(largest(whole), 15 / 16);
    }
});

test('a region is cut out; where all of a cell is hidden it is NaN, else the hidden are stepped over', () => {
  const weights = Float32Array.from({ length: 36 }, (_, i) => i / 64);
  const visible = new Float32Array(36).fill(1);
  for (const i of [14, 15, 20, 21, 29]) visible[i] = weights[i] = 0;
  const { values } = shrink(
    { weights, visible, S: 6 },
    { queries: { from: 2, to: 6 }, keys: { from: 2, to: 6 } },
    { rows: 2, columns: 2 },
  );
  assert.deepEqual([...values], [NaN, 23 / 64, 33 / 64, 35 / 64]);
});
