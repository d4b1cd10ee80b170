// Tests the input of a model from one or two texts: ids, the token that predicts, names of tokens, and limits.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readRun } from '../../../../web/worker/run/modelInput.ts';

const [START, END, MASK] = [0, 1, 2];
const NAMES = ['<s>', '</s>', '<mask>'];
/** Returns a tokenizer whose tokens are the letters of a text, with ids from 3 on. The tokens may end with END. */
const tokenizer = (end) => ({
  encode(text) {
    const letters = [...text.matchAll(/<mask>|./gs)];
    const offsets = letters.map(({ 0: letter, index }) => [index, index + letter.length]);
    const ids = letters.map(([letter]) => (letter === '<mask>' ? MASK : letter.charCodeAt(0) - 94));
    if (!end) return { ids, offsets };
    const at = text.length;
    return { ids: [...ids, END], offsets: [...offsets, [at, at]], tokens: [...letters.map(([l]) => l), '</s>'] };
  },
  tokenOf: (id) => NAMES[id],
  idOf: (name) => NAMES.indexOf(name),
});
const sourceOf = ({ about = {}, end = false, config = {} } = {}) => ({
  about: { reads: 'text', guess: 'next', mask: null, context: 4, words: true, ...about },
  model: {
    options: { vocab: 29, tokenTypes: 0 },
    config: { decoder_start_token_id: START, eos_token_id: END, ...config },
  },
  tokenizer: tokenizer(end),
});
const idsOf = ({ data, shape }) => {
  assert.deepEqual(shape, [1, data.length]);
  return [...data];
};
const namesOf = (pieces) => pieces.map(({ name }) => name).join(' ');

test('a text predicts at its last token, with a mask at its first mask, without one nowhere', () => {
  const { ids, input, place, cut, pieces } = readRun(sourceOf(), { text: 'abc' });
  assert.deepEqual([ids, idsOf(input.ids), place, cut, namesOf(pieces)], [[3, 4, 5], [3, 4, 5], 2, false, 'a b c']);
  const gaps = sourceOf({ about: { guess: 'masked', mask: '<mask>' } });
  assert.equal(readRun(gaps, { text: 'a<mask>b' }).place, 1);
  assert.equal(readRun(gaps, { text: 'ab' }).place, null);
  assert.equal(readRun(sourceOf(), { text: '' }).place, null);
});

test('a classifier predicts at the token that it pools', () => {
  const classifier = (pool) => {
    const source = sourceOf({ about: { guess: 'classes' } });
    return { ...source, model: { ...source.model, options: { ...source.model.options, pool } } };
  };
  const placeOf = (pool, text) => readRun(classifier(pool), { text }).place;
  assert.deepEqual([placeOf('first', 'abc'), placeOf('last', 'abc'), placeOf('first', '')], [0, 2, null]);
});

test('tokens after the context are cut, and ids beyond the vocabulary are refused', () => {
  const { ids, cut } = readRun(sourceOf(), { text: 'abcde' });
  assert.deepEqual([ids, cut], [[3, 4, 5, 6], true]);
  assert.equal(readRun(sourceOf(), { text: 'abcd' }).cut, false);
  assert.equal(readRun(sourceOf(), { text: 'z' }).ids[0], 28);
  assert.throws(() => readRun(sourceOf(), { text: 'a{' }), { code: 'noToken' });
});

test('of two texts the second is continued: after the start token, without its end token', () => {
  const run = { text: 'ab', second: 'cde' };
  for (const end of [false, true]) {
    const source = sourceOf({ about: { reads: 'pair', context: 6 }, end });
    const first = end ? [3, 4, END] : [3, 4];
    for (const [part, ids, names] of [
      ['decoder', [START, 5, 6, 7], '<s> c d e'],
      ['cross', [START, 5, 6, 7], '<s> c d e'],
      ['encoder', first, end ? 'a b </s>' : 'a b'],
    ]) {
      const read = readRun(source, run, part);
      assert.deepEqual([read.ids, namesOf(read.pieces), read.place], [ids, names, 3], `${part} ${end}`);
      assert.deepEqual([idsOf(read.input.encoder.ids), idsOf(read.input.ids)], [first, [START, 5, 6, 7]]);
      assert.equal(read.keys && namesOf(read.keys), part === 'cross' ? (end ? 'a b </s>' : 'a b') : undefined);
    }
    assert.deepEqual(readRun(source, { text: 'ab' }).ids, [START], 'without a second text');
  }
  const padded = sourceOf({ about: { reads: 'pair' }, config: { decoder_start_token_id: undefined, pad_token_id: 2 } });
  assert.deepEqual(readRun(padded, run).ids[0], 2);
});
