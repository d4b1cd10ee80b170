// Tests small files that could require much time or memory. Each must be refused or take linear time.

import assert from 'node:assert/strict';
import test from 'node:test';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';

const BPE = { type: 'BPE', vocab: { a: 0, X: 1 }, merges: [] };
const replace = (pattern, content) => ({ type: 'Replace', pattern, content });
const twice = replace({ String: 'a' }, 'aa');
const normalizing = (...normalizers) => openTokenizer({ model: BPE, normalizer: { type: 'Sequence', normalizers } });
const decoding = (...decoders) => openTokenizer({ model: BPE, decoder: { type: 'Sequence', decoders } });
const TOO_LONG = { code: 'FORMAT', message: /the tokenizer makes the text more than 8 times longer/ };

test('a normalizer may make a text at most eight times longer', () => {
  const times = (count) => normalizing(...new Array(count).fill(twice));
  assert.equal(times(13).encode('a').ids.length, 2 ** 13);
  assert.throws(() => times(31).encode('a'), TOO_LONG);
  assert.throws(() => normalizing(replace({ Regex: '' }, 'x'.repeat(1e6))).encode('a'.repeat(2000)), TOO_LONG);
  // Each Korean syllable becomes nine characters, which is allowed.
  const korean = openTokenizer({
    model: { ...BPE, vocab: { á: 0 } },
    normalizer: { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'ByteLevel' }] },
  });
  assert.equal(korean.encode('각'.repeat(20_000)).ids.length, 60_000);
});

test('a pre-tokenizer may make a text at most eight times longer', () => {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  const file = (count) => ({
    model: BPE,
    pre_tokenizer: { type: 'Sequence', pretokenizers: new Array(count).fill(bytes) },
  });
  assert.throws(() => openTokenizer(file(11)).encode('é'.repeat(100)), TOO_LONG);
  assert.throws(() => openTokenizer(file(12)), /expected at most 12 steps of the kind pre-tokenizer in the file/);
});

test('a decoder may make a text at most eight times longer', () => {
  const ids = new Array(3000).fill(0);
  assert.throws(() => decoding(...new Array(15).fill(twice)).decode([0]), TOO_LONG);
  assert.throws(() => decoding(...new Array(15).fill({ type: 'BPEDecoder', suffix: '' })).decode([0, 0]), TOO_LONG);
  assert.throws(() => decoding(replace({ Regex: '' }, 'x'.repeat(1e6))).decode(ids), TOO_LONG);
  const alone = openTokenizer({ model: BPE, decoder: replace({ Regex: '' }, 'x'.repeat(1e6)) });
  assert.throws(() => alone.decode(ids), TOO_LONG);
  assert.equal(decoding(twice).decode(ids).length, 6000);
});

test('a file may have at most 32 normalizers, 12 pre-tokenizers and 16 decoders', () => {
  normalizing(...new Array(31).fill({ type: 'NFC' }));
  assert.throws(() => normalizing(...new Array(32).fill({ type: 'NFC' })), /at most 32 steps of the kind/);
  assert.throws(() => decoding(...new Array(16).fill({ type: 'Fuse' })), /at most 16 steps of the kind/);
});

test('a template may add at most 1,024 tokens and contain a text at most four times', () => {
  const special = { SpecialToken: { id: 'X', type_id: 0 } };
  const sequence = { Sequence: { id: 'A', type_id: 0 } };
  const open = (...single) =>
    openTokenizer({
      model: BPE,
      post_processor: {
        type: 'TemplateProcessing',
        single,
        pair: [],
        special_tokens: { X: { id: 'X', ids: [1], tokens: ['X'] } },
      },
    });
  const many = (count, piece) => new Array(count).fill(piece);
  assert.equal(open(...many(1000, special), sequence).encode('a').ids.length, 1001);
  assert.throws(() => open(...many(2000, special)), { code: 'FORMAT', parameter: 'post_processor.single' });
  assert.throws(() => open(...many(5, sequence)), /at most 4 sequences/);
});

test('pieces may have at most 1,024 characters', () => {
  const long = 'a'.repeat(1025);
  const unigram = (piece) =>
    openTokenizer({
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: [
          ['a', -1],
          [piece, -2],
        ],
      },
    });
  const wordPiece = (piece) =>
    openTokenizer({ model: { type: 'WordPiece', unk_token: 'a', vocab: { a: 0, [piece]: 1 } } });
  for (const open of [unigram, wordPiece]) {
    open(long.slice(1));
    assert.throws(() => open(long), { code: 'FORMAT', message: /expected pieces of at most 1024 characters/ });
  }
});

test('a long added token is found in linear time', () => {
  const content = `${'a'.repeat(1022)}b`;
  const letters = { type: 'Split', pattern: { Regex: 'a+' }, behavior: 'Removed' };
  const added_tokens = [{ id: 2, content, special: true }];
  const tokenizer = openTokenizer({ model: BPE, pre_tokenizer: letters, added_tokens });
  const text = 'a'.repeat(2 ** 21);
  assert.deepEqual(tokenizer.encode(text).ids, []);
  assert.deepEqual(tokenizer.encode(`${text}b`).offsets, [[2 ** 21 - 1022, 2 ** 21 + 1]]);
});

test('the first match of added tokens is found, and the longest of several at the same place', () => {
  const contents = ['ab', 'abcd', 'bcde', 'c', 'aab', 'dd', 'eabx'];
  const added_tokens = contents.map((content, i) => ({ id: 10 + i, content, special: true }));
  const tokenizer = openTokenizer({ model: { ...BPE, vocab: { a: 0, b: 1, c: 2, d: 3, e: 4, x: 5 } }, added_tokens });
  const found = (text) => tokenizer.encode(text).tokens;
  assert.deepEqual(found('abcde'), ['abcd', 'e']);
  assert.deepEqual(found('abx'), ['ab', 'x']);
  assert.deepEqual(found('xbcdea'), ['x', 'bcde', 'a']);
  assert.deepEqual(found('aaabcc'), ['a', 'aab', 'c', 'c']);
  assert.deepEqual(found('abcabcddd'), ['ab', 'c', 'abcd', 'dd']);
});

test('decode refuses arguments that are not a list of integers', () => {
  const tokenizer = openTokenizer({ model: BPE });
  for (const ids of [null, undefined, 5, '12', {}, { length: 2 ** 40 }, { length: -1 }, [null], [1.5], [-1]])
    assert.throws(() => tokenizer.decode(ids), { code: 'ARGUMENT', parameter: 'ids' });
  for (const options of [null, 5, 'x']) assert.throws(() => tokenizer.decode([1], options), { code: 'ARGUMENT' });
  assert.throws(() => tokenizer.decode([1], { skipSpecial: 1 }), { code: 'ARGUMENT', parameter: 'skipSpecial' });
  assert.equal(tokenizer.decode({ length: 2, 0: 0, 1: 1 }), 'a X');
});

test('errors quote only a short part of a long name', () => {
  const name = 'x'.repeat(100_000);
  const fails = (file) =>
    assert.throws(
      () => openTokenizer(file),
      (error) => error.code === 'FORMAT' && error.message.length < 600 && error.parameter.length < 200,
    );
  fails({ model: { ...BPE, vocab: { [name]: -1 } } });
  fails({ model: { ...BPE, type: name } });
  fails({ model: BPE, normalizer: { type: 'Replace', pattern: { Regex: `${name}(` }, content: '' } });
  fails({
    model: BPE,
    normalizer: { type: 'Replace', pattern: { Regex: `\\p{${name.slice(0, 9000)}}` }, content: '' },
  });
  fails({
    model: BPE,
    post_processor: { type: 'TemplateProcessing', single: [], pair: [], special_tokens: { [name]: 5 } },
  });
});

test('added tokens of spaces that include the spaces around them take linear time', () => {
  const added = (more) => openTokenizer({ model: BPE, added_tokens: [{ id: 2, content: ' ', rstrip: true, ...more }] });
  const count = 50_000;
  const spaces = ' '.repeat(count);
  // Each space is a token, which includes those after it, unless the token before has included it.
  assert.equal(added({}).encode(spaces).ids.length, count);
  assert.deepEqual(added({}).encode('a   a').offsets, [
    [0, 1],
    [1, 4],
    [2, 4],
    [3, 4],
    [4, 5],
  ]);
  assert.equal(added({ lstrip: true }).encode(spaces).ids.length, 1);
  assert.equal(added({ lstrip: true }).encode(`a${spaces}a${spaces}`).ids.length, 4);
});
