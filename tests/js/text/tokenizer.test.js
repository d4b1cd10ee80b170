import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { HeadlightError } from '../../../src/js/check/errors.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { inTier } from '../../support/tier.js';
import { byteLevelFile, readCases, readConfigurations, readTokenizer } from '../../support/tokenizers.js';

const SEED = 15;
const KINDS = ['bpe', 'unigram', 'wordpiece'];
/** Random text of any characters, without lone surrogates. */
const anyText = fc.string({ unit: 'binary', maxLength: 60 });

const fails = (file, path, message) =>
  assert.throws(
    () => openTokenizer(file),
    (error) => {
      assert.ok(error instanceof HeadlightError, String(error));
      assert.equal(error.code, 'FORMAT');
      assert.equal(error.parameter, path);
      assert.match(error.message, message);
      return true;
    },
  );

for (const kind of KINDS)
  test(`${kind}: ids, tokens and text equal those of the reference library`, () => {
    const tokenizer = openTokenizer(readTokenizer(kind));
    for (const { text, pair, ids, type_ids, tokens, decoded } of readCases(kind)) {
      const encoded = tokenizer.encode(text, pair);
      assert.deepEqual([encoded.ids, encoded.typeIds, encoded.tokens], [ids, type_ids, tokens], text);
      assert.equal(tokenizer.decode(ids), decoded);
    }
  });

for (const { name, file, cases } of readConfigurations())
  test(`configuration ${name}: ids, tokens, offsets and text equal those of the reference library`, () => {
    const tokenizer = openTokenizer(file);
    for (const { text, pair, ids, type_ids, tokens, offsets, decoded } of cases) {
      const encoded = tokenizer.encode(text, pair);
      assert.deepEqual([encoded.ids, encoded.typeIds, encoded.tokens], [ids, type_ids, tokens], JSON.stringify(text));
      assert.equal(tokenizer.decode(ids), decoded);
      // An inserted character has an empty range, and a character composed of several has the range of all of them. The
      // reference library gives the range of the next character, and of the first or last one, instead.
      for (const [i, [begin, end]] of encoded.offsets.entries())
        assert.ok(
          begin === end || (begin <= offsets[i][0] && end >= offsets[i][1]),
          `${JSON.stringify(text)}, token ${i}: ${[begin, end]}, the library ${offsets[i]}`,
        );
    }
  });

test('the file may be bytes, text or JSON', () => {
  const file = readTokenizer('bpe');
  const text = JSON.stringify(file);
  const bytes = new TextEncoder().encode(text);
  const expected = openTokenizer(file).encode('the whale').ids;
  for (const source of [text, bytes, bytes.buffer, Buffer.from(bytes)])
    assert.deepEqual(openTokenizer(source).encode('the whale').ids, expected);
});

test('tokens are found by their ids and ids by their tokens, also added ones', () => {
  const tokenizer = openTokenizer(readTokenizer('bpe'));
  assert.equal(tokenizer.vocabSize, 422);
  assert.equal(tokenizer.idOf('<|endoftext|>'), 421);
  assert.equal(tokenizer.tokenOf(421), '<|endoftext|>');
  assert.equal(tokenizer.tokenOf(tokenizer.idOf('Ġthe')), 'Ġthe');
  assert.equal(tokenizer.idOf('no such token'), undefined);
  assert.equal(tokenizer.tokenOf(422), undefined);
});

test('special tokens are omitted on request, and ids without a token are ignored', () => {
  const tokenizer = openTokenizer(readTokenizer('bpe'));
  const { ids } = tokenizer.encode('the<|endoftext|>whale');
  assert.equal(tokenizer.decode(ids), 'thewhale');
  assert.equal(tokenizer.decode(ids, { skipSpecial: false }), 'the<|endoftext|>whale');
  assert.equal(tokenizer.decode([...ids, 5000]), 'thewhale');
  assert.equal(tokenizer.decode(Int32Array.from(ids)), 'thewhale');
  assert.throws(() => tokenizer.decode([1.5]), /decode: ids is \[1.5\], expected integers of at least 0/);
  assert.throws(() => tokenizer.encode(7), /encode: text is 7, expected a string/);
  assert.throws(() => tokenizer.encode('', null), /encode: pair is null, expected a string/);
});

test(`byte-level: decoding restores the text, and the offsets cover it (seed ${SEED})`, () => {
  const gpt2 = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };
  for (const pre_tokenizer of [null, gpt2]) {
    const file = { ...readTokenizer('bpe'), added_tokens: [], post_processor: null };
    file.pre_tokenizer = pre_tokenizer ?? { ...gpt2, use_regex: false };
    const tokenizer = openTokenizer(file);
    fc.assert(
      fc.property(anyText, (text) => {
        const { ids, offsets } = tokenizer.encode(text);
        assert.equal(tokenizer.decode(ids), text);
        let at = 0;
        for (const [begin, end] of offsets) {
          // A character of several bytes may be in several tokens, each with the range of the whole character.
          assert.ok(begin <= at && end >= at && end > begin, JSON.stringify({ text, offsets }));
          at = end;
        }
        assert.equal(at, text.length);
      }),
      { seed: SEED, numRuns: inTier(1000, 200) },
    );
  }
});

test(`offsets increase from left to right, in every configuration (seed ${SEED})`, () => {
  for (const { name, file } of readConfigurations()) {
    const tokenizer = openTokenizer({ ...file, post_processor: null });
    fc.assert(
      fc.property(anyText, (text) => {
        let last = 0;
        for (const [begin, end] of tokenizer.encode(text).offsets) {
          assert.ok(begin >= last && end >= begin && end <= text.length, `${name}: ${JSON.stringify(text)}`);
          last = begin;
        }
      }),
      { seed: SEED, numRuns: 60 },
    );
  }
});

test('a lone surrogate is encoded as U+FFFD', () => {
  const tokenizer = openTokenizer(byteLevelFile([], { pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false } }));
  const { ids, offsets } = tokenizer.encode('a\ud83db');
  assert.equal(tokenizer.decode(ids), 'a\ufffdb');
  assert.deepEqual(offsets, [
    [0, 1],
    [1, 2],
    [1, 2],
    [1, 2],
    [2, 3],
  ]);
});

test('trim_offsets removes the spaces of byte-level tokens from their offsets, and no letters', () => {
  const file = readTokenizer('bpe');
  const offsets = (text, options) => {
    const level = { type: 'ByteLevel', trim_offsets: true, ...options };
    return openTokenizer({ ...file, pre_tokenizer: level, post_processor: level }).encode(text).offsets;
  };
  assert.deepEqual(offsets('the in', { add_prefix_space: false }), [
    [0, 1],
    [1, 3],
    [4, 6],
  ]);
  assert.deepEqual(offsets('in<|endoftext|>in', { add_prefix_space: true }), [
    [0, 2],
    [2, 15],
    [15, 17],
  ]);
});

/** Opens a tokenizer of single bytes with these added tokens, { content, … }. */
const withAdded = (added, parts = {}) => {
  const added_tokens = added.map((token, i) => ({ id: 256 + i, special: false, normalized: false, ...token }));
  const pre_tokenizer = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  return openTokenizer(byteLevelFile([], { pre_tokenizer, added_tokens, ...parts }));
};

test('of the spaces between two added tokens, the first token includes its own, the second the remaining ones', () => {
  const tokenizer = withAdded([
    { content: '<a>', rstrip: true },
    { content: ' b', lstrip: true },
    { content: '  ', lstrip: true },
  ]);
  const found = (text) => {
    const { tokens, offsets } = tokenizer.encode(text);
    return tokens.map((token, i) => [token, ...offsets[i]]);
  };
  assert.deepEqual(found('<a>  b'), [
    ['<a>  ', 0, 5],
    ['b', 5, 6],
  ]);
  // An added token of spaces is omitted if the previous token already includes all of these spaces.
  assert.deepEqual(found('<a>  '), [['<a>  ', 0, 5]]);
  assert.deepEqual(found('c\t b'), [
    ['c', 0, 1],
    ['\t b', 1, 4],
  ]);
});

test('of added tokens with equal normalized forms the first is found, special ones before others', () => {
  const idOf = (...added) => {
    const tokenizer = withAdded(
      added.map((token) => ({ normalized: true, ...token })),
      { normalizer: { type: 'Lowercase' } },
    );
    return tokenizer.encode('[X]').ids;
  };
  assert.deepEqual(idOf({ content: '[X]' }, { content: '[x]' }), [256]);
  assert.deepEqual(idOf({ content: '[x]' }, { content: '[X]' }), [256]);
  assert.deepEqual(idOf({ content: '[x]' }, { content: '[X]', special: true }), [257]);
});

test('invalid tokenizer files are refused, and the error names the field', () => {
  const file = (change) => {
    const changed = readTokenizer('bpe');
    change(changed);
    return changed;
  };
  fails('{', undefined, /not the JSON of a tokenizer: expected a name at character 1/);
  fails(Uint8Array.of(0x22, 0xff, 0x22), undefined, /not UTF-8/);
  fails('[]', 'the file', /the file is \[\], expected an object/);
  fails('{}', 'model', /model is missing, expected an object/);
  fails(undefined, 'bytes', /bytes is undefined/);
  fails(
    file(({ model }) => (model.vocab.the = -1)),
    "model.vocab['the']",
    /is -1, expected an integer from 0/,
  );
  fails(
    file(({ model }) => (model.vocab = [])),
    'model.vocab',
    /expected an object/,
  );
  fails(
    file(({ model }) => (model.merges[3] = 'one')),
    'model.merges[3]',
    /is 'one', expected two pieces/,
  );
  fails(
    file(({ model }) => (model.merges[3] = ['h', 'zzz'])),
    'model.merges[3]',
    /expected two pieces of the vocabulary/,
  );
  fails(
    file(({ model }) => (model.unk_token = 'zzz')),
    'model.unk_token',
    /expected a piece of the vocabulary/,
  );
  fails(
    file(({ model }) => (model.dropout = 0.1)),
    'model.dropout',
    /is 0.1, expected no dropout/,
  );
  fails(
    file(({ added_tokens }) => (added_tokens[0].content = 5)),
    'added_tokens[0].content',
    /is 5, expected a string/,
  );
  fails(
    file(({ added_tokens }) => (added_tokens[0].content = 'x'.repeat(2000))),
    'added_tokens[0].content',
    /at most 1024/,
  );
  fails(
    file(({ pre_tokenizer }) => (pre_tokenizer.use_regex = 1)),
    'pre_tokenizer.use_regex',
    /is 1, expected true or false/,
  );
  fails(
    file((all) => (all.post_processor = { type: 'BertProcessing', cls: ['[CLS]', 2], sep: ['[SEP]'] })),
    'post_processor.sep',
    /expected a token and its id/,
  );
  fails(
    file((all) => {
      const special = { SpecialToken: { id: '[X]', type_id: 0 } };
      all.post_processor = { type: 'TemplateProcessing', single: [special], pair: [], special_tokens: {} };
    }),
    'post_processor.single[0].SpecialToken.id',
    /is '\[X\]', expected one of special_tokens/,
  );
});

test('unsupported types are refused by name', () => {
  const file = (parts) => ({ ...readTokenizer('bpe'), ...parts });
  const odd = { type: 'Odd' };
  fails(file({ model: odd }), 'model.type', /'Odd', expected a model that is supported: BPE, Unigram, WordPiece/);
  fails(file({ normalizer: odd }), 'normalizer.type', /a normalizer that is supported: BertNormalizer,/);
  fails(file({ pre_tokenizer: odd }), 'pre_tokenizer.type', /a pre-tokenizer that is supported/);
  fails(file({ post_processor: odd }), 'post_processor.type', /a post-processor that is supported/);
  fails(file({ decoder: odd }), 'decoder.type', /a decoder that is supported/);
  fails(
    file({ normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, odd] } }),
    'normalizer.normalizers[1].type',
    /Odd/,
  );
  fails(file({ normalizer: { type: 'constructor' } }), 'normalizer.type', /constructor/);
  const split = { type: 'Split', pattern: { Regex: '(a)\\1' }, behavior: 'Isolated', invert: false };
  fails(file({ pre_tokenizer: split }), 'pre_tokenizer.pattern.Regex', /'\\1' is not supported at character 3/);
});

test('a file that contains itself is refused', () => {
  const normalizer = { type: 'Sequence', normalizers: [] };
  normalizer.normalizers.push(normalizer);
  assert.throws(() => openTokenizer({ ...readTokenizer('bpe'), normalizer }), /nested deeper than 32 levels/);
});

test(`damaged files are refused by the name of a field, or read (seed ${SEED})`, () => {
  const junk = fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 40, '', 'x', '[', [], [[]], {}, { type: 'Sequence' });
  /** Returns the paths of the values in a file, but of at most 8 in each object, because a vocabulary has many. */
  const placesOf = (value, path = []) =>
    value === null || typeof value !== 'object'
      ? [path]
      : [
          path,
          ...Object.keys(value)
            .slice(0, 8)
            .flatMap((name) => placesOf(value[name], [...path, name])),
        ];
  for (const { file } of readConfigurations()) {
    const places = placesOf(file).filter((path) => path.length > 0);
    fc.assert(
      fc.property(fc.constantFrom(...places), junk, (path, value) => {
        const damaged = structuredClone(file);
        const owner = path.slice(0, -1).reduce((node, name) => node[name], damaged);
        owner[path.at(-1)] = value;
        try {
          const { ids, offsets, tokens, typeIds } = openTokenizer(damaged).encode(
            'Some text, 今天 and\nmore [SEP]',
            'x',
          );
          assert.ok(offsets.length === ids.length && tokens.length === ids.length && typeIds.length === ids.length);
        } catch (error) {
          assert.ok(error instanceof HeadlightError, `${path.join('.')} = ${JSON.stringify(value)}: ${error.stack}`);
          assert.ok(error.message.length < 1000);
        }
      }),
      { seed: SEED, numRuns: inTier(80, 20) },
    );
  }
});
