import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { HeadlightError } from 'headlight-attention';
import {
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsHeaderEnd,
  readSafetensorsTensor,
  writeSafetensors,
} from 'headlight-attention/formats';
import { fails, join, safetensors } from '../../support/files.js';
import { inTier } from '../../support/tier.js';

const SEED = 20;
const float = (x) => ({ data: Float32Array.of(x), shape: [1] });
const OK = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
const ZEROS = [0, 0, 0, 0];

test('data of any alignment is read and copied', () => {
  const file = writeSafetensors({ x: { data: Float32Array.of(1, 2), shape: [2] } });
  const shifted = join([0, 0, 0], file);
  const { data } = readSafetensors(shifted.subarray(3)).tensors.x;
  shifted.fill(0);
  assert.deepEqual([...data], [1, 2]);
});

test('the bytes may be in any kind of buffer', () => {
  const file = writeSafetensors({ x: float(3) }, { a: 'b' });
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  for (const bytes of [file, file.buffer, new DataView(file.buffer), Buffer.from(file), shared, shared.buffer]) {
    const { tensors, metadata } = readSafetensors(bytes);
    assert.deepEqual([tensors.x.data[0], metadata.a], [3, 'b']);
  }
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  fails(() => readSafetensors(gone), /detached|empty/);
  fails(() => readSafetensors(gone.buffer), /detached|empty/);
});

test('a tensor may have any name', () => {
  const names = ['__proto__', 'constructor', 'toString', '', '0', '猫', '"\\\n\0', 'x'.repeat(100000)];
  const file = writeSafetensors(Object.fromEntries(names.map((name, i) => [name, float(i)])));
  const { tensors } = readSafetensors(file);
  assert.deepEqual(Object.keys(tensors).sort(), [...names].sort());
  names.forEach((name, i) => assert.equal(tensors[name].data[0], i));
  const { metadata } = readSafetensors(writeSafetensors({}, Object.fromEntries([['__proto__', 'a']])));
  assert.deepEqual(Object.entries(metadata), [['__proto__', 'a']]);
});

test('in written files the data begins at a multiple of 8 bytes, with the widest types first and without gaps', () => {
  const file = writeSafetensors({
    a: { data: Int8Array.of(1), shape: [1] },
    b: { data: Float64Array.of(2), shape: [1] },
  });
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  assert.equal(length % 8, 0);
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  assert.deepEqual(header.b.data_offsets, [0, 8]);
  assert.deepEqual(header.a.data_offsets, [8, 9]);
});

test('a header can be read alone, for files of 2 ** 40 bytes and more', () => {
  for (const size of [94e6, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 52]) {
    const half = size / 2;
    const header = safetensors({
      low: { dtype: 'U8', shape: [half], data_offsets: [0, half] },
      high: { dtype: 'F32', shape: [2, half / 8], data_offsets: [half, size] },
      none: { dtype: 'F32', shape: [0, size], data_offsets: [size, size] },
      __metadata__: { format: 'pt' },
    });
    const start = header.length;
    assert.equal(readSafetensorsHeaderEnd(header.subarray(0, 8), start + size), start);
    const { tensors, metadata } = readSafetensorsHeader(header, start + size);
    assert.deepEqual(
      { ...tensors },
      {
        low: { dtype: 'U8', shape: [half], begin: start, end: start + half },
        high: { dtype: 'F32', shape: [2, half / 8], begin: start + half, end: start + size },
        none: { dtype: 'F32', shape: [0, size], begin: start + size, end: start + size },
      },
    );
    assert.deepEqual(metadata, { format: 'pt' });
    fails(
      () => readSafetensorsHeader(header, start + size - 1),
      /'high' has data_offsets \[.*\], expected \[begin, end\]/,
    );
    fails(() => readSafetensorsHeader(header, start + size + 1), /the tensors end at byte/);
    fails(() => readSafetensorsHeader(header.subarray(0, start - 1), start + size), /the header ends at byte/);
  }
  for (const size of [7, -1, 1.5, NaN, 2 ** 53, '99'])
    fails(() => readSafetensorsHeader(safetensors({}), size), /fileSize is/);
});

test('the size of a file may be unknown (Infinity): the header determines where the tensors end', () => {
  const file = writeSafetensors({ a: float(5) });
  const end = readSafetensorsHeaderEnd(file.subarray(0, 9), Infinity);
  assert.equal(readSafetensorsHeader(file.subarray(0, end), Infinity).tensors.a.end, file.length);
});

test('a size of -0 is 0', () => {
  const file = safetensors('{"x":{"dtype":"F32","shape":[-0],"data_offsets":[-0,0]}}');
  assert.deepEqual(readSafetensors(file).tensors.x.shape, [0]);
});

test('a tensor is read from the byte range in its header', () => {
  const file = writeSafetensors({ a: float(5), b: { data: Float32Array.of(1, 2), shape: [2, 1], dtype: 'F16' } });
  const { tensors } = readSafetensorsHeader(file.subarray(0, readSafetensorsHeaderEnd(file)), file.length);
  const { a, b } = tensors;
  assert.deepEqual(readSafetensorsTensor(a, file.subarray(a.begin, a.end)), { dtype: 'F32', ...float(5) });
  assert.deepEqual(readSafetensorsTensor(b, file.slice(b.begin, b.end).buffer), {
    dtype: 'F16',
    shape: [2, 1],
    data: Float32Array.of(1, 2),
  });
  for (const size of [3, 5])
    fails(() => readSafetensorsTensor(a, file.subarray(0, size)), /got \d bytes, expected the 4 of the tensor/);
  fails(() => readSafetensorsTensor({ ...a, dtype: 'C64' }, file.subarray(0, 4)), /dtype 'C64', which is not decoded/);
});

test('a tensor of an unknown type is listed, and only access to its data throws', () => {
  const { tensors } = readSafetensors(
    safetensors(
      {
        a: { dtype: 'C64', shape: [2, 1], data_offsets: [0, 16] },
        b: { dtype: 'F32', shape: [], data_offsets: [16, 20] },
        c: { dtype: 'F4', shape: [4], data_offsets: [20, 22] },
        d: { dtype: 'toString', shape: [1], data_offsets: [22, 23] },
      },
      new Uint8Array(23),
    ),
  );
  assert.deepEqual([tensors.a.dtype, tensors.a.shape], ['C64', [2, 1]]);
  assert.deepEqual(tensors.b, { dtype: 'F32', shape: [], data: Float32Array.of(0) });
  fails(() => tensors.a.data, /tensor 'a' has dtype 'C64', which is not decoded, only F64, I64/);
  fails(() => tensors.c.data, /tensor 'c' has dtype 'F4'/);
  fails(() => tensors.d.data, /tensor 'd' has dtype 'toString'/);
  fails(() => writeSafetensors(tensors), /tensor 'a' has dtype 'C64'/);
});

test('errors name every fault of a safetensors file', () => {
  const entry = (more, data = ZEROS) => safetensors({ x: { ...OK, ...more } }, data);
  for (const [file, pattern] of [
    ['text', /bytes is 'text', expected the bytes of a file/],
    [null, /bytes is null/],
    [new Uint8Array(0), /this is an empty file/],
    [new Uint8Array(3), /has 3 bytes, expected at least 8/],
    [safetensors('{}', [], 2 ** 52), /the header claims 4503599627370496 bytes, expected at most 100000000/],
    [safetensors('{}', [], 2n ** 64n - 1n), /the header claims 18446744073709552000 bytes/],
    [safetensors('{}', [], 3), /the header claims 3 bytes, but 2 follow: the file is truncated/],
    [safetensors('{"x":'), /the header is not valid JSON: the text ends at character 5/],
    [safetensors('\ufeff{}'), /the header is not valid JSON: expected a value at character 0/],
    [safetensors('{}\0'), /more text after the value at character 2/],
    [join(safetensors('', [], 1), [0xff]), /it is not UTF-8/],
    [safetensors('[]'), /the header must be a JSON object/],
    [safetensors('{"x":null}'), /tensor 'x' is null, expected \{ dtype, shape, data_offsets \}/],
    [safetensors('{"x":{"dtype":"F32","shape":[1],"shape":[1]}}'), /a duplicate name/],
    [safetensors(`{"x":${JSON.stringify(OK)},"x":${JSON.stringify(OK)}}`, ZEROS), /a duplicate name at character 54/],
    [safetensors({ __metadata__: { a: 1 } }), /__metadata__ must map names to strings/],
    [safetensors({ __metadata__: null }), /__metadata__ must/],
    [safetensors({ __metadata__: ['a'] }), /__metadata__ must/],
    [entry({ dtype: 5 }), /tensor 'x' has dtype 5, expected a string/],
    [entry({ dtype: undefined }), /has dtype undefined/],
    [entry({ shape: [-1] }), /has shape \[-1\], expected at most 32 non-negative integers/],
    [entry({ shape: [1.5] }), /has shape \[1.5\]/],
    [entry({ shape: ['1'] }), /has shape \['1'\]/],
    [entry({ shape: 1 }), /has shape 1/],
    [entry({ shape: new Array(33).fill(1) }), /has shape \[1,1,/],
    [entry({ shape: [2 ** 52, 2 ** 52] }), /has shape \[4503599627370496,4503599627370496\]/],
    [entry({ shape: [2, 2] }), /has 4 bytes, expected 16 for F32 \[2,2\]/],
    [entry({ data_offsets: [0, 8] }), /has data_offsets \[0,8\], expected \[begin, end\] within the 4 bytes of data/],
    [entry({ data_offsets: [4, 0] }), /has data_offsets \[4,0\]/],
    [entry({ data_offsets: [0, 4, 4] }), /has data_offsets \[0,4,4\]/],
    [entry({ data_offsets: [-4, 0] }), /has data_offsets \[-4,0\]/],
    [entry({ data_offsets: [0.5, 4.5] }), /has data_offsets/],
    [entry({ data_offsets: {} }), /has data_offsets an object/],
    [safetensors({ x: OK, y: OK }, ZEROS), /'y' begins at byte 0 of the data, expected 4: no gap and no overlap/],
    [entry({ data_offsets: [4, 8] }, new Uint8Array(8)), /'x' begins at byte 4 of the data, expected 0/],
    [entry({}, new Uint8Array(8)), /the tensors end at byte \d+, but the file ends at byte \d+/],
    [safetensors({ x: { ...OK, shape: 'a'.repeat(1e6) } }, ZEROS), /has shape 'aaa/],
    [safetensors({ x: { ...OK, dtype: 'a'.repeat(1e6), shape: 1 } }, ZEROS), /has shape 1/],
    [safetensors({ ['x'.repeat(1e6)]: null }), /tensor 'xxx/],
  ])
    fails(() => readSafetensors(file), pattern);
});

test('a header may be nested at most 16 levels deep, and its errors are short', () => {
  const deep = '['.repeat(5000) + ']'.repeat(5000);
  fails(
    () => readSafetensors(safetensors(`{"x":{"dtype":"F32","shape":${deep},"data_offsets":[0,4]}}`, ZEROS)),
    /nested deeper than 16 levels/,
  );
  fails(() => readSafetensors(safetensors('['.repeat(1e6))), /nested deeper/);
  const many = JSON.stringify(new Array(1e5).fill(7));
  fails(
    () => readSafetensors(safetensors(`{"x":{"dtype":"F32","shape":${many},"data_offsets":${many}}}`, ZEROS)),
    /has shape \[7,7,7,.*…\]/,
  );
});

test('errors name every fault of the tensors to be written', () => {
  for (const [tensors, pattern] of [
    [null, /tensors is null, expected a plain object of named tensors/],
    [undefined, /tensors is undefined/],
    [[float(1)], /tensors is \[an object \(Object\)\]/],
    [new Map([['x', float(1)]]), /tensors is an object \(Map\), expected a plain object/],
    // A Map has no own properties, so none of its tensors would be written.
    [{ __proto__: { x: float(1) } }, /expected a plain object/],
    [{ __metadata__: float(1) }, /a tensor cannot be called __metadata__/],
    [{ '\ud800': float(1) }, /tensors is an object/],
  ])
    fails(() => writeSafetensors(tensors), pattern);
  for (const metadata of [null, 5, ['a'], { a: 1 }, { a: null }, new Map(), { '\udc00': 'a' }])
    fails(() => writeSafetensors({}, metadata), /metadata must map names to strings/);
});

test('a header that is too long to be read is not written', () => {
  const tensors = { [`x${'\0'.repeat(17e6)}`]: float(1) };
  fails(() => writeSafetensors(tensors), /the header takes \d+ bytes for 1 tensors, expected at most 100000000/);
});

test(`any dictionary of tensors is unchanged after writing and reading (seed ${SEED})`, () => {
  const arrays = [Float32Array, Float64Array, Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array];
  const tensor = fc
    .tuple(fc.constantFrom(...arrays, BigInt64Array, BigUint64Array), fc.array(fc.nat(4), { maxLength: 4 }))
    .map(([array, shape]) => ({ data: new array(shape.reduce((a, b) => a * b, 1)), shape }));
  const name = fc.string({ unit: 'binary' }).filter((text) => text !== '__metadata__');
  fc.assert(
    fc.property(fc.dictionary(name, tensor), (dict) => {
      const { tensors } = readSafetensors(writeSafetensors(dict));
      assert.deepEqual(Object.keys(tensors).sort(), Object.keys(dict).sort());
      for (const [key, { data, shape }] of Object.entries(dict))
        assert.deepEqual({ data: tensors[key].data, shape: tensors[key].shape }, { data, shape });
    }),
    { seed: SEED, numRuns: inTier(200, 50) },
  );
});

test('errors have the error class of the module', () => {
  assert.throws(() => readSafetensors(), HeadlightError);
});

test('a tensor without a range, or with a wrong one, is refused by name', () => {
  const good = { dtype: 'F32', shape: [1], begin: 0, end: 4 };
  for (const range of [undefined, null, 5, {}, { ...good, shape: 1 }, { ...good, end: -1 }, { ...good, begin: '0' }])
    assert.throws(() => readSafetensorsTensor(range, new Uint8Array(4)), { code: 'ARGUMENT', parameter: 'range' });
  assert.throws(() => readSafetensorsTensor(), /readSafetensorsTensor: range is undefined, expected \{ dtype, shape/);
});
