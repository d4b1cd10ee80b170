import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { inTier } from '../../support/tier.js';
import { byteLevelFile, readTokenizer } from '../../support/tokenizers.js';

const SEED = 41;

/** Applies BPE by its definition: merges the pair of lowest rank at its first position, again and again. */
function mergePlainly(word, merges) {
  const pieces = [...word];
  for (;;) {
    const rank = merges.findIndex(([a, b]) => pieces.some((piece, i) => piece === a && pieces[i + 1] === b));
    if (rank < 0) return pieces;
    const [a, b] = merges[rank];
    const at = pieces.findIndex((piece, i) => piece === a && pieces[i + 1] === b);
    pieces.splice(at, 2, a + b);
  }
}

test(`BPE gives the pieces of its definition (seed ${SEED})`, () => {
  const merges = ['a b', 'b c', 'c a', 'ab c', 'a a', 'aa aa', 'bc abc', 'b b', 'bb ab', 'c ca', 'abc abc'];
  const pairs = merges
    .map((pair) => pair.split(' '))
    .filter(([a, b]) => [...a, ...b].every((sign) => 'abc'.includes(sign)));
  for (const order of [pairs, [...pairs.slice(4), ...pairs.slice(0, 4)]]) {
    const tokenizer = openTokenizer(byteLevelFile(order));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 }), (word) => {
        assert.deepEqual(tokenizer.encode(word).tokens, mergePlainly(word, order));
      }),
      { seed: SEED, numRuns: inTier(2000, 300) },
    );
  }
});

/** The logarithm of a number of characters without a space. */
const LONG = inTier(20, 17);
test('BPE splits many characters without a space, of all kinds', () => {
  const merges = [
    ['a', 'a'],
    ['aa', 'aa'],
    ['aaaa', 'aaaa'],
  ];
  const tokenizer = openTokenizer(byteLevelFile(merges));
  const { tokens, offsets } = tokenizer.encode('a'.repeat(2 ** LONG + 1));
  assert.equal(tokens.length, 2 ** (LONG - 3) + 1);
  assert.deepEqual(offsets.at(-1), [2 ** LONG, 2 ** LONG + 1]);
  assert.equal(tokenizer.encode('ab'.repeat(2 ** (LONG - 1))).ids.length, 2 ** LONG);
});

test('Unigram and WordPiece split many characters without a space', () => {
  const unigram = openTokenizer(readTokenizer('unigram'));
  const text = 'thewhale'.repeat(2 ** (LONG - 3));
  assert.equal(unigram.decode(unigram.encode(text).ids), text);
  const file = readTokenizer('wordpiece');
  file.model.max_input_chars_per_word = 2 ** 21;
  const { tokens } = openTokenizer(file).encode(text);
  assert.equal(tokens.map((token) => token.replace('##', '')).join(''), `[CLS]${text}[SEP]`);
});

test('BPE: a version line before the merges is ignored', () => {
  const file = byteLevelFile([['a', 'b']]);
  file.model.merges = ['#version: 0.2', 'a b'];
  assert.deepEqual(openTokenizer(file).encode('abc').tokens, ['ab', 'c']);
});

test('BPE: with ignore_merges a word in the vocabulary is one piece', () => {
  const file = byteLevelFile([['a', 'b']]);
  file.model.vocab.xyz = 999;
  assert.deepEqual(openTokenizer(file).encode('xyz').tokens, ['x', 'y', 'z']);
  file.model.ignore_merges = true;
  assert.deepEqual(openTokenizer(file).encode('xyz').tokens, ['xyz']);
});

test('BPE: an unknown character is added after the bytes that follow it', () => {
  const vocab = { '<unk>': 0, a: 1, '<0x62>': 2, '<0x63>': 3 };
  const model = { type: 'BPE', unk_token: '<unk>', byte_fallback: true, vocab, merges: [] };
  const encode = (text, fuse_unk) => openTokenizer({ model: { ...model, fuse_unk } }).encode(text);
  assert.deepEqual(encode('xybca', false).ids, [0, 2, 3, 0, 1]);
  assert.deepEqual(encode('xybca').ids, [0, 2, 3, 0, 1], 'by default, unknown characters are not fused');
  assert.deepEqual(encode('xbya', true).ids, [2, 0, 1]);
  assert.deepEqual(encode('axb', true).offsets, [
    [0, 1],
    [2, 3],
    [1, 2],
  ]);
});

/** Yields all segmentations of a word into pieces and unknown characters. */
function* ways(word, scores, unknown) {
  if (word === '') {
    yield { pieces: [], score: 0 };
    return;
  }
  const [first] = word;
  const pieces = Object.keys(scores).filter((piece) => word.startsWith(piece));
  for (const piece of pieces.includes(first) ? pieces : [...pieces, first])
    for (const rest of ways(word.slice(piece.length), scores, unknown))
      yield { pieces: [piece, ...rest.pieces], score: (scores[piece] ?? unknown) + rest.score };
}

test(`Unigram finds the most probable segmentation (seed ${SEED})`, () => {
  // With these scores, no two segmentations have the same score.
  const scores = { a: -3.1, b: -4.57, ab: -5.03, ba: -7.011, aab: -6.3, abba: -9.7, '👍a': -8.13 };
  const vocab = [['<unk>', 0], ...Object.entries(scores)];
  const tokenizer = openTokenizer({ model: { type: 'Unigram', unk_id: 0, vocab } });
  const unknown = Math.min(...Object.values(scores)) - 10;
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'b', 'x', '👍'), minLength: 1, maxLength: 7 }), (word) => {
      let best = { score: -Infinity, pieces: [] };
      for (const way of ways(word, scores, unknown)) if (way.score > best.score) best = way;
      // Consecutive unknown characters are one token.
      const expected = [];
      for (const piece of best.pieces) {
        const isUnknown = !(piece in scores);
        if (isUnknown && expected.at(-1)?.isUnknown) expected.at(-1).piece += piece;
        else expected.push({ piece, isUnknown });
      }
      assert.deepEqual(
        tokenizer.encode(word).tokens,
        expected.map(({ piece }) => piece),
      );
    }),
    { seed: SEED, numRuns: inTier(500, 100) },
  );
});

test('Unigram: a character without a piece gives bytes, an unknown token, or an error', () => {
  const model = {
    type: 'Unigram',
    unk_id: 0,
    vocab: [
      ['<unk>', 0],
      ['a', -1],
    ],
  };
  assert.deepEqual(openTokenizer({ model }).encode('aé').ids, [1, 0]);
  const bytes = [...model.vocab, ['<0xC3>', -9], ['<0xA9>', -9]];
  const falling = openTokenizer({ model: { ...model, byte_fallback: true, vocab: bytes } });
  assert.deepEqual(falling.encode('aé').ids, [1, 2, 3]);
  // The vocabulary lacks one of the bytes of è.
  assert.deepEqual(falling.encode('aè').ids, [1, 0]);
  const strict = openTokenizer({ model: { ...model, unk_id: null } });
  assert.throws(() => strict.encode('aé'), /encode: the vocabulary has no piece for 'é'/);
});

test('Unigram: of a duplicate piece the last id is used', () => {
  const vocab = ['<unk>', 'a', 'b', 'a'].map((piece) => [piece, -1]);
  const tokenizer = openTokenizer({ model: { type: 'Unigram', unk_id: 0, vocab } });
  assert.deepEqual(tokenizer.encode('ab').ids, [3, 2]);
  assert.equal(tokenizer.tokenOf(1), 'a');
  assert.equal(tokenizer.decode([1, 2, 3]), 'a b a');
});

test('WordPiece: a surrogate pair counts as one character, and a long word is unknown', () => {
  const pieces = ['[UNK]', '👍', '##👍', '##🏽', 'a'];
  const vocab = Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  const model = { type: 'WordPiece', unk_token: '[UNK]', max_input_chars_per_word: 3, vocab };
  const tokenizer = openTokenizer({ model, pre_tokenizer: { type: 'WhitespaceSplit' } });
  assert.deepEqual(tokenizer.encode('👍🏽👍 👍👍👍👍 👍a'), {
    ids: [1, 3, 2, 0, 0],
    tokens: ['👍', '##🏽', '##👍', '[UNK]', '[UNK]'],
    offsets: [
      [0, 2],
      [2, 4],
      [4, 6],
      [7, 15],
      [16, 19],
    ],
    typeIds: [0, 0, 0, 0, 0],
  });
});
