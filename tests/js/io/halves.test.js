import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeFloats, FLOATS } from '../../../src/js/check/floats.ts';
import { toHalves } from '../../../src/js/io/halves.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';

const SEED = 3;

test(`toHalves rounds as encodeFloats does: every exponent, halves, infinities and NaN (seed ${SEED})`, () => {
  const next = uniformSource(SEED);
  const bits = Uint32Array.from({ length: 2 ** 18 }, (_, i) => {
    const upper = ((i & 511) << 23) >>> 0;
    // Fractions that are halfway between two float16 numbers, just above, just below, and others.
    const ends = [0x1000, 0x1001, 0x0fff, 0x3000, 0x7fffff, 0, Math.floor(next() * 2 ** 23)];
    return (upper | (ends[i % 7] + (Math.floor(next() * 2 ** 9) << 13))) >>> 0;
  });
  const data = new Float32Array(bits.buffer);
  const expected = new Uint16Array(data.length);
  encodeFloats(data, FLOATS.F16, expected);
  assert.deepEqual(toHalves(data), expected);
});
