// Reads the texts of Parquet files that parquet-wasm 0.8 wrote with three columns, one of them of integers, and of
// damaged files.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { readParquet } from '../../../../web/features/atlas/readParquet.ts';

const open = (name) => readFile(new URL(`../../../golden/corpus/${name}.parquet`, import.meta.url));

test('columns of texts are read as JSON lines', async () => {
  const { text, rows } = await readParquet(new Blob([await open('texts')]));
  assert.equal(rows, 6);
  const lines = text.split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines[0], { label: 'a', text: 'Call me Ishmael. Some years ago, never mind how long.' });
  assert.deepEqual(lines[5], { label: 'b', text: '风吹过大海，船在黑夜里前行。' });
});

test('a damaged file and another compression are errors', async () => {
  await assert.rejects(readParquet(new Blob([await open('zstd')])), /codec: ZSTD/);
  const bytes = await open('texts');
  for (const length of [0, 7, 100, bytes.length - 1])
    await assert.rejects(readParquet(new Blob([bytes.subarray(0, length)])), Error);
});

test('a damaged file gives texts or an error, and no part outside it is read', async () => {
  const bytes = await open('texts');
  class Checked extends Blob {
    slice(start, end) {
      assert.ok(start >= 0 && start <= end && end <= this.size, `${start} to ${end} of ${this.size}`);
      return super.slice(start, end);
    }
  }
  // The last half of the file contains the description of the columns.
  for (let i = bytes.length >> 1; i < bytes.length; i++) {
    const damaged = Uint8Array.from(bytes);
    damaged[i] = 255 - damaged[i];
    await readParquet(new Checked([damaged])).then(
      ({ text }) => assert.equal(typeof text, 'string'),
      (error) => assert.notEqual(error.name, 'AssertionError', error.message),
    );
  }
});
