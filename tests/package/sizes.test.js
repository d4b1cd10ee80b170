// Checks that the files that load() reads, and the bundle of a program that uses one function, do not exceed their
// maximum sizes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { bundled, firstLoad, LIMITS } from '../../src/build/sizes.ts';

test('load() reads few files, and no more than its limit', () => {
  const files = firstLoad();
  const compressed = files.reduce((sum, file) => sum + file.compressed, 0);
  assert.ok(files.length <= LIMITS.requests, files.map(({ name }) => name).join(', '));
  assert.ok(compressed <= LIMITS.compressed, `${compressed} bytes`);
});

test('a bundle of a learning-rate schedule has little else', async () => {
  for (const { name, bytes, compressed } of await bundled('cosineSchedule')) {
    assert.ok(bytes <= LIMITS.bundle, `${name}: ${bytes} bytes`);
    assert.ok(compressed <= LIMITS.bundleCompressed, `${name}: ${compressed} bytes compressed`);
  }
});
