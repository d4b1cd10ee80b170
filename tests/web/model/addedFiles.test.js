// Tests files of a model that are opened in several steps.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { isIncomplete, joined } from '../../../web/model/addedFiles.ts';

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

test('every file that openModel reads beside the weights is a part of a model', () => {
  const sources = new URL('../../../src/js/models/checkpoint/', import.meta.url);
  const text = readdirSync(sources, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, sources), 'utf8'))
    .join('');
  const names = new Set(
    [...text.matchAll(/(?:readInner|readJson|readAll|size|= )\(?(?:folder, )?'([\w.]+\.(?:json|jinja))'/g)].map(
      ([, name]) => name,
    ),
  );
  for (const name of ['config.json', 'processor_config.json', 'chat_template.jinja', 'modules.json', 'vocab.json'])
    assert.ok(names.has(name), name);
  const weights = named('m/model.safetensors');
  for (const name of names) {
    if (name === 'scatter_data.json') continue;
    assert.deepEqual(paths(joined(weights, named(name))), ['m/model.safetensors', name]);
  }
});

test('another model, or a file that is no part of one, is opened alone', () => {
  const before = named('m/config.json');
  for (const now of [['n/config.json', 'n/model.safetensors'], ['weights.npy'], ['attentions.json']])
    assert.deepEqual(paths(joined(before, named(...now))), now);
});
