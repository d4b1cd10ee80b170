import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join as path } from 'node:path';
import test from 'node:test';
import { readGguf } from 'headlight-attention/formats';
import { fails, join, rejects } from '../../support/files.js';
import { encode, gguf, number, string } from '../../support/gguf.js';
import { GOLDEN } from '../../support/golden.js';

const read = (name) => readFileSync(path(GOLDEN, 'gguf', name));
const json = (name) => JSON.parse(read(name).toString());
const TYPES = json('types.json').types;
const RAW = read('types.bin');
const FILE = read('types.gguf');
const bitsOf = (floats) => new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
const expectedOf = ({ expected: { offset, bytes } }) =>
  new Uint32Array(new Uint8Array(RAW.subarray(offset, offset + bytes)).buffer);
const matrix = (rows = 2, width = 32) => ({ shape: [rows, width], data: new Float32Array(rows * width).fill(1) });
const META = { 'general.architecture': 'test', 'test.list': ['a', 'b'] };
/** Returns a source that is read in ranges, and that counts the bytes read. */
const rangesOf = (bytes, counter = { read: 0 }) => ({
  size: bytes.length,
  read: async (begin, end) => {
    counter.read += end - begin;
    return bytes.subarray(begin, end);
  },
});

for (const type of TYPES)
  test(`${type.name}: every value has the bits of llama.cpp`, () => {
    const tensor = readGguf(FILE).tensors[`${type.name.toLowerCase()}.weight`];
    assert.deepEqual([tensor.type, tensor.shape], [type.name, type.shape]);
    assert.deepEqual(bitsOf(tensor.data()), expectedOf(type));
  });

test('metadata of every kind, in versions 2 and 3', () => {
  const expected = { ...json('metadata.json') };
  expected['test.u64'] = Number(expected['test.u64']);
  expected['test.i64'] = Number(expected['test.i64']);
  expected['test.u64.big'] = BigInt(expected['test.u64.big']);
  const second = FILE.slice();
  second[4] = 2;
  for (const file of [FILE, second]) {
    const { metadata } = readGguf(file);
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(metadata[key], value, key);
    assert.equal(metadata['general.architecture'], 'types');
  }
});

test('integers above 2 ** 53 and below −2 ** 53 are BigInts, lists may be in lists', () => {
  const values = {
    least: { kind: 'i64', value: -(2n ** 63n) },
    safe: { kind: 'i64', value: -(2n ** 53n - 1n) },
    beyond: { kind: 'u64', value: 2n ** 53n },
    nested: [[1, 2], [], [3]],
    mark: '\ufeffa',
  };
  const { metadata } = readGguf(gguf(values));
  assert.deepEqual(
    { ...metadata },
    {
      least: -(2n ** 63n),
      safe: -(2 ** 53 - 1),
      beyond: 2n ** 53n,
      nested: [[1, 2], [], [3]],
      mark: '\ufeffa',
    },
  );
});

test('names such as __proto__ are names like others', () => {
  const file = gguf(Object.fromEntries([['__proto__', 5]]), Object.fromEntries([['__proto__', matrix()]]));
  const { metadata, tensors } = readGguf(file);
  assert.deepEqual(Object.entries(metadata), [['__proto__', 5]]);
  assert.deepEqual(Object.keys(tensors), ['__proto__']);
});

test('the width of a row is last, and an alignment may be set', () => {
  const data = Float32Array.from({ length: 12 }, (_, i) => i);
  const { tensors } = readGguf(
    gguf(META, { a: { shape: [2, 3], data: data.slice(0, 6) }, b: { shape: [12], data } }, { alignment: 64 }),
  );
  assert.deepEqual(
    [tensors.a.shape, [...tensors.a.data()]],
    [
      [2, 3],
      [0, 1, 2, 3, 4, 5],
    ],
  );
  assert.deepEqual([tensors.b.shape, tensors.b.data()], [[12], data]);
});

test('a Blob and a reader of ranges give the same, and only the tensors that are asked for are read', async () => {
  const counter = { read: 0 };
  const large = gguf(META, {
    a: matrix(2),
    b: matrix(50_000),
    c: { ...matrix(2), data: new Float32Array(64).fill(3) },
  });
  for (const source of [new Blob([large]), rangesOf(large, counter)]) {
    const { metadata, tensors } = await readGguf(source);
    assert.deepEqual(metadata, readGguf(large).metadata);
    assert.deepEqual([tensors.c.type, tensors.c.shape], ['F32', [2, 32]]);
    assert.deepEqual(await tensors.c.data(), new Float32Array(64).fill(3));
  }
  assert.ok(counter.read < 70_000, `${counter.read} bytes were read`);
});

test('a header that is longer than the first read is read in a few steps', async () => {
  const tokens = Array.from({ length: 100_000 }, (_, i) => `token ${i}`);
  const file = gguf({ ...META, tokens }, { a: matrix() });
  const counter = { read: 0 };
  const { metadata, tensors } = await readGguf(rangesOf(file, counter));
  assert.deepEqual(metadata.tokens, tokens);
  assert.equal((await tensors.a.data()).length, 64);
  assert.ok(counter.read < 2 * file.length);
});

test('types that are not decoded are listed, and their data is refused by name', async () => {
  const file = gguf(META, { a: matrix(), odd: { shape: [1, 256], type: 'IQ2_XXS', bytes: new Uint8Array(66) } });
  const { tensors } = readGguf(file);
  assert.equal(tensors.odd.type, 'IQ2_XXS');
  assert.equal(tensors.a.data().length, 64);
  fails(() => tensors.odd.data(), /tensor 'odd' has type IQ2_XXS, which is not decoded/);
  await rejects((await readGguf(new Blob([file]))).tensors.odd.data(), /IQ2_XXS/);
  const other = readGguf(gguf(META, { odd: { shape: [256], type: 99, bytes: new Uint8Array(66) } }));
  fails(() => other.tensors.odd.data(), /tensor 'odd' has type 99/);
  for (const type of ['I32', 'Q8_1']) {
    const bytes = new Uint8Array(type === 'I32' ? 128 : 36);
    fails(() => readGguf(gguf(META, { x: { shape: [32], type, bytes } })).tensors.x.data(), new RegExp(`type ${type}`));
  }
});

test('shared memory and views are read', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(FILE.length + 3)).subarray(3);
  shared.set(FILE);
  assert.equal(readGguf(shared).metadata['test.str'], readGguf(FILE).metadata['test.str']);
  assert.deepEqual(readGguf(shared).tensors['q4_k.weight'].data(), readGguf(FILE).tensors['q4_k.weight'].data());
});

test('other versions, big-endian files and other formats are named', () => {
  const version = (bytes) => {
    const file = FILE.slice();
    file.set(bytes, 4);
    return file;
  };
  fails(() => readGguf(version([1, 0, 0, 0])), /version 1 of GGUF, expected 2 or 3/);
  fails(() => readGguf(version([0, 0, 0, 3])), /big-endian/);
  fails(() => readGguf(Buffer.from('tjgg')), /older than GGUF/);
  fails(() => readGguf(Buffer.from('PK\x03\x04 a zip archive')), /zip archive, expected a GGUF file/);
  fails(() => readGguf(new Uint8Array(0)), /empty file/);
  fails(() => readGguf('x.gguf'), /bytes is 'x.gguf'/);
});

/** Returns a header with one metadata value that has these bytes. */
const withEntry = (...parts) =>
  join(Buffer.from('GGUF'), number('u32', 3), number('u64', 0), number('u64', 1), string('key'), ...parts);
const HUGE = 2n ** 63n;
const claimed = (kind, count) => withEntry(number('u32', 9), number('u32', kind), number('u64', count));

/** Damaged files: a description of the damage, the file, and the expected message. */
const DAMAGED = [
  ['a number of tensors', gguf(META, {}, { claims: { tensors: HUGE } }), /claims 9223372036854775808 tensors/],
  ['a number of values', gguf(META, {}, { claims: { metadata: 2 ** 40 } }), /claims 1099511627776 metadata values/],
  [
    'the length of a string',
    withEntry(number('u32', 8), number('u64', HUGE)),
    /metadata 'key' has a string of 9223372036854775808 bytes/,
  ],
  ['the length of a list', claimed(0, HUGE), /metadata 'key' has an array of/],
  [
    'the length of a list of strings',
    join(claimed(8, 5), new Uint8Array(39)),
    /metadata 'key' has an array of 5 values, but 39 bytes/,
  ],
  [
    'lists in lists',
    withEntry(
      ...Array.from({ length: 9 }, () => [number('u32', 9), number('u64', 1)]).flatMap(([kind, one], i) =>
        i === 0 ? [kind] : [kind, one],
      ),
      new Uint8Array(60),
    ),
    /metadata 'key' has arrays nested more than 4 deep/,
  ],
  ['the kind of a value', withEntry(number('u32', 13), new Uint8Array(8)), /metadata 'key' has a value of kind 13/],
  ['a boolean', withEntry(number('u32', 7), Uint8Array.of(2)), /metadata 'key' has the byte 2 as a boolean/],
  ['a key', gguf({ a: 1 }, {}).map((byte) => (byte === 97 ? 0xff : byte)), /the key of metadata entry 0 is not UTF-8/],
  [
    'two values of a key',
    Buffer.from(gguf({ ab: 1, ac: 2 }).map((byte) => (byte === 99 ? 98 : byte))),
    /metadata 'ab' is in the file twice/,
  ],
  [
    'the alignment',
    gguf({ 'general.alignment': 24 }, {}),
    /metadata 'general.alignment' is 24, expected a power of two/,
  ],
  ['the type of the alignment', gguf({ 'general.alignment': 'x' }, {}), /'general.alignment' is 'x'/],
  [
    'the number of axes',
    gguf(META, { a: { shape: [1, 1, 1, 1, 1], data: [1] } }),
    /tensor 'a' has 5 axes, expected at most 4/,
  ],
  [
    'the sizes',
    gguf(META, { a: { shape: [2 ** 30, 2 ** 30], bytes: new Uint8Array(4) } }),
    /tensor 'a' has shape .* at most 2 \*\* 53/,
  ],
  [
    'the width of rows',
    gguf(META, { a: { shape: [2, 33], type: 'Q8_0', bytes: new Uint8Array(68) } }),
    /tensor 'a' has rows of 33 elements, expected a multiple of 32/,
  ],
  [
    'an offset',
    gguf(META, { a: { ...matrix(), offset: 4 } }),
    /tensor 'a' begins at byte 4, expected a multiple of 32/,
  ],
  [
    'an offset beyond the file',
    gguf(META, { a: { ...matrix(), offset: 2 ** 20 } }),
    /tensor 'a' ends at byte \d+, but the file has \d+: it is truncated/,
  ],
  ['an offset beyond 2 ** 53', gguf(META, { a: { ...matrix(), offset: HUGE } }), /tensor 'a' begins at byte/],
  [
    'tensors that overlap',
    gguf(META, { a: matrix(), b: { ...matrix(), offset: 0 } }),
    /tensor 'b' begins at byte \d+, within tensor 'a'/,
  ],
  [
    'two tensors of a name',
    Buffer.from(gguf({}, { tx: matrix(), ty: matrix() }).map((byte) => (byte === 121 ? 120 : byte))),
    /tensor 'tx' is in the file twice/,
  ],
];

for (const [what, file, pattern] of DAMAGED)
  test(`damaged: ${what}`, async () => {
    fails(() => readGguf(file), pattern);
    await rejects(readGguf(new Blob([file])), pattern);
  });

test('a file that is cut anywhere is refused, and nothing is read beyond its end', async () => {
  const file = gguf(
    { ...META, number: 5, list: [1, 2, 3] },
    { a: matrix(), b: { shape: [32], type: 'F16', data: new Float32Array(32) } },
  );
  for (let length = 0; length < file.length; length++) {
    fails(() => readGguf(file.subarray(0, length)), /readGguf: /);
    if (length % 7 === 0) await rejects(readGguf(rangesOf(file.subarray(0, length))), /readGguf: /);
  }
});

test('a reader that gives too few bytes is refused', async () => {
  const file = gguf(META, { a: matrix() });
  const short = {
    size: file.length,
    read: async (begin, end) => file.subarray(begin, Math.min(end, file.length - 40)),
  };
  const { tensors } = await readGguf(short);
  await rejects(tensors.a.data(), /the file ends within tensor 'a'/);
  await rejects(readGguf({ size: 10_000, read: async () => new Uint8Array(0) }), /GGUF|ends at byte 0/);
  await rejects(readGguf({ size: NaN, read: async () => file }), /the size of the file is NaN/);
});

test('the test encodes Q8_0 as the reader decodes it', () => {
  const data = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i));
  const got = readGguf(
    gguf(META, { a: { shape: [2, 32], type: 'Q8_0', bytes: encode('Q8_0', data) } }),
  ).tensors.a.data();
  got.forEach((x, i) => assert.ok(Math.abs(x - data[i]) < 0.005));
});
