// Tests the transfer of files to the worker: progress, problems, and files that were missing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createFileReader } from '../../../../web/store/opening/fileReading.ts';
import { MAX_FILES } from '../../../../web/store/opening/fileSelection.ts';

const file = (path, size = 10) => ({ path, file: new File([new Uint8Array(size)], path) });

function start() {
  const asked = [];
  const reader = createFileReader({
    send: (request) => asked.push(request),
    cancel: (verb) => asked.push({ cancel: verb }),
  });
  return { reader, asked, ...reader.actions };
}
const sent = ({ name, files, transposed }) => [name, files.map(({ path }) => path), transposed];

test('files are opened under a new name; their bytes are the total', () => {
  const { reader, asked, reading, problem, transpose } = start();
  reader.open([file('a.npy', 30)]);
  assert.deepEqual([reading.value.read, reading.value.total], [0, 30]);
  reader.setProgress({ read: 12, total: 40 });
  assert.deepEqual([reading.value.read, reading.value.total], [12, 40]);
  transpose();
  assert.deepEqual(asked.map(sent), [
    ['opened-1', ['a.npy'], false],
    ['opened-2', ['a.npy'], true],
  ]);
  reader.finish();
  assert.deepEqual([reading.value, problem.value], [null, null]);
  reader.setProgress({ read: 1, total: 2 });
  assert.equal(reading.value, null);
});

test('reading is cancelled with both requests', () => {
  const { reader, asked, reading, cancel } = start();
  reader.open([file('a.npy')]);
  cancel();
  assert.equal(reading.value, null);
  assert.deepEqual(asked.slice(1), [{ cancel: 'open' }, { cancel: 'hubOpen' }]);
});

test('no files and too many are problems, which the panel shows', () => {
  const { reader, problem, panel } = start();
  const files = (count) => Array.from({ length: count }, (_, i) => file(`${i}.npy`, 0));
  assert.equal(reader.accepts(files(1)), true);
  assert.equal(reader.accepts(files(MAX_FILES)), true);
  assert.deepEqual([problem.value, panel.value], [null, null]);
  assert.equal(reader.accepts([]), false);
  assert.deepEqual([problem.value, panel.value], [{ code: 'noFiles', values: [] }, 'choose']);
  assert.equal(reader.accepts(files(MAX_FILES + 1)), false);
  assert.deepEqual(problem.value, { code: 'manyFiles', values: [MAX_FILES + 1, MAX_FILES] });
  reader.clearProblem();
  assert.equal(problem.value, null);
});

test('a failure ends reading; an unknown one has its message', () => {
  const { reader, reading, problem, failed } = start();
  reader.open([file('a.npy')]);
  failed({ message: 'why' });
  assert.deepEqual([reading.value, problem.value], [null, { code: 'other', values: [], message: 'why' }]);
  reader.begin({ title: 't', total: 5 });
  assert.deepEqual([reading.value, problem.value], [{ title: 't', total: 5, read: 0 }, null]);
  reader.stop();
  assert.equal(reading.value, null);
});
