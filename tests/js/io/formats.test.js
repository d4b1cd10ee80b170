import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { HeadlightError } from 'headlight';
import { readNpy, readSafetensors, writeNpy, writeSafetensors } from 'headlight/formats';

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

/** A safetensors file from a header and its data, byte by byte. */
function safetensors(header, data = [], claim) {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(claim ?? text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}

/** An npy file of version 1 from its header and its data. */
function npy(header, data = [], version = 1) {
  const text = new TextEncoder().encode(header);
  const start = version === 1 ? 10 : 12;
  const file = new Uint8Array(start + text.length + data.length);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  if (version === 1) new DataView(file.buffer).setUint16(8, text.length, true);
  else new DataView(file.buffer).setUint32(8, text.length, true);
  file.set(text, start);
  file.set(data, start + text.length);
  return file;
}

const fails = (fn, pattern) =>
  assert.throws(
    fn,
    (error) =>
      (error instanceof HeadlightError && error.code === 'FORMAT' && pattern.test(error.message)) || assert.fail(error),
  );

for (const [dtype, array, values] of TYPES) {
  test(`${dtype} survives safetensors and npy`, () => {
    const tensor = { data: array.from(values), shape: [values.length] };
    const { tensors, metadata } = readSafetensors(writeSafetensors({ x: tensor }, { made: 'here' }));
    assert.deepEqual(tensors.x, { dtype, ...tensor });
    assert.deepEqual(metadata, { made: 'here' });
    assert.deepEqual(readNpy(writeNpy(tensor)), { dtype, ...tensor });
  });
}

test('every half decodes as its formula says, and every number encodes to the nearest half', () => {
  const all = Uint8Array.from({ length: 131072 }, (_, i) => ((i >> 1) >> (8 * (i & 1))) & 255);
  const { data } = readSafetensors(safetensors({ x: { dtype: 'F16', shape: [65536], data_offsets: [0, 131072] } }, all))
    .tensors.x;
  for (let h = 0; h < 65536; h++) {
    const [s, e, f] = [h >> 15 ? -1 : 1, (h >> 10) & 31, h & 1023];
    const expected = e === 31 ? (f ? NaN : s * Infinity) : e === 0 ? s * f * 2 ** -24 : s * (1024 + f) * 2 ** (e - 25);
    assert.ok(Object.is(data[h], expected), `${h}`);
  }
  const back = writeSafetensors({ x: { data, shape: [65536], dtype: 'F16' } });
  const again = readSafetensors(back).tensors.x.data;
  for (let h = 0; h < 65536; h++) assert.ok(Object.is(again[h], data[h]));
  const halves = (x) =>
    readSafetensors(writeSafetensors({ x: { data: Float32Array.of(x), shape: [1], dtype: 'F16' } })).tensors.x.data[0];
  assert.equal(halves(1 + 2 ** -11), 1);
  assert.equal(halves(1 + 3 * 2 ** -11), 1 + 2 ** -9);
  assert.equal(halves(65519), 65504);
  assert.equal(halves(65520), Infinity);
  assert.equal(halves(2 ** -25), 0);
  assert.equal(halves(3 * 2 ** -26), 2 ** -24);
});

test('BF16 is the upper half of a float32, rounded to even', () => {
  const read = (...bytes) =>
    readSafetensors(safetensors({ x: { dtype: 'BF16', shape: [1], data_offsets: [0, 2] } }, bytes)).tensors.x.data[0];
  assert.equal(read(0x80, 0x3f), 1);
  assert.equal(read(0x80, 0xff), -Infinity);
  assert.ok(Number.isNaN(read(0xc0, 0x7f)));
  const write = (x) =>
    readSafetensors(writeSafetensors({ x: { data: Float32Array.of(x), shape: [1], dtype: 'BF16' } })).tensors.x.data[0];
  assert.equal(write(1 + 2 ** -8), 1);
  assert.equal(write(1 + 3 * 2 ** -8), 1 + 2 ** -6);
});

test('booleans become 0 and 1', () => {
  const file = safetensors({ x: { dtype: 'BOOL', shape: [3], data_offsets: [0, 3] } }, [0, 1, 7]);
  assert.deepEqual([...readSafetensors(file).tensors.x.data], [0, 1, 1]);
});

test('data of any alignment is read, and is a copy', () => {
  const file = writeSafetensors({ x: { data: Float32Array.of(1, 2), shape: [2] } });
  const shifted = new Uint8Array(file.length + 3);
  shifted.set(file, 3);
  const { data } = readSafetensors(shifted.subarray(3)).tensors.x;
  shifted.fill(0);
  assert.deepEqual([...data], [1, 2]);
});

test('a tensor may be called __proto__ or constructor', () => {
  const file = writeSafetensors({
    ['__proto__']: { data: Float32Array.of(1), shape: [1] },
    constructor: { data: Float32Array.of(2), shape: [1] },
  });
  assert.deepEqual(Object.keys(readSafetensors(file).tensors).sort(), ['__proto__', 'constructor']);
});

test('written files begin their data at a multiple of 8, widest types first, without gaps', () => {
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

test('npy reads big-endian, Fortran order, versions 1 to 3, scalars and empty arrays', () => {
  assert.deepEqual(
    readNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", [0x3f, 0x80, 0, 0])).data,
    Float32Array.of(1),
  );
  const order = { data: [1, 4, 2, 5, 3, 6] };
  assert.deepEqual(
    [...readNpy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", order.data)).data],
    [1, 2, 3, 4, 5, 6],
  );
  for (const version of [1, 2, 3])
    assert.deepEqual(readNpy(npy("{'shape': (), 'descr': '|b1', 'fortran_order': False}", [1], version)), {
      dtype: 'BOOL',
      shape: [],
      data: Uint8Array.of(1),
    });
  assert.deepEqual(readNpy(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (0, 4), }")).shape, [0, 4]);
});

test('every fault of a safetensors file is named', () => {
  const ok = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
  fails(() => readSafetensors('text'), /expected the bytes of a file/);
  fails(() => readSafetensors(new Uint8Array(3)), /has 3 bytes, expected at least the 8/);
  fails(() => readSafetensors(safetensors('{}', [], 2 ** 52)), /header claims 4503599627370496 bytes/);
  fails(() => readSafetensors(safetensors('{"x":')), /the header is not JSON/);
  fails(() => readSafetensors(safetensors('[]')), /expected to be a JSON object/);
  fails(() => readSafetensors(safetensors({ __metadata__: { a: 1 } })), /__metadata__ is expected/);
  fails(() => readSafetensors(safetensors({ x: { ...ok, dtype: 'F8' } }, [0, 0, 0, 0])), /tensor "x" has dtype "F8"/);
  fails(() => readSafetensors(safetensors({ x: { ...ok, shape: [-1] } }, [0, 0, 0, 0])), /has shape \[-1\]/);
  fails(
    () => readSafetensors(safetensors({ x: { ...ok, shape: [2, 2] } }, [0, 0, 0, 0])),
    /has 4 bytes, expected 16 for F32 \[2,2\]/,
  );
  fails(
    () => readSafetensors(safetensors({ x: { ...ok, data_offsets: [0, 8] } }, [0, 0, 0, 0])),
    /within the 4 bytes of data/,
  );
  fails(() => readSafetensors(safetensors({ x: ok, y: ok }, [0, 0, 0, 0])), /begins at byte 0, expected 4/);
  fails(
    () => readSafetensors(safetensors({ x: { ...ok, data_offsets: [4, 8] } }, new Array(8).fill(0))),
    /begins at byte 4, expected 0/,
  );
  fails(() => readSafetensors(safetensors({ x: ok }, new Array(8).fill(0))), /end at byte 4, expected 8/);
  fails(() => readSafetensors(safetensors({ x: null })), /has dtype undefined/);
});

test('every fault of an npy file is named', () => {
  fails(() => readNpy(new Uint8Array(20)), /does not begin with/);
  fails(() => readNpy(npy('{}', [], 9)), /version 9/);
  fails(() => readNpy(npy("{'descr': '<f4'}")), /cannot read the header/);
  fails(
    () => readNpy(npy("{'descr': '|O8', 'fortran_order': False, 'shape': (1,), }")),
    /descr '\|O8' is not supported/,
  );
  fails(
    () => readNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", [0, 0, 0, 0])),
    /has 4 bytes of data, expected 8 for F32 \[2\]/,
  );
  fails(() => readNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }").subarray(0, 30)), /truncated/);
});

test('every fault of what is to be written is named', () => {
  fails(() => writeSafetensors({ x: { data: [1], shape: [1] } }), /tensor "x" needs data in a typed array/);
  fails(() => writeSafetensors({ x: { data: Float32Array.of(1), shape: [2] } }), /has 1 elements/);
  fails(() => writeSafetensors({ x: { data: Float32Array.of(1), shape: [1], dtype: 'F8' } }), /dtype among/);
  fails(() => writeSafetensors({}, { a: 1 }), /metadata is expected/);
  fails(() => writeNpy({ data: Float32Array.of(1), shape: [1], dtype: 'BF16' }), /npy has no BF16/);
});

test(`any dictionary of tensors survives (seed ${SEED})`, () => {
  const tensor = fc
    .tuple(fc.constantFrom(...TYPES), fc.array(fc.nat(4), { maxLength: 4 }))
    .map(([[, array], shape]) => {
      const count = shape.reduce((a, b) => a * b, 1);
      return { data: new array(count), shape };
    });
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: 'binary' }).filter((name) => name !== '__metadata__'),
        tensor,
      ),
      (dict) => {
        const { tensors } = readSafetensors(writeSafetensors(dict));
        assert.deepEqual(Object.keys(tensors).sort(), Object.keys(dict).sort());
        for (const name of Object.keys(dict))
          assert.deepEqual({ data: tensors[name].data, shape: tensors[name].shape }, dict[name]);
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
});

test(`damaged files give a FORMAT error or a result, never anything else (seed ${SEED})`, () => {
  const files = [
    writeSafetensors(
      { wq: { data: new Float32Array(6), shape: [2, 3] }, n: { data: new BigInt64Array(2), shape: [2] } },
      { a: 'b' },
    ),
    writeNpy({ data: new Float32Array(6), shape: [2, 3] }),
  ];
  fc.assert(
    fc.property(
      fc.nat(1),
      fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat(300)),
      (which, hits, cut) => {
        const file = files[which].slice(0, cut ?? undefined);
        for (const [at, byte] of hits) if (at < file.length) file[at] = byte;
        try {
          (which ? readNpy : readSafetensors)(file);
        } catch (error) {
          assert.equal(error.code, 'FORMAT', error.stack);
        }
      },
    ),
    { seed: SEED, numRuns: 3000 },
  );
});
