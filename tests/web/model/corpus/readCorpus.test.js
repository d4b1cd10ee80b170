// Tests reading the texts of a visitor: which texts are read from each format, and which are counted as unreadable.

import assert from 'node:assert/strict';
import test from 'node:test';
import { formatOf, formatOfPasted, joinCorpora, readCorpus } from '../../../../web/model/corpus/readCorpus.ts';

const LENGTH = 128;
const read = (text, format, column) => readCorpus(text, format, { length: LENGTH, column });

test('plain text has a passage for each paragraph, or for each line if no line is empty', () => {
  assert.deepEqual(read('one\ntwo\n\n three \n \n\nfour', 'txt').passages, ['one two', 'three', 'four']);
  assert.deepEqual(read('\ufeffone\r\ntwo\r\n', 'txt').passages, ['one', 'two']);
  assert.deepEqual(read('  \n', 'txt'), { passages: [], columns: [], column: null, problems: [], whole: 0 });
});

test('a long text is divided at spaces into passages that fit, and no word is lost', () => {
  const text = Array.from({ length: 500 }, (_, i) => `word${i}`).join(' ');
  const { passages } = read(text, 'txt');
  assert.equal(passages.join(' '), text);
  for (const passage of passages) assert.ok(passage.length < 1.1 * 4 * LENGTH, String(passage.length));
  const chinese = '鲸'.repeat(2000);
  assert.equal(read(chinese, 'txt').passages.join(''), chinese);
});

test('a text with more passages than a call has arguments', () => {
  const { passages } = readCorpus('sea '.repeat(300_000), 'txt', { length: 1 });
  assert.ok(passages.length > 200_000, `${passages.length}`);
});

test('JSON lines: the column with the most text is read, another one on request', () => {
  const text = '{"id":"a","text":"a long text"}\n{"id":"b","text":"another text"}\n';
  const found = read(text, 'jsonl');
  assert.deepEqual([found.column, found.columns], ['text', ['text', 'id']]);
  assert.deepEqual(found.passages, ['a long text', 'another text']);
  assert.deepEqual(read(text, 'jsonl', 'id').passages, ['a', 'b']);
  assert.deepEqual(read('"a"\n"b"', 'jsonl').passages, ['a', 'b']);
  assert.deepEqual(read('["a", "b", ""]', 'json').problems, [{ code: 'empty', place: 3 }]);
});

test('whatever cannot be read is counted with its line and its reason', () => {
  const { passages, problems, whole } = read(
    '{"text":"good"}\nbad\n{"text":" "}\n{"other":1}\n{"text":"good"}',
    'jsonl',
  );
  assert.deepEqual(passages, ['good', 'good']);
  assert.deepEqual(problems, [
    { code: 'notJson', place: 2 },
    { code: 'empty', place: 3 },
    { code: 'noText', place: 4 },
  ]);
  assert.equal(whole, 5);
  assert.deepEqual(read('[1', 'json').problems, [{ code: 'notJson', place: 1 }]);
});

test('a table: quoted fields contain commas, quotes and line breaks; an open quote is counted', () => {
  const table = 'name,review\nA,"good, and ""cheap"""\nB,"two\nlines"\n,\nC,plain\n';
  const { passages, column, problems } = read(table, 'csv');
  assert.deepEqual([column, passages], ['review', ['good, and "cheap"', 'two lines', 'plain']]);
  assert.deepEqual(problems, [{ code: 'empty', place: 5 }]);
  assert.deepEqual(read('text\na\n"b\nc\n', 'csv').problems, [{ code: 'unclosed', place: 3 }]);
  assert.deepEqual(read('a\ttext\n1\thello there', 'tsv').passages, ['hello there']);
});

test('formats are found by name, and of pasted texts by their content', () => {
  assert.deepEqual(['a.txt', 'b.JSONL', 'c.csv', 'd.ndjson', 'e.parquet', 'f.md', 'g'].map(formatOf), [
    'txt',
    'jsonl',
    'csv',
    'jsonl',
    'parquet',
    'txt',
    null,
  ]);
  assert.deepEqual(['{"a":"b"}\n{"a":"c"}', '["a"]', '[sic] he said', 'He {said}'].map(formatOfPasted), [
    'jsonl',
    'json',
    'txt',
    'txt',
  ]);
});

test('several files are one corpus, and a file of another format is counted', () => {
  const all = joinCorpora([
    { name: 'a.txt', texts: read('one', 'txt') },
    { name: 'b.jsonl', texts: read('{"text":"two"}\nbad', 'jsonl') },
    { name: 'c.parquet', texts: null },
  ]);
  assert.deepEqual(all.passages, ['one', 'two']);
  assert.deepEqual(all.problems, [
    { code: 'notJson', place: 2, file: 'b.jsonl' },
    { code: 'format', place: 0, file: 'c.parquet' },
  ]);
  assert.deepEqual([all.whole, all.column], [4, 'text']);
});
