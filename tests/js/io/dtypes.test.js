import assert from 'node:assert/strict';
import test from 'node:test';
import { readNpy, readSafetensors, writeNpy, writeSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { fails, safetensors } from '../../support/files.js';

const SEED = 20;
const TYPES = [
  ['F32', Float32Array, [0, -0, 1.5, -3.25, NaN, Infinity, 2 ** -149]],
  ['F64', Float64Array, [0, Math.PI, -1e300, NaN]],
  ['I8', Int8Array, [-128, 0, 127]],
  ['U8', Uint8Array, [0, 255]],
  ['I16', Int16Array, [-32768, 32767]],
  ['U16', Uint16Array, [0, 65535]],
  ['I32', Int32Array, [-(2 ** 31), 2 ** 31 - 1]],
  ['U32', Uint32Array, [0, 2 ** 32 - 1]],
  ['I64', BigInt64Array, [-(2n ** 63n), 2n ** 63n - 1n]],
  ['U64', BigUint64Array, [0n, 2n ** 64n - 1n]],
];
/** Numbers of exponent bits and fraction bits of float types. */
const FLOATS = { F16: [5, 10], BF16: [8, 7], F8_E4M3: [4, 3], F8_E5M2: [5, 2] };

const write = (data, dtype) => writeSafetensors({ x: { data, shape: [data.length], dtype } });
const through = (data, dtype) => readSafetensors(write(data, dtype)).tensors.x.data;
/** Returns the bytes of the only tensor in a safetensors file. */
const stored = (file) => file.subarray(8 + Number(new DataView(file.buffer).getBigUint64(0, true)));

for (const [dtype, array, values] of TYPES) {
  test(`${dtype} is unchanged after writing and reading safetensors and npy`, () => {
    const tensor = { data: array.from(values), shape: [values.length] };
    const { tensors, metadata } = readSafetensors(writeSafetensors({ x: tensor }, { made: 'here' }));
    assert.deepEqual(tensors.x, { dtype, ...tensor });
    assert.deepEqual(metadata, { made: 'here' });
    assert.deepEqual(readNpy(writeNpy(tensor)), { dtype, ...tensor });
  });
}

/** Returns the bytes of every code of a small float type, and the numbers by the formula of the type. */
function allCodes(dtype) {
  const [E, F] = FLOATS[dtype];
  const bias = 2 ** (E - 1) - 1;
  const count = 2 ** (1 + E + F);
  const size = Math.ceil((1 + E + F) / 8);
  const bytes = Uint8Array.from({ length: count * size }, (_, i) => (Math.floor(i / size) >> (8 * (i % size))) & 255);
  const numbers = Array.from({ length: count }, (_, code) => {
    const [sign, e, f] = [code >> (E + F) ? -1 : 1, (code >> F) & (2 ** E - 1), code & (2 ** F - 1)];
    if (dtype === 'F8_E4M3' && e === 15) return f === 7 ? NaN : sign * (1 + f / 8) * 2 ** 8;
    if (e === 2 ** E - 1) return f ? NaN : sign * Infinity;
    return e === 0 ? sign * f * 2 ** (1 - bias - F) : sign * (1 + f / 2 ** F) * 2 ** (e - bias);
  });
  return { bytes, numbers };
}

for (const dtype of Object.keys(FLOATS)) {
  test(`every ${dtype} is read by its formula and written with the same bits, including NaN`, () => {
    const { bytes, numbers } = allCodes(dtype);
    const entry = { dtype, shape: [numbers.length], data_offsets: [0, bytes.length] };
    const { data } = readSafetensors(safetensors({ x: entry }, bytes)).tensors.x;
    numbers.forEach((expected, code) => assert.ok(Object.is(data[code], expected), `${code}: ${data[code]}`));
    assert.deepEqual(stored(write(data, dtype)), bytes);
  });

  test(`any number is written as the nearest ${dtype}, ties to even (seed ${SEED})`, () => {
    const { numbers } = allCodes(dtype);
    const codes = new Map(numbers.map((x, code) => [x, code]));
    const finite = numbers.filter((x) => Number.isFinite(x) && x >= 0 && !Object.is(x, -0)).sort((a, b) => a - b);
    const largest = finite.at(-1);
    const step = largest - finite.at(-2);
    const beyond = dtype === 'F8_E4M3' ? NaN : Infinity;
    const nearest = (x) => {
      if (x > largest)
        return x < largest + step / 2 || (dtype === 'F8_E4M3' && x === largest + step / 2) ? largest : beyond;
      const above = finite.findIndex((y) => y >= x);
      if (finite[above] === x) return x;
      const [low, high] = [finite[above - 1], finite[above]];
      if (x - low !== high - x) return x - low < high - x ? low : high;
      return codes.get(low) % 2 === 0 ? low : high;
    };
    const random = uniformSource(SEED);
    const picks = Array.from({ length: 400 }, () => Math.floor(random() * (finite.length - 1)));
    const values = [
      ...picks.flatMap((i) => {
        const middle = (finite[i] + finite[i + 1]) / 2;
        return [middle, middle * (1 + 2 ** -50), middle * (1 - 2 ** -50), finite[i]];
      }),
      largest + step / 2,
      (largest + step / 2) * (1 + 2 ** -50),
      1e300,
      2 ** -1074,
      Infinity,
    ];
    const written = through(Float64Array.from(values), dtype);
    values.forEach((x, i) => assert.ok(Object.is(written[i], nearest(x)), `${x}: ${written[i]}, not ${nearest(x)}`));
    const negative = through(
      Float64Array.from(values, (x) => -x),
      dtype,
    );
    values.forEach((x, i) => assert.ok(Object.is(negative[i], -nearest(x)), `${-x}: ${negative[i]}`));
  });
}

test('booleans become 0 and 1', () => {
  const file = safetensors({ x: { dtype: 'BOOL', shape: [3], data_offsets: [0, 3] } }, [0, 1, 7]);
  assert.deepEqual([...readSafetensors(file).tensors.x.data], [0, 1, 1]);
  assert.deepEqual(stored(write(Float32Array.of(0, 1, -0), 'BOOL')), Uint8Array.of(0, 1, 0));
});

test('integers can be written as any type that represents all of them', () => {
  assert.deepEqual(through(Float64Array.of(-128, 127), 'I8'), Int8Array.of(-128, 127));
  assert.deepEqual(through(BigInt64Array.of(0n, 255n), 'U8'), Uint8Array.of(0, 255));
  assert.deepEqual(through(Float64Array.of(2 ** 60, -3), 'I64'), BigInt64Array.of(2n ** 60n, -3n));
  assert.deepEqual(through(BigUint64Array.of(2n ** 63n - 1n), 'I64'), BigInt64Array.of(2n ** 63n - 1n));
  assert.deepEqual(through(Int32Array.of(5), 'F32'), Float32Array.of(5));
});

test('numbers can be written as another type if it represents them', () => {
  const dtypeOf = (data) => readSafetensors(write(data)).tensors.x.dtype;
  assert.equal(dtypeOf(Buffer.from([1, 2])), 'U8');
  assert.equal(dtypeOf(Uint8ClampedArray.of(1)), 'U8');
  assert.equal(dtypeOf(new (class extends Float32Array {})(2)), 'F32');
  assert.equal(dtypeOf(new Float32Array(new SharedArrayBuffer(8))), 'F32');
  if (globalThis.Float16Array) assert.equal(dtypeOf(Float16Array.of(1.5)), 'F16');
});

for (const [what, dtype, data, pattern] of [
  ['a fraction', 'I64', [1.5], /'x' holds 1.5 at index 0, expected integers from -9223372036854775808/],
  ['NaN', 'I64', [0, NaN], /holds NaN at index 1, expected integers/],
  ['infinity', 'I32', [Infinity], /holds Infinity at index 0/],
  ['too much', 'U8', [256], /holds 256 at index 0, expected integers from 0 to 255 for U8/],
  ['a negative number', 'U64', [-1], /holds -1 at index 0/],
  ['2 ** 63', 'I64', [2 ** 63], /holds 9223372036854776000 at index 0/],
  ['2', 'BOOL', [2], /holds 2 at index 0, expected integers from 0 to 1 for BOOL/],
  ['a wide integer', 'I64', BigUint64Array.of(2n ** 63n), /holds 9223372036854775808 at index 0/],
  ['a wide integer', 'I32', BigInt64Array.of(2n ** 31n), /holds 2147483648 at index 0/],
  ['64-bit integers', 'F16', BigInt64Array.of(1n), /has 64-bit integers as data, expected numbers for F16/],
  ['64-bit integers', 'F64', BigInt64Array.of(1n), /has 64-bit integers as data, expected numbers for F64/],
]) {
  test(`${what} is not written as ${dtype}`, () => {
    const tensor = { data: Array.isArray(data) ? Float64Array.from(data) : data, shape: [data.length], dtype };
    fails(() => writeSafetensors({ x: tensor }), pattern);
    fails(() => writeNpy(tensor), new RegExp(pattern.source.replace("'x' ", '')));
  });
}

test('invalid tensors are not written', () => {
  const data = Float32Array.of(1);
  for (const [tensor, pattern] of [
    [null, /is null, expected \{ data, shape \}/],
    [undefined, /is undefined, expected/],
    [5, /is 5, expected/],
    [[1], /needs data in a typed array, got undefined/],
    [{ data: [1], shape: [1] }, /needs data in a typed array, got \[1\]/],
    [{ data: new DataView(new ArrayBuffer(4)), shape: [4] }, /needs data in a typed array, got an object \(DataView\)/],
    [{ data, shape: [2] }, /has 1 elements, expected the 2 of its shape \[2\]/],
    [{ data }, /has shape undefined/],
    [{ data, shape: [1.5] }, /has shape \[1.5\], expected at most 32 non-negative integers/],
    [{ data, shape: [-1, -1] }, /has shape \[-1,-1\]/],
    [{ data, shape: new Array(3) }, /has shape \[undefined,undefined,undefined\]/],
    [{ data, shape: new Array(33).fill(1) }, /expected at most 32/],
    [{ data, shape: [1], dtype: 'F9' }, /has dtype 'F9', expected a dtype among F64/],
    [{ data, shape: [1], dtype: 'toString' }, /has dtype 'toString'/],
    [{ data, shape: [1], dtype: '__proto__' }, /has dtype '__proto__'/],
    [{ data, shape: [1], dtype: 5 }, /has dtype 5/],
    [{ data, shape: [1], dtype: 'x'.repeat(1e6) }, /has dtype 'xxx/],
  ]) {
    fails(() => writeSafetensors({ x: tensor }), pattern);
    fails(() => writeNpy(tensor), pattern);
  }
});

test('the properties of a tensor to be written are read once', () => {
  let looks = 0;
  const tensor = {
    get data() {
      looks++;
      return Float32Array.of(1, 2);
    },
    get shape() {
      looks++;
      return [2];
    },
    get dtype() {
      looks++;
      return 'F32';
    },
  };
  writeNpy(tensor);
  assert.equal(looks, 3);
});

test('a NaN whose payload does not fit stays NaN and keeps its sign', () => {
  const data = new Float32Array(Uint32Array.of(0x7f800001, 0xff800001).buffer);
  for (const dtype of Object.keys(FLOATS)) {
    const bytes = stored(write(data, dtype));
    const size = bytes.length / 2;
    const signs = [bytes[size - 1] >> 7, bytes[2 * size - 1] >> 7];
    assert.deepEqual([signs, ...through(data, dtype)], [[0, 1], NaN, NaN], dtype);
  }
});
