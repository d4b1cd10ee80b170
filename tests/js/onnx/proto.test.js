import assert from 'node:assert/strict';
import test from 'node:test';
import { block, float, integer, join, message, string } from '../../../src/js/onnx/proto.ts';

const bytesOf = (piece) => [...join(piece)];

test('integers have seven bits per byte; negative ones take ten bytes', () => {
  assert.deepEqual(bytesOf(integer(1, 150)), [0x08, 0x96, 0x01]);
  assert.deepEqual(bytesOf(integer(2, 0)), [0x10, 0]);
  assert.deepEqual(bytesOf(integer(1, -1)), [0x08, ...Array(9).fill(0xff), 0x01]);
  assert.deepEqual(bytesOf(integer(16, 1)), [0x80, 0x01, 0x01]);
});

test('strings and messages are preceded by their length; floats take four bytes', () => {
  assert.deepEqual(bytesOf(string(2, 'é')), [0x12, 2, 0xc3, 0xa9]);
  assert.deepEqual(bytesOf(block(3, integer(1, 1), string(2, ''))), [0x1a, 4, 0x08, 1, 0x12, 0]);
  assert.deepEqual(bytesOf(message(float(2, 1), integer(1, 1))), [0x15, 0, 0, 0x80, 0x3f, 0x08, 1]);
});
