// Tests the pairs of tokens of two sentences.

import assert from 'node:assert/strict';
import test from 'node:test';
import { alignWords, differsIn, partnersOf } from '../../../../web/model/trace/alignWords.ts';

/** Returns the tokens of a text in which '·' marks the beginning of a word, and '|' that of another token. */
const ids = new Map();
const piecesOf = (text) =>
  text.split(/(?=[·|])/).map((token) => {
    if (!ids.has(token)) ids.set(token, ids.size);
    const [space, name] = [token[0] === '·' ? ' ' : '', token.replace(/^[·|]/, '')];
    return { id: ids.get(token), start: 0, end: 0, space, text: name, name };
  });
const linesOf = (a, b) => {
  const [from, into] = [piecesOf(a), piecesOf(b)];
  const { columns, first } = alignWords(from, into);
  const line = columns.map((column) => `${from[column.from]?.name ?? '.'}/${into[column.into]?.name ?? '.'}`);
  return { line: line.join(' '), first, from, into, columns };
};

test('sentences with equally many tokens are paired token by token', () => {
  const { line, first, from, into, columns } = linesOf('When·John·went,·John·gave·it', 'When·John·went,·Mary·gave·it');
  assert.equal(line, 'When/When John/John went,/went, John/Mary gave/gave it/it');
  assert.equal(first, 3);
  assert.deepEqual(columns.map(differsIn(from, into)), [false, false, false, true, false, false]);
  assert.equal(linesOf('a·b', 'a·b').first, 2);
});

test('words of different length end together, and their other tokens have no partner', () => {
  assert.equal(linesOf('the·goose·ran', 'the·b|ag|pipe·ran').line, 'the/the ./b ./ag goose/pipe ran/ran');
  assert.equal(linesOf('the·b|ag|pipe·ran', 'the·goose·ran').line, 'the/the b/. ag/. pipe/goose ran/ran');
});

test('words are paired from both ends, and those in the middle have no partner', () => {
  assert.equal(linesOf('the·old·grey·goose·ran', 'the·dog·ran').line, 'the/the old/. grey/. goose/dog ran/ran');
  assert.equal(linesOf('so·a·b·c·d·it·is', 'so·e·f·g·it·is').line, 'so/so a/e b/. c/f d/g it/it is/is');
  assert.equal(linesOf('the·last·I', 'the·I').line, 'the/the last/. I/I');
  assert.equal(linesOf('the·I', 'the·last·I').line, 'the/the ./last I/I');
});

test('every token is in one column, in order, and partners are those of patchGrid', () => {
  for (const [a, b] of [
    ['a·b·c·d', 'x·y'],
    ['a|b|c·d·e', 'a|x·d·f·g·h'],
    ['a', 'b·c·d'],
    ['a·a·a', 'a·a'],
  ]) {
    const { columns, from, into } = linesOf(a, b);
    for (const [side, { length }] of [
      ['from', from],
      ['into', into],
    ]) {
      const seen = columns.map((column) => column[side]).filter((i) => i >= 0);
      assert.deepEqual(seen, [...Array(length).keys()], `${a} ${b} ${side}`);
    }
    const partners = partnersOf(columns, 0);
    assert.equal(partners.length, into.length);
    columns.forEach(({ from: i, into: j }) => j >= 0 && assert.equal(partners[j], i));
  }
  assert.deepEqual(partnersOf(alignWords(piecesOf('a·b·c'), piecesOf('a·x·y·c')).columns, 1).slice(0, 1), [-1]);
});
