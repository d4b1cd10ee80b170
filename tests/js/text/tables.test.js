import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { PairTable } from '../../../src/js/text/pairTable.ts';
import { PieceTable } from '../../../src/js/text/pieceTable.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { makeSource } from '../../fuzz/source.js';

const SEED = 8;

test(`a table of pairs holds what a Map holds (seed ${SEED})`, () => {
  const source = makeSource(SEED);
  const table = new PairTable(3000);
  const map = new Map();
  const id = () => source.pick([source.below(60), source.below(2 ** 24)]);
  for (let rank = 0; rank < 3000; rank++) {
    const [left, right] = [id(), id()];
    table.set(left, right, rank);
    map.set(`${left} ${right}`, rank);
  }
  for (let i = 0; i < 60; i++) for (let j = 0; j < 60; j++) assert.equal(table.get(i, j), map.get(`${i} ${j}`) ?? -1);
  for (const [pair, rank] of map) assert.equal(table.get(...pair.split(' ').map(Number)), rank);
  assert.equal(new PairTable(0).get(0, 0), -1);
});

test(`a table of pieces holds what a Map holds, also more than it has slots for (seed ${SEED})`, () => {
  const source = makeSource(SEED);
  const word = () =>
    Array.from({ length: 1 + source.below(6) }, () => source.pick(['a', 'b', 'é', '今', '👍'])).join('');
  for (const size of [2000, 10]) {
    const map = new Map(Array.from({ length: 2000 }, (_, id) => [word(), id]));
    const table = new PieceTable(size);
    for (const [piece, id] of map) table.add(piece, id);
    for (let i = 0; i < 4000; i++) {
      const text = word() + word();
      assert.equal(table.find(text), map.get(text) ?? -1);
      const from = source.below(text.length);
      let longest = text.length;
      while (longest > from && !map.has(text.slice(from, longest))) longest--;
      const id = table.longest(text, from);
      assert.equal(id, longest > from ? map.get(text.slice(from, longest)) : -1);
      if (id >= 0) assert.equal(table.length, longest - from);
    }
  }
});

test(`a text with the hash of a piece is not taken for the piece (seed ${SEED})`, () => {
  // There are so many pieces and texts that about 8 of the texts have the same hash as a piece.
  const count = 2 ** 17;
  const next = uniformSource(SEED);
  const unit = () => Math.floor(next() * 2 ** 16);
  const text = () => String.fromCharCode(unit(), unit(), unit());
  const table = new PieceTable(count);
  for (let id = 0; id < count; id++) table.add(text(), id);
  for (let i = 0; i < 2 * count; i++) assert.equal(table.find(text()), -1);
});

test('WordPiece splits long words as it splits short ones', () => {
  const vocab = { '[UNK]': 0, a: 1, ab: 2, '##a': 3, '##ba': 4, '##b': 5, '##': 6 };
  const model = { type: 'WordPiece', unk_token: '[UNK]', vocab, max_input_chars_per_word: 1000 };
  const tokenizer = openTokenizer({ model });
  const ids = (count) => tokenizer.encode('ab'.repeat(count)).ids;
  assert.deepEqual(ids(3), [2, 3, 4, 5]);
  assert.deepEqual(ids(200), [2, ...ids(3).slice(1, 2), ...new Array(198).fill(4), 5]);
  assert.deepEqual(tokenizer.encode(`${'ab'.repeat(200)}c`).ids, [0]);
  assert.deepEqual(tokenizer.encode('abc').ids, [0]);
});

test(`WordPiece splits the first words of a tokenizer as it splits later ones (seed ${SEED})`, () => {
  const vocab = { '[UNK]': 0, a: 1, b: 2, ab: 3, '##a': 4, '##b': 5, '##ba': 6, aba: 7, '##': 8 };
  const open = () =>
    openTokenizer({
      model: { type: 'WordPiece', unk_token: '[UNK]', vocab },
      pre_tokenizer: { type: 'WhitespaceSplit' },
    });
  const source = makeSource(SEED);
  const words = Array.from({ length: 3000 }, () =>
    Array.from({ length: 4 + source.below(16) }, () =>
      source.pick(['a', 'b', 'ab', 'c'].slice(0, 3 + source.below(2))),
    ).join(''),
  );
  const later = open();
  later.encode(words.join(' '));
  for (const word of words.slice(0, 200)) {
    assert.deepEqual(open().encode(word).ids, later.encode(`${word}`).ids, word);
    assert.deepEqual(open().encode(`${word}a`).ids, later.encode(`${word}a`).ids, word);
  }
});
