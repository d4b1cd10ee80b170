import assert from 'node:assert/strict';
import test from 'node:test';
import { learnMerges, makeTokenizer, START } from '../../../src/build/demo/vocabulary.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';

const TEXTS = [
  'The whale, the white whale! The sea; the ship and the whale.\n\n',
  'Call me Ishmael: the sea, the sea.',
];

/** Learns merges in a plain way, by counting all pairs again before each merge. */
function learnPlainly(texts, count) {
  const pattern = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  let words = texts
    .flatMap((text) => text.match(pattern))
    .map((word) => [...word.replaceAll(' ', 'Ġ').replaceAll('\n', 'Ċ')]);
  return Array.from({ length: count }, () => {
    const counts = new Map();
    for (const word of words)
      for (let i = 1; i < word.length; i++) {
        const pair = `${word[i - 1]} ${word[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    const [best] = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0];
    const [left, right] = best.split(' ');
    words = words.map((word) => {
      const joined = [];
      for (const sign of word) {
        if (sign === right && joined.at(-1) === left && joined.fresh !== joined.length) {
          joined[joined.length - 1] = left + right;
          joined.fresh = joined.length;
        } else joined.push(sign);
      }
      return [...joined];
    });
    return best;
  });
}

test('the most frequent pair is merged, repeatedly', () => {
  assert.deepEqual(learnMerges(TEXTS, 257 + 30), learnPlainly(TEXTS, 30));
  assert.deepEqual(learnMerges(['aaaa aaaa'], 257 + 3), learnPlainly(['aaaa aaaa'], 3));
});

test('merging ends if no pair is left', () => {
  assert.deepEqual(learnMerges(['ab ab'], 1000), ['a b', 'Ġ ab']);
});

test('the vocabulary is a valid tokenizer.json, and decoding restores every encoded text', () => {
  const file = makeTokenizer(learnMerges(TEXTS, 280));
  const tokenizer = openTokenizer(JSON.stringify(file));
  assert.equal(tokenizer.vocabSize, 280);
  assert.equal(tokenizer.idOf(START), 279);
  const { ids } = tokenizer.encode(`${START}${TEXTS[0]}`);
  assert.equal(ids[0], 279);
  assert.equal(tokenizer.decode(ids), TEXTS[0]);
  assert.equal(tokenizer.decode(tokenizer.encode('Ωmega 👍').ids), 'Ωmega 👍');
  assert.ok(ids.length < TEXTS[0].length);
});
