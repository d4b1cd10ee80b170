// Tests limits of readTorch that take long to reach.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readTorch } from 'headlight-attention/formats';
import { fails } from '../../support/files.js';
import { Raw, tensor, torchLegacy } from '../../support/torch_files.js';

const storage = { key: 0, dtype: 'F32', count: 6, bytes: new Uint8Array(24) };
const matrix = tensor(storage, [2, 3], [3, 1]);

test('the numbers of opcodes and of containers are limited', () => {
  const calls = (count, opcode) => () => readTorch(torchLegacy(new Raw(new Uint8Array(count).fill(opcode))));
  fails(calls(2 ** 21 + 5, 0x7d), /has more than 2097152 tuples, lists and dicts/);
  fails(calls(2 ** 23 + 5, 0x4e), /has more than 8388608 opcodes/);
});

test('two hundred thousand tensors are read, and three hundred thousand are refused', () => {
  const file = (count) => torchLegacy(new Map(Array.from({ length: count }, (_, i) => [`t${i}`, matrix])), [storage]);
  assert.equal(Object.keys(readTorch(file(200000))).length, 200000);
  fails(() => readTorch(file(300000)), /the pickle has more than/);
});
