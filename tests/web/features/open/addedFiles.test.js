// Tests files of a model that are opened in several steps.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isIncomplete, joined } from '../../../../web/features/open/addedFiles.js';

const named = (...paths) => paths.map((path) => ({ path }));
const paths = (files) => files.map(({ path }) => path);

test('a missing part is added to the files before it', () => {
  const before = named('m/config.json', 'm/model-00001-of-00002.safetensors');
  assert.deepEqual(paths(joined(before, named('model-00002-of-00002.safetensors'))), [
    'm/config.json',
    'm/model-00001-of-00002.safetensors',
    'model-00002-of-00002.safetensors',
  ]);
  assert.deepEqual(paths(joined(before, named('config.json'))), ['m/model-00001-of-00002.safetensors', 'config.json']);
  assert.ok(isIncomplete('shards') && isIncomplete('noConfig') && !isIncomplete('unknownFile'));
});

test('another model, or a file that is no part of one, is opened alone', () => {
  const before = named('m/config.json');
  for (const now of [['n/config.json', 'n/model.safetensors'], ['weights.npy'], ['attentions.json']])
    assert.deepEqual(paths(joined(before, named(...now))), now);
});
