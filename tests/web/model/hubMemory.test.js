// Tests which form of the weights is proposed for a model, and the question before a large download.

import assert from 'node:assert/strict';
import test from 'node:test';
import { matching, RECOMMENDED } from '../../../web/features/hub/recommended.ts';
import { choiceOf, fitOf, isLarge, MAX_DOWNLOAD, neededBy } from '../../../web/model/hubMemory.ts';
import { readAddress, writeAddress } from '../../../web/store/address.ts';
import { addressOf } from '../../../web/worker/sources/hubModels.ts';

const GB = 2 ** 30;
const formsOf = (parameters) => [
  { weights: 'float32', bytes: 4 * parameters },
  { weights: 'stored', bytes: 2 * parameters },
  { weights: 'int8', bytes: 1.16 * parameters },
];
const choice = (parameters, { room = 4 * GB, machine = 8 * GB } = {}) =>
  choiceOf({ forms: formsOf(parameters), room }, machine)?.weights;

test('a small model is proposed exactly, a larger one in the form that takes less memory', () => {
  assert.equal(choice(124e6), 'float32');
  assert.equal(choice(400e6), 'stored');
  assert.equal(choice(700e6), 'int8');
  // A model of more than a gigabyte in each form is proposed in the smallest form.
  assert.equal(choice(1.5e9), 'int8');
  assert.equal(choice(8e9), undefined);
  // The browser does not report the memory of the machine.
  assert.equal(choice(124e6, { machine: null }), 'float32');
  assert.equal(choice(124e6, { machine: 1 * GB }), 'stored');
  assert.equal(choice(124e6, { room: 0.3 * GB }), 'int8');
});

test('a form fits if its weights and a run fit into what the page and the machine have', () => {
  const form = { bytes: 1e9 };
  assert.ok(neededBy(form) > 1e9);
  assert.equal(fitOf(form, 1e9, null), 'no');
  assert.equal(fitOf(form, 4 * GB, null), 'fits');
  assert.equal(fitOf(form, 4 * GB, 2 * GB), 'tight');
  assert.equal(fitOf(form, 4 * GB, 8 * GB), 'fits');
});

test('more than 50 MB are not downloaded without a question, nor more than 1 GB put into memory', () => {
  assert.equal(MAX_DOWNLOAD, 50e6);
  assert.ok(!isLarge({ download: 50e6 }, { bytes: 50e6 }));
  assert.ok(isLarge({ download: 50e6 + 1 }, { bytes: 50e6 }));
  assert.ok(isLarge({ download: 0 }, { bytes: 1.1e9 }));
  assert.ok(!isLarge({ download: 0 }, { bytes: 0.6e9 }));
});

test('typing narrows the list of models; without a text it is short', () => {
  assert.ok(matching(RECOMMENDED, '').length < RECOMMENDED.length);
  assert.deepEqual(
    matching(RECOMMENDED, ' QWEN ').map(({ id }) => id),
    ['Qwen/Qwen3-0.6B'],
  );
  assert.deepEqual(matching(RECOMMENDED, 'nothing like it'), []);
});

test('names and links as people type and copy them are addresses', () => {
  assert.equal(addressOf(' gpt2 '), 'hf://gpt2');
  assert.equal(addressOf('hf://Qwen/Qwen3-0.6B@main'), 'hf://Qwen/Qwen3-0.6B@main');
  assert.equal(addressOf('huggingface.co/gpt2/tree/main'), 'https://huggingface.co/gpt2/tree/main');
  assert.equal(addressOf('https://huggingface.co/gpt2'), 'https://huggingface.co/gpt2');
});

test('a link has the name of a model, its revision and a file of it, readably', () => {
  const sha = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3';
  for (const model of [`gpt2@${sha}`, `Qwen/Qwen3-0.6B@${sha}`, `a/b@${sha}/gguf/b.Q4_K_M.gguf`]) {
    const state = readAddress(`model=${encodeURIComponent(model)}&layer=5&head=1`);
    assert.deepEqual([state.model, state.layer, state.head], [model, 5, 1]);
    assert.equal(writeAddress(state), `model=${model}&layer=5&head=1`);
    assert.equal(readAddress(writeAddress(state)).model, model);
  }
  for (const wrong of ['a/b', 'a b@main', '<x>@main', `${'a'.repeat(300)}@main`])
    assert.equal(readAddress(new URLSearchParams({ model: wrong }).toString()).model, 'whale', wrong);
});
