// Tests the selection of several files: which files belong to a model, and the title of the model.

import assert from 'node:assert/strict';
import test from 'node:test';
import { filesOfOneModel, titleOf } from '../../../../web/store/opening/fileSelection.ts';

const files = (...paths) => paths.map((path) => ({ path, file: new Blob([]) }));
const pathsOf = (list) => list.map(({ path }) => path);

test('of several models in a folder, the files of the topmost one are chosen', () => {
  const own = ['model/config.json', 'model/model.safetensors'];
  const chosen = (...more) => pathsOf(filesOfOneModel(files(...more, ...own)));
  assert.deepEqual(chosen('model/checkpoint-5/config.json', 'model/checkpoint-5/pytorch_model.bin'), own);
  assert.deepEqual(chosen('other/deep/config.json', 'other/deep/model.gguf'), own);
  const settings = ['model/1_Pooling/config.json', 'model/modules.json'];
  assert.deepEqual(chosen(...settings), [...settings, ...own], 'a folder without weights has settings of the model');
});

test('the title is the name of the folder, also if a file in a folder inside is the first', () => {
  assert.equal(titleOf(files('minilm/1_Pooling/config.json', 'minilm/config.json')), 'minilm');
  assert.equal(titleOf(files('weights.npy')), 'weights.npy');
});
