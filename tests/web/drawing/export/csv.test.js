import assert from 'node:assert/strict';
import test from 'node:test';
import { fileName, toCsv } from '../../../../web/drawing/export/csv.ts';
import { numbers } from '../../../support/kernels.js';

const TOKENS = ['a', 'b,c', '"quoted"', 'two\nlines', '=SUM(A1)', '猫', 'שלום', ' ', "<script>&'", ''];
const [H, T, S] = [2, TOKENS.length, TOKENS.length];
const weights = numbers(H * T * S, 3).map((x) => Math.abs(x));
weights[0] = 0;
weights[1] = 1e-12;
weights[2] = 1;
const result = { queries: TOKENS, keys: TOKENS, shape: [1, H, T, S], weights };

/** Parses CSV. */
function parse(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

test('the file is parsed to the same tokens and the same float32 numbers', () => {
  const [head, ...rows] = parse(toCsv(result, { batch: 0, head: 1 }));
  const tokens = TOKENS.map((token) => (token === '=SUM(A1)' ? "'=SUM(A1)" : token));
  assert.deepEqual(head, ['', ...tokens]);
  assert.deepEqual(
    rows.map(([token]) => token),
    tokens,
  );
  assert.deepEqual(Float32Array.from(rows.flatMap(([, ...values]) => values.map(Number))), weights.subarray(T * S));
});

/** Returns a token as a field of the table. */
const cellOf = (token) =>
  toCsv({ queries: [token], keys: [''], shape: [1, 1, 1, 1], weights: Float32Array.of(0.5) }, { batch: 0, head: 0 })
    .slice(',\r\n'.length)
    .replace(/,0\.5\r\n$/, '');

test('text that a spreadsheet would run as a formula is escaped, numbers are not', () => {
  for (const formula of [
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '-',
    '+',
    '=',
    '@',
    '-cmd',
    '-1e',
    '＝1+1',
    '＋',
    '－',
    '＠x',
  ])
    assert.equal(cellOf(formula), `'${formula}`);
  for (const formula of ['=A1,2', '=A1;2', '="x"', '\t=1', '\r=1', '\n=1', '-1\n', '=1\t'])
    assert.equal(cellOf(formula), `"'${formula.replaceAll('"', '""')}"`);
  for (const plain of ['-1', '+1', '-1.5e-7', '+.5', '-3.', '1=1', 'a-b', 'ab@c', '’'])
    assert.equal(cellOf(plain), plain);
});

test('a token with a separator is one field', () => {
  for (const token of ['a,b', 'a;=1+1', 'a\t=1+1', 'a\n=1+1', 'a"b', ' a', 'a '])
    assert.equal(cellOf(token), `"${token.replaceAll('"', '""')}"`);
});

test('file names are valid and not empty', () => {
  assert.equal(fileName(['headlight', '代词 → 实词', 'a/b\\c:*?'], 'csv'), 'headlight-代词-实词-a-b-c.csv');
  assert.equal(fileName(['../../../..'], 'png'), 'headlight.png');
  assert.equal(fileName([`${'x'.repeat(59)}-y`], 'svg'), `${'x'.repeat(59)}.svg`);
});

test('rectangular weights and later batch entries are written correctly', () => {
  const [B, H, T, S] = [2, 3, 2, 5];
  const data = numbers(B * H * T * S, 9).map(Math.abs);
  const [queries, keys] = [['q1', 'q2'], [...'abcde']];
  const rows = parse(toCsv({ queries, keys, shape: [B, H, T, S], weights: data }, { batch: 1, head: 2 }));
  assert.deepEqual(
    Float32Array.from(rows[2].slice(1).map(Number)),
    data.subarray(((1 * H + 2) * T + 1) * S, ((1 * H + 2) * T + 2) * S),
  );
});
