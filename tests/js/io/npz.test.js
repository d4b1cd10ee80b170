import assert from 'node:assert/strict';
import test from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { readNpz, writeNpy } from 'headlight-attention/formats';
import { readZip, writeZip } from '../../../src/js/io/zip.ts';
import { npy, rejects, safetensors, zip } from '../../support/files.js';
import { numbers } from '../../support/kernels.js';

const a = { dtype: 'F32', shape: [5, 7], data: numbers(35, 3) };
const b = { dtype: 'I64', shape: [], data: BigInt64Array.of(-5n) };
/** An array of zeros, which deflate compresses to a thousandth. */
const large = { dtype: 'F32', shape: [1000, 300], data: new Float32Array(300000) };
const files = (...options) =>
  Object.entries({ a, b, large }).map(([name, tensor]) => ({
    name: `${name}.npy`,
    bytes: writeNpy(tensor),
    ...Object.assign({}, ...options),
  }));
const NAN = { bytes: writeNpy(a), name: 'a.npy' };

for (const [what, archive] of [
  ['stored', zip(files())],
  ['deflated', zip(files({ deflate: true }))],
  ['with 64-bit sizes', zip(files({ wide: true, deflate: true }), { wide: true })],
  ['with sizes after the data', zip(files({ described: true, deflate: true }))],
  ['with a comment', zip(files(), { comment: 'PK\x05\x06 and more '.repeat(99) })],
  ['with folders', zip([{ name: 'x/', bytes: new Uint8Array(0) }, ...files()])],
]) {
  test(`an archive is read: ${what}`, async () => {
    const { tensors } = await readNpz(archive);
    assert.deepEqual({ ...tensors }, { a, b, large });
  });
}

test('a written archive is read again, and writing is deterministic', async () => {
  const given = Object.fromEntries(files().map(({ name, bytes }) => [name, bytes]));
  const archive = writeZip(given);
  const { tensors } = await readNpz(archive);
  assert.deepEqual({ ...tensors }, { a, b, large });
  assert.deepEqual(writeZip(given), archive);
  const [{ name }] = readZip('test', writeZip({ '猫.txt': Uint8Array.of(1) }));
  assert.equal(name, '猫.txt');
  assert.deepEqual(readZip('test', writeZip({})), []);
});

test('arrays have the names of np.savez, and any name is allowed', async () => {
  const names = ['__proto__', 'constructor', 'blocks.0/wq', '猫', '', 'a.npy'];
  const { tensors } = await readNpz(zip(names.map((name) => ({ name: `${name}.npy`, bytes: writeNpy(b) }))));
  assert.deepEqual(Object.keys(tensors), names);
  assert.deepEqual({ ...(await readNpz(zip([]))).tensors }, {});
});

test('an array of an unsupported type is listed, and only access to its data throws', async () => {
  const text = npy("{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", new Uint8Array(24));
  const { tensors } = await readNpz(zip([{ name: 'names.npy', bytes: text }, ...files()]));
  assert.deepEqual([tensors.names.dtype, tensors.names.shape, tensors.a], ['<U3', [2], a]);
  assert.throws(() => tensors.names.data, { code: 'FORMAT', message: /'names': descr '<U3' \(strings\)/ });
});

test('a file is never unpacked beyond its declared size', async () => {
  const bytes = new Uint8Array(1e6);
  const packed = deflateRawSync(bytes);
  const one = (claims) => readNpz(zip([{ name: 'a.npy', deflate: true, bytes, packed, ...claims }]));
  await rejects(one({ size: 1000 }), /'a.npy' unpacks to more than the 1000 bytes that the directory declares/);
  await rejects(one({ size: 1000001 }), /'a.npy' unpacks to 1000000 bytes, but the directory declares 1000001/);
  await rejects(one({ size: 1032 * packed.length + 1 }), /'a.npy' claims \d+ bytes in \d+/);
  await rejects(one({ size: 2 ** 52, wide: true }), /'a.npy' claims 4503599627370496 bytes in/);
  await rejects(readNpz(zip(files()), { maxSize: 1000 }), /the arrays take \d+ bytes, expected at most maxSize = 1000/);
  const total = files().reduce((sum, file) => sum + file.bytes.length, 0);
  await rejects(readNpz(zip(files()), { maxSize: total - 1 }), /expected at most maxSize/);
  assert.equal(Object.keys((await readNpz(zip(files()), { maxSize: total })).tensors).length, 3);
  await rejects(readNpz(zip(files()), { maxSize: 0 }), /expected at most maxSize = 0/);
  await assert.rejects(readNpz(zip(files()), { maxSize: -1 }), { code: 'ARGUMENT', parameter: 'maxSize' });
  await assert.rejects(readNpz(zip(files()), { most: 1 }), { code: 'ARGUMENT', parameter: 'most' });
});

test('errors name every fault of an npz file', async () => {
  const good = zip(files({ deflate: true }));
  const half = good.slice();
  half.fill(0, 40, 120);
  const end = good.length - 22;
  const changed = (at, ...values) => {
    const copy = good.slice();
    copy.set(values, at);
    return copy;
  };
  const twice = zip([{ ...NAN }, { ...NAN, name: 'b.npy', offset: 0 }]);
  for (const [file, pattern] of [
    [null, /bytes is null/],
    [new Uint8Array(0), /this is an empty file, expected an npz file/],
    [new Uint8Array(9), /the file is not a zip archive, expected an npz file/],
    [writeNpy(a), /this is an npy array: use readNpy, expected an npz file/],
    [safetensors({}), /this is a safetensors file: use readSafetensors/],
    [
      zip([{ name: 'archive/data.pkl', bytes: [1] }]),
      /'archive\/data.pkl' in the archive is not an npy file: this is a PyTorch checkpoint/,
    ],
    [zip([...files(), { name: 'b', bytes: [1] }]), /'b' in the archive is not an npy file/],
    [good.subarray(0, good.length - 1), /directory is missing, the file is truncated/],
    [good.subarray(0, 10), /directory is missing/],
    [changed(end + 10, 9), /directory of \d+ bytes claims 9 files/],
    [changed(end + 12, 255, 255), /directory overlaps the record/],
    [changed(end + 16, 255, 255, 255, 255), /its 64-bit directory is missing/],
    [changed(0, 0x50, 0x4b, 9, 9), /no file at byte 0/],
    [half, /'a.npy' (cannot be decompressed|unpacks to|has a different checksum)|overlaps/],
    [zip([{ ...NAN, crc: 5 }]), /'a.npy' has a different checksum from that in the directory/],
    [zip([{ ...NAN, method: 14 }]), /'a.npy' is compressed by method 14, expected 0 \(stored\) or 8 \(deflate\)/],
    [zip([{ ...NAN, flags: 1 }]), /'a.npy' is encrypted/],
    [zip([{ ...NAN, packedSize: 10 }]), /'a.npy' claims \d+ bytes in 10/],
    [zip([{ ...NAN, packedSize: 10000, size: 10000 }]), /'a.npy' (overlaps the next|is outside)/],
    [zip([{ ...NAN, offset: 2 ** 31 }]), /'a.npy' is outside the archive/],
    [zip([NAN, NAN]), /there are two arrays 'a'/],
    [twice, /no file at byte 0|overlaps/],
    [zip([{ name: 'a.npy', bytes: [1, 2, 3] }]), /readNpz: 'a.npy'?.*does not begin with|'a': the file does not begin/],
    [zip([{ ...NAN, deflate: true, packed: new Uint8Array(200).fill(255) }]), /'a.npy' cannot be decompressed: /],
    [zip([{ ...NAN, deflate: true, packed: deflateRawSync(NAN.bytes).subarray(0, 90) }]), /'a.npy' (cannot be|holds)/],
  ])
    await rejects(readNpz(file), pattern);
});

test('a small file that claims hundreds of megabytes is refused, unless maxSize allows it', async () => {
  const one = (size) =>
    zip([{ name: 'a.npy', deflate: true, bytes: new Uint8Array(1), packed: new Uint8Array(2 ** 19), size }]);
  await rejects(readNpz(one(2 ** 28 + 1)), /the arrays take 268435457 bytes, expected at most maxSize = 268435456/);
  await rejects(readNpz(one(2 ** 28)), /cannot be decompressed|unpacks to/);
  await rejects(readNpz(one(2 ** 28 + 1), { maxSize: 2 ** 29 }), /cannot be decompressed|unpacks to/);
});
