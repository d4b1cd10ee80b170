import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { readNpy, readNpz, readSafetensors, writeNpy, writeSafetensors } from 'headlight-attention/formats';
import { fails, join, rejects, zip } from '../../support/files.js';

const text = (string) => Uint8Array.from(string, (sign) => sign.charCodeAt(0));
const rest = new Uint8Array(300);

for (const [kind, bytes] of [
  ['a PyTorch checkpoint: use readTorch', zip([{ name: 'model/data.pkl', bytes: rest }])],
  ['a PyTorch checkpoint in the old format: use readTorch', text('\x80\x02\x8a\x0alü\x9cFù j¨P\x19.')],
  ['a Python pickle', text('\x80\x04\x95\x00\x00')],
  ['a Keras file', zip([{ name: 'metadata.json', bytes: rest }])],
  ['an HDF5 file', text('\x89HDF\r\n\x1a\n')],
  ['a GGUF file', text('GGUF\x03\0\0\0')],
  ['an ONNX model', text('\x08\x07\x12\x07pytorch')],
  ['a TensorFlow Lite file', text('\x1c\0\0\0TFL3')],
  ['a zip archive', zip([{ name: 'readme.txt', bytes: rest }])],
  ['compressed with gzip', gzipSync(rest)],
  ['compressed with zstd', text('\x28\xb5\x2f\xfd')],
  ['a tar archive', join(text('model.bin'), new Uint8Array(248), text('ustar'))],
  ['a Git LFS pointer', text('version https://git-lfs.github.com/spec/v1\n')],
  ['a web page', text('\n<!DOCTYPE html><html>')],
  ['JSON text', text('{"weight_map": {}}')],
  ['an empty file', new Uint8Array(0)],
]) {
  test(`${kind} is identified`, async () => {
    const pattern = new RegExp(`this is ${kind}`);
    fails(() => readSafetensors(bytes), pattern);
    fails(() => readNpy(bytes), pattern);
    if (!kind.includes('zip archive')) await rejects(readNpz(bytes), pattern);
  });
}

test('the error about a file for another reader names that reader', async () => {
  const tensor = { data: Float32Array.of(1), shape: [1] };
  const [array, archive] = [writeNpy(tensor), zip([{ name: 'x.npy', bytes: writeNpy(tensor) }])];
  const tensors = writeSafetensors({ tensor });
  fails(() => readSafetensors(array), /this is an npy array: use readNpy, expected a safetensors file/);
  fails(() => readSafetensors(archive), /this is an npz archive: use readNpz/);
  fails(() => readNpy(archive), /this is an npz archive: use readNpz, expected an npy file/);
  fails(() => readNpy(tensors), /this is a safetensors file: use readSafetensors, expected an npy file/);
  await rejects(readNpz(tensors), /this is a safetensors file: use readSafetensors, expected an npz file/);
});

test('the error about an unknown format names no format', () => {
  for (let first = 0; first < 256; first++) {
    const bytes = Uint8Array.of(first, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245);
    assert.throws(
      () => readNpy(bytes),
      ({ message }) => /does not begin with \\x93NUMPY/.test(message),
    );
  }
});
