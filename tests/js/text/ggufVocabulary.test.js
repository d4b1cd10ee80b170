// Writes tokenizers into the metadata of GGUF files, and opens them again.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { openGgufTokenizer } from '../../../src/js/text/gguf/ggufTokenizer.ts';
import { ggufVocabulary } from '../../../src/js/text/gguf/ggufVocabulary.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { readConfigurations, readTokenizer } from '../../support/tokenizers.js';

const SEED = 43;
const VOCAB = 500;
const text = fc
  .array(fc.constantFrom(..."aeTtGhL th.,\n1239éÜ今▁'-!".split(''), 'the', 'lamp', ' re', '  ', "'S", '<s>'), {
    maxLength: 25,
  })
  .map((parts) => parts.join(''));
const configuration = (wanted) => readConfigurations().find(({ name }) => name === wanted);
const write = (file, specials = {}) => ggufVocabulary(file, { vocab: VOCAB, eos: [], ...specials });
const metadataOf = (file, specials) =>
  Object.fromEntries(
    Object.entries(write(file, specials).keys).map(([key, { value }]) => [`tokenizer.ggml.${key}`, value]),
  );

/**
 * Returns a tokenizer.json with the merges of SentencePiece (all pairs that make a token). Its added tokens do not
 * remove the spaces around them from a text.
 */
function sentencePiece() {
  const { model, added_tokens: added, ...file } = readTokenizer('llama');
  const tokens = [...new Set(model.merges.map((pair) => (Array.isArray(pair) ? pair : pair.split(' ')).join('')))];
  const has = (piece) => Object.hasOwn(model.vocab, piece);
  const merges = tokens.flatMap((token) =>
    Array.from({ length: token.length - 1 }, (_, i) => [token.slice(0, i + 1), token.slice(i + 1)]).filter((pair) =>
      pair.every(has),
    ),
  );
  const plain = added.map((token) => ({ ...token, lstrip: false, rstrip: false, single_word: false }));
  return { ...file, added_tokens: plain, model: { ...model, merges } };
}

/** Checks that a tokenizer.json and GGUF metadata give the same ids and texts, for random texts and `more`. */
function same(file, metadata, more = [], accepts = () => true) {
  const [expected, tokenizer] = [openTokenizer(JSON.stringify(file)), openGgufTokenizer(metadata)];
  const check = (input) => {
    const [a, b] = [expected.encode(input), tokenizer.encode(input)];
    assert.deepEqual(b.ids, a.ids, input);
    assert.equal(tokenizer.decode(b.ids), expected.decode(a.ids));
  };
  for (const input of more) check(input);
  fc.assert(fc.property(text.filter(accepts), check), { seed: SEED, numRuns: 200 });
}

/** Names of tokenizer.json configurations, and names of the GGUF pre-tokenizers that split texts in the same way. */
const NAMED = {
  gpt2: 'gpt-2',
  llama3: 'llama-bpe',
  qwen2: 'qwen2',
  gpt4o: 'gpt-4o',
  bloom: 'bloom',
  deepseek: 'deepseek-v3',
  digits: 'starcoder',
};
for (const [name, pre] of Object.entries(NAMED))
  test(`${name} is written as ${pre}, and gives the same ids (seed ${SEED})`, () => {
    const { file, cases } = configuration(name);
    const metadata = metadataOf(file);
    assert.equal(metadata['tokenizer.ggml.model'], 'gpt2');
    assert.equal(metadata['tokenizer.ggml.pre'], pre);
    assert.equal(metadata['tokenizer.ggml.tokens'].length, VOCAB);
    same(
      file,
      metadata,
      cases.map((each) => each.text).filter((input) => input.normalize('NFC') === input),
    );
  });

test(`SentencePiece's BPE gives the same ids (seed ${SEED})`, () => {
  const file = sentencePiece();
  const metadata = metadataOf(file, { eos: [2], pad: 0 });
  const of = (key) => metadata[`tokenizer.ggml.${key}`];
  assert.deepEqual(
    [of('model'), of('add_space_prefix'), of('add_bos_token'), of('add_eos_token')],
    ['llama', true, true, false],
  );
  assert.deepEqual(
    [of('bos_token_id'), of('eos_token_id'), of('unknown_token_id'), of('padding_token_id')],
    [1, 2, 0, 0],
  );
  assert.deepEqual(
    ['<unk>', '<s>', '<0x0A>', 'e', 'name', '[PAD499]'].map((token) => of('token_type')[of('tokens').indexOf(token)]),
    [2, 3, 6, 1, 4, 5],
  );
  same(file, metadata, ['the lamp\n\n  is <|user|>name</s>', 'añ𝄞 ▁x']);
  const bare = { ...file, normalizer: file.normalizer.normalizers[1] };
  assert.equal(metadataOf(bare)['tokenizer.ggml.add_space_prefix'], false);
  const meta = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false };
  const other = { ...file, normalizer: null, pre_tokenizer: meta };
  same(other, metadataOf(other), ['the lamp'], (input) => !/^[ ▁]|<s>/.test(input));
});

test('added tokens need no merges: they are cut out of a text first', () => {
  const file = sentencePiece();
  const token = { ...file.added_tokens[0], id: 470, content: 'zq', special: false };
  const vocab = { ...file.model.vocab, zq: 470 };
  const added = { ...file, added_tokens: [...file.added_tokens, token], model: { ...file.model, vocab } };
  same(added, metadataOf(added), ['a zq', 'zqzzqq']);
  refuses({ ...file, model: { ...file.model, vocab } }, /model.merges is 'zq'/);
});

/** Adds tokens for runs of spaces to a tokenizer.json, with their merges in the given order. */
function withRuns(order) {
  const file = sentencePiece();
  const runs = [2, 3, 4].map((count) => '▁'.repeat(count));
  const vocab = { ...file.model.vocab };
  for (const run of runs) if (!(run in vocab)) vocab[run] = Object.keys(vocab).length + 10;
  const others = file.model.merges.filter((pair) => !/^▁+$/.test(pair.join('')));
  const merges = order.map(([a, b]) => ['▁'.repeat(a), '▁'.repeat(b)]);
  return { ...file, model: { ...file.model, vocab, merges: [...others, ...merges] } };
}

test('merges of runs of spaces may alternate: they have equal scores, and are compared', () => {
  const file = withRuns([
    [1, 1],
    [2, 2],
    [2, 1],
    [3, 1],
    [1, 2],
    [1, 3],
  ]);
  const { keys, probes } = write(file);
  const score = (count) => keys.scores.value[keys.tokens.value.indexOf('▁'.repeat(count))];
  assert.ok(score(2) > score(3));
  assert.equal(score(3), score(4));
  assert.ok(probes.includes(`a${' '.repeat(9)}b`));
  same(file, metadataOf(file), probes);
});

const refuses = (file, message, specials) =>
  assert.throws(
    () => write(file, specials),
    (error) => {
      assert.deepEqual([error.code, error.parameter], ['ARGUMENT', 'tokenizer'], error.stack);
      assert.match(error.message, message);
      return true;
    },
  );

test('tokenizers that GGUF cannot hold are refused by name', () => {
  const bpe = readTokenizer('bpe');
  const [piece] = [sentencePiece()];
  refuses(readTokenizer('unigram'), /model.type is 'Unigram', expected BPE; tokenizer: null leaves it out/);
  refuses(readTokenizer('wordpiece'), /model.type is 'WordPiece'/);
  refuses(readTokenizer('llama'), /added_tokens\[3\].rstrip is true/);
  refuses(bpe, /the id is 421, expected at most 420/, { vocab: 421 });
  refuses({ ...bpe, normalizer: { type: 'Lowercase' } }, /normalizer is 'Lowercase', expected none, or NFC/);
  const split = { type: 'Split', pattern: { Regex: 'x+' }, behavior: 'Isolated' };
  const bytes = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  refuses({ ...bpe, pre_tokenizer: { type: 'Sequence', pretokenizers: [split, bytes] } }, /pre_tokenizer is/);
  refuses({ ...bpe, pre_tokenizer: { type: 'ByteLevel' } }, /add_prefix_space is true/);
  refuses({ ...bpe, model: { ...bpe.model, end_of_word_suffix: '</w>' } }, /end_of_word_suffix is '<\/w>'/);
  refuses({ ...bpe, post_processor: { type: 'RobertaProcessing', sep: ['</s>', 2] } }, /post_processor is/);
  refuses({ ...piece, model: { ...piece.model, byte_fallback: false } }, /byte_fallback is false/);
  refuses({ ...piece, model: { ...piece.model, merges: piece.model.merges.slice(0, -1) } }, /model.merges is/);
  const moved = [...piece.model.merges.slice(1), piece.model.merges[0]];
  const many = piece.model.merges.filter(
    (pair, _, all) => all.filter((other) => other.join('') === pair.join('')).length > 1,
  );
  assert.ok(many.length > 0 && moved.length > 0);
  const [first] = many;
  const rest = piece.model.merges.filter((pair) => pair !== first);
  refuses(
    { ...piece, model: { ...piece.model, merges: [...rest, first] } },
    /the merges of a token one after the other/,
  );
  refuses({ ...piece, normalizer: { type: 'NFKC' } }, /normalizer is/);
});
