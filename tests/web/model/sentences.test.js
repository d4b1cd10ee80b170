// Tests the sentences for a picture as fields of the state.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldsOf, MAX_SENTENCES, sentencesOf } from '../../../web/model/sentences.ts';

test('sentences keep their order, whichever is chosen', () => {
  const sentences = ['a whale', 'a ship', 'a dog'];
  for (const chosen of [0, 1, 2]) {
    const fields = fieldsOf(sentences, chosen);
    assert.equal(fields.text, sentences[chosen]);
    assert.deepEqual(sentencesOf(fields), { sentences, chosen });
  }
});

test('empty sentences are left out, except the chosen one, and lines within a sentence are joined', () => {
  const fields = fieldsOf(['', ' ', 'two\nlines', ''], 3);
  assert.deepEqual(sentencesOf(fields), { sentences: ['two lines', ''], chosen: 1 });
  assert.deepEqual(sentencesOf({ text: 'alone' }), { sentences: ['alone'], chosen: 0 });
});

test('an address with too many sentences, or another place, is read as far as it makes sense', () => {
  const second = Array.from({ length: 20 }, (_, i) => `sentence ${i}`).join('\n');
  const { sentences, chosen } = sentencesOf({ text: 'chosen', second, entry: 99 });
  assert.equal(sentences.length, MAX_SENTENCES);
  assert.equal(sentences[chosen], 'chosen');
});
