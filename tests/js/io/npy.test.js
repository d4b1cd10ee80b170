import assert from 'node:assert/strict';
import test from 'node:test';
import { readNpy, writeNpy } from 'headlight-attention/formats';
import { fails, npy } from '../../support/files.js';

const dict = (descr, shape, order = 'False') => `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }`;
const bytes = (count) => Uint8Array.from({ length: count }, (_, i) => i);

test('headers are read in any order, with any spaces, in every version', () => {
  for (const header of [
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }          \n",
    "{'shape': (2,3,), 'fortran_order':False, 'descr':'<u1'}",
    '  {"fortran_order" :False ,"shape"\n:( 2L , 3L ),"descr": "=u1",\t}\t',
  ]) {
    for (const version of [1, 2, 3])
      assert.deepEqual(readNpy(npy(header, bytes(6), version)), { dtype: 'U8', shape: [2, 3], data: bytes(6) });
  }
});

test('scalars, empty arrays and 32 axes are read and written', () => {
  for (const shape of [[], [0], [0, 4], [4, 0, 2], [1], new Array(32).fill(1)]) {
    const tensor = { dtype: 'U8', shape, data: bytes(shape.reduce((a, b) => a * b, 1)) };
    assert.deepEqual(readNpy(writeNpy(tensor)), tensor);
  }
  assert.deepEqual(readNpy(npy(dict("'|b1'", '()'), [1])), { dtype: 'BOOL', shape: [], data: Uint8Array.of(1) });
});

test('shapes are written as Python tuples, with a comma after a single number', () => {
  for (const [shape, tuple] of [
    [[], '()'],
    [[3], '(3,)'],
    [[3, 1], '(3, 1)'],
  ]) {
    const file = writeNpy({ data: Float32Array.from(bytes(shape[0] ?? 1)), shape });
    const header = new TextDecoder('latin1').decode(file.subarray(10, 128));
    assert.equal(header.trimEnd(), dict("'<f4'", tuple));
  }
});

test('data in big-endian order is read', () => {
  assert.deepEqual(readNpy(npy(dict("'>f4'", '(1,)'), [0x3f, 0x80, 0, 0])).data, Float32Array.of(1));
  assert.deepEqual([...readNpy(npy(dict("'>f2'", '(2,)'), [0x3c, 0, 0x7c, 1])).data], [1, NaN]);
  assert.deepEqual(
    readNpy(npy(dict("'>i8'", '(2,)'), bytes(16))).data,
    BigInt64Array.of(0x1020304050607n, 0x8090a0b0c0d0e0fn),
  );
});

test('arrays in Fortran order are transposed', () => {
  for (const shape of [[6], [2, 3], [2, 3, 4], [3, 1, 1, 2, 1], [1, 5, 1], [2, 0, 3], [2, 2, 2, 2, 2, 2]]) {
    const count = shape.reduce((a, b) => a * b, 1);
    const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1));
    const expected = Uint8Array.from({ length: count }, (_, i) => {
      let at = 0;
      for (let axis = shape.length - 1, rest = i; axis >= 0; axis--) {
        at += (rest % shape[axis]) * strides[axis];
        rest = Math.floor(rest / shape[axis]);
      }
      return at;
    });
    assert.deepEqual(readNpy(npy(dict("'|u1'", `(${shape},)`, 'True'), bytes(count))).data, expected, `${shape}`);
  }
});

test('the time is linear in the size of the file, for any spaces and axes', () => {
  const spaces = ' '.repeat(20000);
  const parts = ["{'descr': '<f4'", "'fortran_order': False", "'shape': (0,)"];
  fails(() => readNpy(npy(`${parts.join(spaces)}${spaces}X`)), /cannot read the header/);
  assert.deepEqual(readNpy(npy(`${parts.join(`,${spaces}`)}${spaces}}`)).shape, [0]);
  fails(
    () => readNpy(npy(dict("'|u1'", `(${'1,'.repeat(30000)})`, 'True'), [1])),
    /the shape is \[1,1,.*…\], expected at most 32/,
  );
  fails(() => readNpy(npy(`${'['.repeat(60000)}`)), /cannot read the header/);
  fails(() => readNpy(npy(dict(`${'['.repeat(30000)}${']'.repeat(30000)}`, '(1,)'), [1])), /records/);
  fails(() => readNpy(npy(`{'descr': '${'x'.repeat(60000)}`)), /cannot read the header/);
  fails(() => readNpy(npy(dict(`'${'x'.repeat(60000)}'`, '(1,)'))), /descr 'xxx.*…'/);
  fails(() => readNpy(npy(' '.repeat(65536), [], 2)), /the header claims 65536 bytes, expected at most 65535/);
});

test('errors about unsupported types name the type', () => {
  for (const [descr, pattern] of [
    ["'|O'", /descr '\|O' \(Python objects, which are pickled\) is not decoded, expected one of f8, i8, u8, f4/],
    ["'|O8'", /Python objects/],
    ["'<c8'", /complex numbers/],
    ["'<U10'", /strings/],
    ["'|S5'", /strings of bytes/],
    ["'<M8[ns]'", /dates/],
    ["'<f16'", /long floating-point numbers/],
    ["[('x', '<f4'), ('y', '<i4', (2, 2))]", /descr '\[\('x', '<f4'\).*' \(records\)/],
    ["'f'", /descr 'f'/],
    ["''", /descr ''/],
    ["'<f3'", /descr '<f3'/],
    ["'<toString'", /descr '<toString'/],
  ])
    fails(() => readNpy(npy(dict(descr, '(2,)'), bytes(8))), pattern);
});

test('errors name every fault of an npy file', () => {
  for (const [file, pattern] of [
    [undefined, /bytes is undefined/],
    [new Uint8Array(0), /this is an empty file/],
    [new Uint8Array(20), /does not begin with \\x93NUMPY/],
    [npy('').subarray(0, 6), /the file ends after 6 bytes/],
    [npy('').subarray(0, 9), /the file ends after 9 bytes/],
    [npy('{}', [], 9), /version 9, expected 1, 2 or 3/],
    [npy('{}', [], 0), /version 0/],
    [npy(dict("'<f4'", '(2,)')).subarray(0, 30), /the header claims \d+ bytes.*truncated/],
    [npy(dict("'<f4'", '(2,)'), bytes(4)), /has 4 bytes of data, expected 8 for F32 \[2\]/],
    [npy(dict("'<f4'", '(2,)'), bytes(9)), /has 9 bytes of data, expected 8/],
    [npy(dict("'<f4'", `(${2 ** 53},)`)), /the shape is \[9007199254740992\]/],
    [npy(dict("'<f4'", `(${2 ** 40}, ${2 ** 40})`)), /the shape is/],
    [npy(dict("'<f4'", `(${'9'.repeat(400)},)`)), /the shape is \[Infinity\]/],
    ...[
      '',
      '{}',
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': False}",
      dict("'<f4'", '(2,)', '0'),
      dict("'<f4'", '(2,)', "'False'"),
      dict("'<f4'", '[2]'),
      dict("'<f4'", '(2]'),
      dict("'<f4'", '(,)'),
      dict("'<f4'", '(2,,3)'),
      dict("'<f4'", '(2 3)'),
      dict("'<f4'", '(-1,)'),
      dict("'<f4'", '((2,),)'),
      dict("'<f4'", '(True,)'),
      dict("'<f4'", "('2',)"),
      dict("'<f4'", '2'),
      dict('4', '(2,)'),
      dict('True', '(2,)'),
      `${dict("'<f4'", '(2,)')} x`,
      `${dict("'<f4'", '(2,)')}{}`,
      `${dict("'<f4'", '(2,)').slice(0, -1)}'more': 1}`,
      `${dict("'<f4'", '(2,)').slice(0, -1)}'descr': '<f4'}`,
      "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
      "{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': , 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
      "{'descr': '<f4', 'fortran_order': False, 'shape':",
      "{'descr': '<f\\4', 'fortran_order': False, 'shape': (2,)}",
    ].map((header) => [npy(header, bytes(8)), /cannot read the header '/]),
  ])
    fails(() => readNpy(file), pattern);
});

test('types that npy does not have are not written', () => {
  const data = Float32Array.of(1);
  fails(
    () => writeNpy({ data, shape: [1], dtype: 'BF16' }),
    /npy has no BF16; write it as F32, which represents every BF16 number/,
  );
  fails(() => writeNpy({ data, shape: [1], dtype: 'F8_E4M3' }), /npy has no F8_E4M3/);
});

test('in written files the data begins at a multiple of 64 bytes', () => {
  for (const shape of [[], [6], [1, 2, 3], new Array(32).fill(1)]) {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    const file = writeNpy({ data, shape });
    assert.equal((file.length - data.byteLength) % 64, 0);
    assert.equal(file[file.length - data.byteLength - 1], 10);
  }
});
