import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { readNpz, readSafetensors, readTorch } from 'headlight-attention/formats';
import { fails, join, rejects, zip } from '../../support/files.js';
import { global, pickle, Raw, reduce, tensor, torchLegacy, torchZip, tuple } from '../../support/torch_files.js';

const GOLDEN = new URL('../../golden/torch/', import.meta.url);
const read = (name) => new Uint8Array(readFileSync(new URL(name, GOLDEN)));
const expected = JSON.parse(readFileSync(new URL('expected.json', GOLDEN), 'utf8'));
const storage = { key: 0, dtype: 'F32', count: 6, bytes: new Uint8Array(Float32Array.of(0, 1, 2, 3, 4, 5).buffer) };
const matrix = tensor(storage, [2, 3], [3, 1]);
/** Returns raw opcodes of a pickle, given as characters. */
const opcode = (text) => new Raw(Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
const dump = ({ dtype, shape, data }) => ({
  dtype,
  shape,
  data: Array.from(data, (x) => (typeof x === 'bigint' ? String(x) : x)),
});

for (const name of readdirSync(GOLDEN).filter((name) => name.endsWith('.pt') && name.split('.')[0] in expected))
  test(`${name}, which PyTorch wrote, has the tensors that PyTorch saved`, () => {
    const tensors = readTorch(read(name));
    const right = expected[name.split('.')[0]];
    assert.deepEqual(Object.keys(tensors), Object.keys(right));
    for (const key of Object.keys(right)) assert.deepEqual(dump(tensors[key]), right[key], key);
  });

test('names are the keys of nested dicts and the indices of lists', () => {
  const file = torchZip({ model: { 'a.b': matrix, n: 5 }, list: [matrix, [matrix]], 7: matrix }, [storage]);
  assert.deepEqual(Object.keys(readTorch(file)).sort(), ['7', 'list.0', 'list.1.0', 'model.a.b']);
  assert.deepEqual(Object.keys(readTorch(torchZip(matrix, [storage]))), ['']);
  assert.deepEqual({ ...readTorch(torchZip({ n: [1, 'x', null] })) }, {});
  const proto = readTorch(torchZip(new Map([['__proto__', matrix]]), [storage]));
  assert.deepEqual(Object.keys(proto), ['__proto__']);
});

test('data is decoded when it is read, once, and does not share memory with the file', () => {
  const file = torchZip({ a: matrix, b: matrix }, [storage]);
  const { a, b } = readTorch(file);
  assert.equal(a.data, a.data);
  a.data[0] = 9;
  assert.equal(b.data[0], 0);
  file.fill(255);
  assert.equal(a.data[1], 1);
});

test('types without a storage of their own, and types that are not decoded', () => {
  const bytes = { key: 1, dtype: 'U8', count: 4, bytes: Uint8Array.of(0x38, 0xb8, 0x40, 0) };
  const id = tuple(['storage', global('torch.storage UntypedStorage'), '1', 'cpu', 4]);
  const rebuilt = (type, shape) =>
    reduce('torch._utils _rebuild_tensor_v3', new Raw(id, [0x51]), 0, tuple(shape), tuple([1]), false, null, type);
  const complex = { key: 2, dtype: 'C64', count: 1, bytes: new Uint8Array(8) };
  const value = {
    float8: rebuilt(global('torch float8_e4m3fn'), [3]),
    short: rebuilt(global('torch uint16'), [2]),
    complex: tensor(complex, [1], [1]),
  };
  const tensors = readTorch(torchZip(value, [bytes, complex]));
  assert.deepEqual(dump(tensors.float8), { dtype: 'F8_E4M3', shape: [3], data: [1, -1, 2] });
  assert.deepEqual(dump(tensors.short), { dtype: 'U16', shape: [2], data: [0xb838, 0x40] });
  assert.deepEqual([tensors.complex.dtype, tensors.complex.shape], ['C64', [1]]);
  fails(() => tensors.complex.data, /tensor 'complex' has dtype 'C64', which is not decoded/);
  fails(() => readTorch(torchZip(rebuilt('x', [1]), [bytes])), /tensor '' has no type/);
});

test('a storage of an old file may be a view of another one', () => {
  const view = tensor(storage, [2], [1], { offset: 1, view: tuple(['1', 2, 3]) });
  assert.deepEqual([...readTorch(torchLegacy({ view }, [storage])).view.data], [3, 4]);
  const beyond = tensor(storage, [2], [1], { offset: 1, view: tuple(['1', 4, 3]) });
  fails(() => readTorch(torchLegacy({ beyond }, [storage])), /elements beyond the 2 of its storage/);
});

test('every opcode and every global that weights do not need is refused by name', () => {
  const run = (bytes) => () => readTorch(torchZip(null, [storage], { bytes: join([0x80, 2], bytes, [0x2e]) }));
  for (const [code, name] of [
    [0x81, 'NEWOBJ'],
    [0x69, 'INST'],
    [0x6f, 'OBJ'],
    [0x82, 'EXT1'],
    [0x42, 'BINBYTES'],
    [0x8f, 'EMPTY_SET'],
    [0x32, 'DUP'],
    [0xff, '0xff'],
    [0, '0x00'],
  ])
    fails(run([0x4e, code]), new RegExp(`the pickle has the opcode ${name} at byte 3, which weights do not need`));
  const calls = (value) => () => readTorch(torchZip(value, [storage]));
  for (const name of ['os system', 'builtins eval', 'posix system', 'torch load', 'numpy.core.multiarray scalar'])
    fails(calls({ x: reduce(name, 'rm') }), new RegExp(`needs the global '${name.replace(' ', '.')}'`));
  const stacked = new Raw(...['os', 'system'].map((word) => new Raw([0x8c, word.length], opcode(word))), [0x93]);
  fails(calls(stacked), /needs the global 'os.system'/);
  fails(calls(new Raw(opcode('))'), [0x93])), /identifies a global by a value that is not a string/);
  fails(calls(new Raw(opcode('))R'))), /calls a value that is not a function/);
  fails(calls(new Raw(global('torch FloatStorage'), opcode(')R'))), /calls a value that is not a function/);
  fails(calls(new Raw(opcode('}}Rb'))), /calls a value that is not a function/);
  fails(calls(new Raw(opcode(')Nb'))), /sets attributes of a non-dict/);
  fails(calls(new Raw(opcode('(]Nu'))), /sets items of a non-dict|needs a value/);
  fails(calls(new Raw(opcode(']NNs'))), /sets items of a non-dict/);
  fails(calls(new Raw(opcode(')Na'))), /appends to a non-list/);
  fails(calls(new Raw(opcode('(a'))), /needs a value before byte/);
  fails(calls(new Raw(opcode('t'))), /has no MARK/);
  fails(calls(new Raw(opcode('h\x05'))), /refers to the memo entry 5, which does not exist, before byte 4/);
  fails(calls(new Raw(tuple(['module', 5]), opcode('Q'))), /has a persistent id \['module',5\], expected a storage/);
  fails(run([0x80, 9]), /has protocol 9, expected at most 5/);
  fails(run([0x58, 255, 255, 255, 127]), /the pickle is truncated/);
  fails(run([0x8c, 1, 0xff]), /has a string at byte 4 that is not UTF-8/);
});

test('a tensor beyond its storage and a storage of another size are refused before anything is allocated', () => {
  const one = (...args) => torchZip({ w: tensor(storage, ...args) }, [storage]);
  const huge = 2 ** 52;
  for (const [args, pattern] of [
    [
      [
        [2, 4],
        [3, 1],
      ],
      /tensor 'w' has offset 0, shape \[2,4\] and strides \[3,1\], which select elements beyond the 6 of its/,
    ],
    [[[2, 3], [3, 1], { offset: 1 }], /elements beyond the 6 of its storage/],
    [[[7], [1]], /elements beyond/],
    [[[2], [huge]], /elements beyond/],
    [
      [
        [2, 2],
        [huge, huge],
      ],
      /elements beyond/,
    ],
    [[[2 ** 17], [0]], null],
    [[[2 ** 23], [0]], /the tensors up to 'w' have 33554432 bytes, in a file of \d+/],
    [
      [
        [2 ** 30, 2 ** 30],
        [0, 0],
      ],
      /tensor 'w' has shape/,
    ],
    [
      [
        [2, 3],
        [-3, 1],
      ],
      /has strides \[-3,1\], expected a non-negative integer for each axis/,
    ],
    [[[2, 3], [1]], /has strides \[1\], expected a non-negative integer for each axis of \[2,3\]/],
    [[[-1], [1]], /has shape \[-1\], expected at most 32 non-negative integers/],
    [[[1.5], [1]], /has shape \[1.5\]/],
    [[['2'], [1]], /has shape \['2'\]/],
    [[new Array(33).fill(1), new Array(33).fill(1)], /has shape .* at most 32/],
    [[[1], [1], { offset: -1 }], /has offset -1, expected a non-negative integer/],
    [[[1], [1], { offset: 6 }], /elements beyond/],
    [[[0, 9], [1, 1], { offset: 99 }], null],
  ]) {
    const run = () => readTorch(one(...args));
    if (pattern) fails(run, pattern);
    else assert.equal(run().w.shape.length, args[0].length);
  }
  for (const count of [5, 7, 2 ** 50]) {
    const value = { w: tensor({ ...storage, count }, [1], [1]) };
    fails(() => readTorch(torchZip(value, [storage])), /'archive\/data\/0' has 24 bytes, expected \d+ for \d+ of F32/);
  }
  fails(() => readTorch(torchZip(reduce('torch._utils _rebuild_tensor_v2', 5))), /tensor '' has no storage/);
  fails(
    () => readTorch(torchZip(tensor({ ...storage, count: -1 }, [], []), [storage])),
    /the storage '0' has the type/,
  );
});

test('every fault of an archive is named', async () => {
  const good = torchZip({ matrix }, [storage]);
  const file = (name, bytes = [1]) => ({ name, bytes });
  for (const [bytes, pattern] of [
    [null, /readTorch: bytes is null/],
    [new Uint8Array(0), /this is an empty file, expected a file of torch.save/],
    [new Uint8Array(99), /the file is neither a zip archive nor a pickle, expected a file of torch.save/],
    [zip([file('a.npy')]), /this is an npz archive: use readNpz, expected a file of torch.save/],
    [zip([file('data.pkl')]), /the zip archive has no FOLDER\/data.pkl/],
    [zip([file('a/b/data.pkl')]), /the zip archive has no FOLDER\/data.pkl/],
    [zip([file('a/data.pkl'), file('b/data.pkl')]), /has the pickles a\/data.pkl, b\/data.pkl, expected one/],
    [read('script.pt'), /this is a TorchScript archive, which contains a program: save its state_dict\(\)/],
    [torchZip({ matrix }, []), /the storage 'archive\/data\/0' is missing/],
    [torchZip({ matrix }, [storage], { order: 'big' }), /the byte order is 'big', expected 'little'/],
    [torchZip({ matrix }, [storage], { more: [file('archive/data/0')] }), /there are two files 'archive\/data\/0'/],
    [
      torchZip({ matrix }, [storage], { deflate: true }),
      /'archive\/data.pkl' is compressed, expected it as torch.save/,
    ],
    [
      torchZip({ matrix }, [storage], { crc: 5 }),
      /damaged: 'archive\/data.pkl' has a different checksum from that in the directory/,
    ],
    [good.subarray(0, good.length - 30), /directory is missing, the file is truncated/],
    [good.subarray(0, 300), /directory is missing, the file is truncated/],
    [torchZip({ 'a.b': matrix, a: { b: matrix } }, [storage]), /there are two tensors 'a.b'/],
    [torchZip({ ['x'.repeat(2000)]: matrix }, [storage]), /the name 'x+…' is longer than 1024 characters/],
  ])
    fails(() => readTorch(bytes), pattern);
  const path = { ...storage, key: '../../etc/passwd' };
  fails(
    () => readTorch(torchZip(tensor(path, [1], [1]), [storage])),
    /'archive\/data\/..\/..\/etc\/passwd' is missing/,
  );
  fails(
    () => readTorch(torchZip(tensor({ ...storage, key: 'k'.repeat(300) }, [1], [1]))),
    /the storage 'k+…' has the type/,
  );
  fails(() => readSafetensors(good), /this is a PyTorch checkpoint: use readTorch, expected a safetensors file/);
  await rejects(readNpz(good), /this is a PyTorch checkpoint: use readTorch/);
});

test('every fault of an old file is named', () => {
  const good = torchLegacy({ matrix }, [storage]);
  assert.deepEqual([...readTorch(good).matrix.data], [0, 1, 2, 3, 4, 5]);
  for (const [bytes, pattern] of [
    [good.subarray(0, good.length - 1), /the storage '0' ends at byte \d+ of \d+: the file is truncated/],
    [good.subarray(0, 60), /the pickle is truncated at byte 60/],
    [pickle({ matrix }), /this is a Python pickle, expected a file of torch.save/],
    [torchLegacy({ matrix }, [storage], { order: false }), /the byte order is 'big', expected 'little'/],
    [torchLegacy({ matrix }, [storage], { order: 5 }), /the byte order is 'unknown'/],
    [torchLegacy({ matrix }, [storage], { protocol: 1000 }), /has protocol 1000, expected 1001/],
    [torchLegacy({ matrix }, [{ ...storage, count: 7 }]), /the storage '0' has 7 elements, expected 6/],
    [torchLegacy({ matrix }, []), /some storages of the pickle are not in its list of keys/],
    [torchLegacy({ matrix }, [storage, { ...storage, key: 9 }]), /the storage '9' is not described exactly once/],
    [torchLegacy({ matrix }, [storage], { keys: ['0', '0'] }), /the storage '0' is not described exactly once/],
    [torchLegacy({ matrix }, [storage], { keys: 5 }), /not in its list of keys/],
  ])
    fails(() => readTorch(bytes), pattern);
});

test('lists that contain each other, long keys and shared lists take no long time', () => {
  const calls = (value) => () => readTorch(torchZip(value, [storage]));
  const put = (index) => new Raw([0x71, index]);
  const get = (index) => new Raw([0x68, index]);
  // Each list contains the previous list ten times, so there are 10⁴⁰ paths to the matrix.
  const levels = [new Raw(opcode('(]'), put(0), opcode('('), matrix, opcode('e'))];
  for (let i = 1; i < 40; i++)
    levels.push(new Raw(opcode(']'), put(i), opcode('('), ...new Array(10).fill(get(i - 1)), opcode('e')));
  fails(calls(new Raw(...levels, opcode('t'))), /the pickle repeats its dicts too often/);
  fails(calls(new Raw(opcode(']'), put(0), get(0), opcode('a'))), /dicts are nested deeper than 64 levels/);
  const several = (count, { bytes }) => {
    const all = new Uint8Array(count * bytes.length);
    for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
    return new Raw(opcode('('), all, opcode('t'));
  };
  // Many dicts share a key of a megabyte, and many tensors share a shape with many axes.
  const key = new Raw([0x58, 0, 0, 16, 0], new Uint8Array(2 ** 20).fill(97), put(1));
  const keyed = new Raw(opcode('}'), get(1), opcode(')s'));
  assert.deepEqual({ ...calls(new Raw(opcode('('), key, several(20000, keyed), opcode('t')))() }, {});
  const long = new Raw(several(100000, opcode('K\x01')), put(1));
  const wide = new Raw(opcode('c'), opcode('torch._utils\n_rebuild_tensor_v2\n'), put(2));
  const made = new Raw(get(2), opcode('(NK\x00'), get(1), get(1), opcode('tR'));
  fails(calls(new Raw(opcode('('), long, wide, several(20000, made), opcode('t'))), /tensor '2.0' has no storage/);
});

test('many tensors take time in proportion to the file', () => {
  const parts = Array.from({ length: 5000 }, (_, i) => [`t${i}`, matrix]);
  const tensors = readTorch(torchZip(new Map(parts), [storage]));
  assert.equal(Object.keys(tensors).length, 5000);
  assert.deepEqual([...tensors.t4999.data], [0, 1, 2, 3, 4, 5]);
});

test('an archive without checksums, which PyTorch can write, is read', () => {
  assert.deepEqual(Object.keys(readTorch(torchZip({ matrix }, [storage], { crc: 0 }))), ['matrix']);
});
