import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { HeadlightError } from '../../../src/js/check/errors.ts';
import { openGgufTokenizer } from '../../../src/js/text/gguf/ggufTokenizer.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import {
  ggufMetadata,
  readCases,
  readConfigurations,
  readGgufTokenizers,
  readTokenizer,
} from '../../support/tokenizers.js';

const SEED = 41;
const text = fc
  .array(fc.constantFrom(..."aeTtGhL th.,\n1239éÜ今▁'-!".split(''), 'the', 'whale', ' re', '  ', "'S", '<s>'), {
    maxLength: 25,
  })
  .map((parts) => parts.join(''));
const key = (name) => `tokenizer.ggml.${name}`;
const withKeys = (metadata, more) => ({
  ...metadata,
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [key(name), value])),
});
const idsOf = (tokenizer, input) => tokenizer.encode(input).ids;
const gguf = Object.fromEntries(readGgufTokenizers().map((each) => [each.name, each]));
const configuration = (wanted) => readConfigurations().find(({ name }) => name === wanted);

for (const { name, metadata, cases } of readGgufTokenizers())
  test(`${name}: ids, tokens and text are llama.cpp's`, () => {
    const tokenizer = openGgufTokenizer(metadata);
    const plain = openGgufTokenizer(withKeys(metadata, { add_bos_token: false, add_eos_token: false }));
    for (const { text: input, ids, plain: plainIds, tokens, decoded } of cases) {
      const encoded = tokenizer.encode(input);
      assert.deepEqual([encoded.ids, encoded.tokens], [ids, tokens], input);
      assert.deepEqual(idsOf(plain, input), plainIds, input);
      if (decoded !== null) assert.equal(tokenizer.decode(ids), decoded);
    }
  });

/**
 * Names of pre-tokenizers in GGUF files, and names of tokenizer.json configurations that split texts in the same way.
 */
const SAME = {
  'gpt-2': 'gpt2',
  'llama-bpe': 'llama3',
  qwen2: 'qwen2',
  'gpt-4o': 'gpt4o',
  bloom: 'bloom',
  'deepseek-v3': 'deepseek',
  smollm: 'digits',
};

for (const [pre, name] of Object.entries(SAME))
  test(`pre-tokenizer ${pre}: ids and text are those of the tokenizer.json (seed ${SEED})`, () => {
    const { file, cases } = configuration(name);
    const plain = { ...file, post_processor: null, normalizer: null };
    const [expected, tokenizer] = [
      openTokenizer(plain),
      openGgufTokenizer(ggufMetadata(file, { pre, add_bos_token: false })),
    ];
    const same = (input) => {
      const encoded = expected.encode(input);
      const found = tokenizer.encode(input);
      assert.deepEqual([found.ids, found.tokens, found.offsets], [encoded.ids, encoded.tokens, encoded.offsets], input);
      assert.equal(tokenizer.decode(found.ids), expected.decode(encoded.ids));
    };
    for (const each of cases) same(each.text);
    fc.assert(fc.property(text, same), { seed: SEED, numRuns: 200 });
  });

test(`bert: ids and text are those of the tokenizer.json (seed ${SEED})`, () => {
  const file = readTokenizer('wordpiece');
  const ids = { cls_token_id: 2, seperator_token_id: 3, mask_token_id: 4 };
  const [expected, tokenizer] = [openTokenizer(file), openGgufTokenizer(ggufMetadata(file, ids))];
  const same = (...input) => {
    const encoded = expected.encode(...input);
    const found = tokenizer.encode(...input);
    assert.deepEqual([found.ids, found.typeIds], [encoded.ids, encoded.typeIds], input[0]);
    assert.deepEqual(found.offsets, encoded.offsets, input[0]);
    assert.equal(tokenizer.decode(found.ids), expected.decode(encoded.ids));
  };
  for (const { text: input, pair } of readCases('wordpiece')) same(input, pair);
  // In GGUF, a ▁ in the text would be read as the beginning of a word, so it is removed.
  const withoutMarks = text.map((input) => input.replaceAll('▁', ''));
  fc.assert(
    fc.property(withoutMarks, (input) => same(input)),
    { seed: SEED, numRuns: 200 },
  );
  assert.deepEqual(tokenizer.encode('the whale').tokens.slice(0, 2), ['[CLS]', '▁the']);
  const cased = openGgufTokenizer(ggufMetadata(file, { ...ids, 'normalizer.lowercase': false }));
  assert.notDeepEqual(idsOf(cased, 'THE'), idsOf(tokenizer, 'THE'));
});

test(`llama: ids are those of the tokenizer.json with the same merges (seed ${SEED})`, () => {
  const file = { ...readTokenizer('llama'), added_tokens: readTokenizer('llama').added_tokens.slice(0, 3) };
  // Each byte has a piece, so there are no unknown characters, which the reference would fuse.
  const [expected, tokenizer] = [openTokenizer(file), openGgufTokenizer(ggufMetadata(file, { unknown_token_id: 0 }))];
  const same = (...input) => {
    assert.deepEqual(idsOf(tokenizer, ...input), idsOf(expected, ...input), input[0]);
    assert.equal(tokenizer.decode(idsOf(tokenizer, ...input)), expected.decode(idsOf(expected, ...input)));
  };
  fc.assert(
    fc.property(text, (input) => same(input)),
    { seed: SEED, numRuns: 300 },
  );
  assert.deepEqual(tokenizer.encode('a', 'b').ids, expected.encode('a', 'b').ids);
});

test(`t5: ids are those of the tokenizer.json (seed ${SEED})`, () => {
  const file = { ...readTokenizer('unigram'), normalizer: null };
  file.pre_tokenizer = {
    type: 'Sequence',
    pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', prepend_scheme: 'always' }],
  };
  const keys = { eos_token_id: 2, remove_extra_whitespaces: true };
  const [expected, tokenizer] = [openTokenizer(file), openGgufTokenizer(ggufMetadata(file, keys))];
  fc.assert(
    fc.property(text, (input) => {
      assert.deepEqual(idsOf(tokenizer, input), idsOf(expected, input), input);
      assert.equal(tokenizer.decode(idsOf(tokenizer, input)), expected.decode(idsOf(expected, input)));
    }),
    { seed: SEED, numRuns: 300 },
  );
  const kept = openGgufTokenizer(ggufMetadata(file, { ...keys, remove_extra_whitespaces: false }));
  assert.equal(kept.decode(idsOf(kept, 'a  b')), 'a  b');
  // The metadata entry has the bytes of the normalizer of SentencePiece, which the tokenizer.json has in base64.
  const steps = configuration('precompiled').file.normalizer.normalizers;
  const { precompiled_charsmap: map } = steps.find(({ type }) => type === 'Precompiled');
  const normalizing = openTokenizer({ ...file, normalizer: { type: 'Precompiled', precompiled_charsmap: map } });
  const same = openGgufTokenizer(
    ggufMetadata(file, { ...keys, precompiled_charsmap: [...Buffer.from(map, 'base64')] }),
  );
  for (const input of ['ﬁx ２ Ａ', 'plain']) assert.deepEqual(idsOf(same, input), idsOf(normalizing, input), input);
});

test('llama: equal scores are merged from the left, and pieces of unknown characters are found', () => {
  const open = (tokens, scores, more = {}) =>
    openGgufTokenizer(withKeys({}, { model: 'llama', tokens, scores, add_bos_token: false, ...more }));
  const tokens = ['<unk>', '▁', 'a', 'aa', 'xy', 'b', 'a▁b'];
  const tokenizer = open(tokens, [0, 0, 0, -1, -2, 0, -1], { add_space_prefix: false });
  assert.deepEqual(tokenizer.encode('aaa').tokens, ['aa', 'a']);
  assert.deepEqual(tokenizer.encode('xyx').tokens, ['xy', '<unk>']);
  // A piece may continue after the end of a word.
  assert.deepEqual(tokenizer.encode('a b').tokens, ['a', '▁', 'b']);
  const joined = open([...tokens, 'a▁'], [0, 0, 0, -1, -2, 0, -1, -3], { add_space_prefix: false });
  assert.deepEqual(joined.encode('a b').tokens, ['a▁b']);
  assert.equal(tokenizer.decode(tokenizer.encode(' a').ids), ' a');
});

test('begin and end are as the file asks, also for a pair', () => {
  const { metadata } = gguf.llama;
  const open = (more) => openGgufTokenizer(withKeys(metadata, more));
  assert.deepEqual(open({ add_eos_token: true }).encode('x').ids, [1, 387, 123, 2]);
  assert.deepEqual(open({}).encode('x', 'x').ids, [1, 387, 123, 1, 387, 123]);
  assert.deepEqual(open({ add_space_prefix: false }).encode('x').ids, [1, 123]);
  const bpe = gguf.gpt2.metadata;
  const roberta = withKeys(bpe, { pre: 'roberta-bpe', add_bos_token: true, add_eos_token: true });
  assert.deepEqual(openGgufTokenizer(roberta).encode('x', 'x').ids, [328, 87, 328, 328, 87, 328]);
  assert.deepEqual(openGgufTokenizer(withKeys(bpe, { pre: 'llama-bpe' })).encode('x').ids, [328, 87]);
});

test('tokens without types, and without a text, are accepted', () => {
  const { metadata } = gguf.gpt2;
  const tokens = [...metadata[key('tokens')], '', ''];
  const tokenizer = openGgufTokenizer(withKeys(metadata, { tokens, token_type: undefined }));
  assert.deepEqual(tokenizer.encode('x<|endoftext|>').ids, [87, 328]);
  assert.equal(tokenizer.decode([87, 328, 329]), 'x');
  assert.equal(tokenizer.vocabSize, 331);
});

test('the mask token, and the special tokens of Phi-3, include spaces', () => {
  const { metadata } = gguf.gpt2;
  const tokens = [...metadata[key('tokens')], '<mask>'];
  const token_type = [...metadata[key('token_type')], 3];
  const masked = openGgufTokenizer(withKeys(metadata, { tokens, token_type, mask_token_id: 329 }));
  assert.deepEqual(masked.encode('x <mask> x').ids, [87, 329, 220, 87]);
  const phi = openGgufTokenizer({ ...withKeys(metadata, { tokens, token_type }), 'general.name': 'Phi-3 mini' });
  assert.deepEqual(phi.encode('x <mask> x<|endoftext|> x').ids, [87, 220, 329, 87, 328, 220, 87]);
});

test('a file without a tokenizer gives none', () => {
  for (const model of [undefined, 'none', 'no_vocab'])
    assert.equal(openGgufTokenizer({ 'tokenizer.ggml.model': model }), undefined);
});

const refuses = (metadata, parameter, message) =>
  assert.throws(
    () => openGgufTokenizer(metadata),
    (error) => {
      assert.ok(error instanceof HeadlightError, error.stack);
      assert.equal(error.code, 'FORMAT');
      assert.equal(error.parameter, parameter);
      assert.match(error.message, message);
      return true;
    },
  );

test('metadata that are not supported, or damaged, are refused by name', () => {
  const { metadata } = gguf.gpt2;
  const wrong = (more, name, message, base = metadata) => refuses(withKeys(base, more), key(name), message);
  wrong({ model: 'rwkv' }, 'model', /tokenizer\.ggml\.model is 'rwkv', expected 'llama' or 'gpt2' or 'bert' or 't5'/);
  wrong({ pre: 'moby' }, 'pre', /tokenizer\.ggml\.pre is 'moby', expected a pre-tokenizer that is supported: default/);
  wrong({ tokens: undefined }, 'tokens', /tokenizer\.ggml\.tokens is missing, expected a list of tokens/);
  wrong({ tokens: 'a' }, 'tokens', /expected a list/);
  wrong({ tokens: ['a', 5] }, 'tokens[1]', /tokens\[1\] is 5, expected pieces of at most 1024 characters/);
  wrong({ tokens: ['a', 'a'] }, 'tokens[1]', /expected a token that is in the list only once/);
  wrong({ tokens: ['a'.repeat(1025)] }, 'tokens[0]', /at most 1024 characters/);
  wrong({ tokens: new Array(2 ** 20 + 1).fill('a') }, 'tokens', /at most 1048576 items/);
  wrong({ token_type: [1] }, 'token_type', /expected 329 numbers, one for each token/);
  wrong({ token_type: new Array(329).fill('a') }, 'token_type[0]', /expected an integer/);
  wrong({ merges: undefined }, 'merges', /tokenizer\.ggml\.merges is missing/);
  wrong({ merges: ['x whale'] }, 'merges[0]', /merges\[0\] is 'x whale', expected two pieces of the vocabulary/);
  wrong({ eos_token_id: 329 }, 'eos_token_id', /is 329, expected an integer from 0 to 328/);
  wrong({ bos_token_id: undefined, add_bos_token: true }, 'bos_token_id', /is missing, expected the id of a token/);
  wrong({ add_bos_token: 1 }, 'add_bos_token', /expected true or false/);
  const llama = gguf.llama.metadata;
  wrong({ scores: undefined }, 'scores', /scores is missing/, llama);
  wrong({ scores: new Float32Array(388).fill(NaN) }, 'scores[0]', /is NaN, expected a finite number/, llama);
  const t5 = ggufMetadata(readTokenizer('unigram'), { precompiled_charsmap: [1, 2, 900] });
  refuses(t5, key('precompiled_charsmap[2]'), /is 900, expected a byte/);
  refuses(
    withKeys(t5, { precompiled_charsmap: [1, 2, 3] }),
    key('precompiled_charsmap'),
    /expected an array and texts/,
  );
  refuses(null, 'the file', /expected an object/);
});

test('a long text of merges at every position takes linear time', () => {
  const tokens = ['<unk>', '▁', ...Array.from({ length: 1000 }, (_, i) => 'a'.repeat(i + 1))];
  const metadata = withKeys({}, { model: 'llama', tokens, scores: tokens.map((_, i) => -i), add_bos_token: false });
  const tokenizer = openGgufTokenizer(metadata);
  const before = process.cpuUsage().user;
  assert.ok(tokenizer.encode('a'.repeat(100_000)).ids.length >= 100);
  assert.ok(process.cpuUsage().user - before < 3e6);
});
