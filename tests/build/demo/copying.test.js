// Checks that the model in the demo files continues a repeated passage by copying the words that followed the first
// occurrence of the passage.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { load } from 'headlight-attention';
import { copiedFrom, copies, REPEATED, splitWords } from '../../../src/build/demo/copying.ts';
import { openWhale } from '../../../src/build/demo/openWhale.ts';

let hl, model;
before(async () => {
  hl = await load();
  model = openWhale(hl);
});
after(() => hl.dispose());

test('after a repeated beginning the demo model copies four whole words or signs', () => {
  for (const text of REPEATED) {
    const { guesses, copied } = copies(hl, model, [...model.tokenizer.encode(text).ids], 4);
    const [first, ...others] = guesses.map(({ probability }) => probability);
    assert.equal(copied, 4, text);
    assert.ok(first > 0.8 && others.every((p) => p > 0.6), `${text}: ${[first, ...others]}`);
    assert.deepEqual(splitWords(model.tokenizer, text + guesses.map((guess) => guess.text).join('')), []);
  }
});

test('the copied token follows the earlier occurrence of the longest end of the text', () => {
  assert.equal(copiedFrom([1, 2, 3, 4, 2, 5, 1, 2]), 2);
  assert.equal(copiedFrom([1, 2, 3, 1, 2, 4, 1, 2]), 5);
  assert.equal(copiedFrom([1, 2, 3]), -1);
  assert.equal(copiedFrom([7, 7, 7]), 2);
});

test('words in pieces are found', () => {
  assert.deepEqual(splitWords(model.tokenizer, 'The old whale, the sea.'), []);
  assert.deepEqual(splitWords(model.tokenizer, 'In the grapple'), ['ap', 'ple']);
});
