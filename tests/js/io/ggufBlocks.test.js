// Tests the types that saveGguf writes against the rules of the format in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isInRange, writeRows } from '../../../src/js/io/ggufBlocks.ts';
import { dequantize, GGUF_TYPES } from '../../../src/js/io/ggufTypes.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { encode } from '../../support/gguf.js';

const TYPES = Object.fromEntries([...GGUF_TYPES.values()].map((type) => [type.name, type]));

/** Returns nearly normal random numbers (sums of uniform ones), whose magnitudes differ by block. */
function numbers(count, seed = 7) {
  const random = uniformSource(seed);
  return Float32Array.from({ length: count }, (_, i) => {
    const size = 10 ** (((i >> 5) % 7) - 4);
    return size * (random() + random() + random() + random() - 2);
  });
}

function bytesOf(type, x) {
  const { values, bytes } = TYPES[type];
  const out = new Uint8Array((x.length / values) * bytes);
  writeRows(type, x, out);
  return out;
}
const roundTrip = (type, x) => dequantize('test', bytesOf(type, x), TYPES[type]);

const half = (value) => dequantize('test', encode('F16', [value]), TYPES.F16)[0];
const clamp = (code, low, high) => Math.max(low, Math.min(high, code));

for (const type of ['F32', 'F16', 'BF16'])
  test(`${type} has the bytes of the nearest numbers`, () => {
    const x = numbers(1000);
    assert.deepEqual(bytesOf(type, x), encode(type, x));
  });

test('Q8_0: the scale is the largest number / 127, and no number is further than half of it', () => {
  const x = numbers(32 * 200);
  const [bytes, y] = [bytesOf('Q8_0', x), roundTrip('Q8_0', x)];
  for (let b = 0; b < x.length; b += 32) {
    const block = x.subarray(b, b + 32);
    const at = (b / 32) * 34;
    const [scale] = dequantize('test', bytes.subarray(at, at + 2), TYPES.F16);
    const usual = Math.fround(Math.max(...block.map(Math.abs)) / 127);
    if (usual > 2 ** -14) assert.equal(scale, half(usual));
    else assert.ok(Math.abs(scale - usual) < 2 ** -24);
    block.forEach((value, i) => {
      const code = y[b + i] / scale;
      assert.ok(Math.abs(code - Math.round(code)) < 1e-4 && Math.abs(code) < 127.5, `code ${code}`);
      assert.ok(Math.abs(value - y[b + i]) <= scale * 0.5000001, `${value} became ${y[b + i]} with the scale ${scale}`);
    });
  }
});

/** Rounds a block by the rule of llama.cpp, in which the scale follows from the number with the largest magnitude. */
function plainQ4(block) {
  const most = block.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  const inverse = most === 0 ? 0 : Math.fround(1 / Math.fround(most / -8));
  const scale = half(Math.fround(most / -8));
  return Array.from(block, (x) => scale * (clamp(Math.floor(x * inverse + 8.5), 0, 15) - 8));
}
const errorOf = (x, y) => x.reduce((sum, value, i) => sum + (value - y[i]) ** 2, 0);

test("Q4_0: each code is the nearest, and no block has a larger error than by llama.cpp's rule", () => {
  const x = numbers(32 * 400);
  const [bytes, y] = [bytesOf('Q4_0', x), roundTrip('Q4_0', x)];
  let [own, plain] = [0, 0];
  for (let b = 0; b < x.length; b += 32) {
    const block = x.subarray(b, b + 32);
    const at = (b / 32) * 18;
    const [scale] = dequantize('test', bytes.subarray(at, at + 2), TYPES.F16);
    block.forEach((value, i) => {
      const nearest = scale * clamp(Math.round(value / scale), -8, 7);
      assert.ok(Math.abs(value - y[b + i]) <= Math.abs(value - nearest) + 1e-6 * Math.abs(scale));
    });
    const size = (most) => most / block.reduce((sum, value) => sum + value ** 2, 0);
    const [a, c] = [errorOf(block, y.subarray(b, b + 32)), errorOf(block, plainQ4(block))];
    assert.ok(a <= c * (1 + 1e-9), `block ${b / 32}: ${a} above ${c}`);
    own += size(a);
    plain += size(c);
  }
  assert.ok(own < 0.92 * plain, `the error is ${own / plain} of llama.cpp's`);
});

test('zeros stay zeros, and numbers of a block are kept exactly', () => {
  const zeros = new Float32Array(64);
  const codes = Float32Array.from({ length: 32 }, (_, i) => ((i % 16) - 8) * 0.25);
  const wide = Float32Array.from({ length: 32 }, (_, i) => (i === 3 ? -127 : 4 * i) / 64);
  for (const type of ['Q8_0', 'Q4_0']) assert.deepEqual(roundTrip(type, zeros), zeros);
  assert.deepEqual(roundTrip('Q4_0', codes), codes);
  assert.deepEqual(roundTrip('Q8_0', wide), wide);
});

test('numbers that a type cannot hold are found', () => {
  const has = (value, type) => isInRange(Float32Array.of(0, value), type);
  assert.deepEqual([has(65519, 'F16'), has(65520, 'F16'), has(Infinity, 'F16')], [true, false, true]);
  assert.deepEqual([has(3.4e38, 'F32'), has(3.4e38, 'BF16'), has(3.38e38, 'BF16')], [true, false, true]);
  for (const type of ['Q8_0', 'Q4_0'])
    assert.deepEqual(
      [has(NaN, type), has(Infinity, type), has(1e7, type), has(4e5, type)],
      [false, false, false, true],
    );
});
