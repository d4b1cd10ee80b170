import assert from 'node:assert/strict';
import test from 'node:test';
import { readNpy, readSafetensors } from 'headlight/formats';
import { fileName, toCsv, toNpy, toSafetensors, toSvg } from '../../../web/model/export.js';
import { makeScale, makeSignedScale } from '../../../web/model/scale.js';
import { numbers } from '../../support/kernels.js';

const TOKENS = ['a', 'b,c', '"quoted"', 'two\nlines', '=SUM(A1)', '猫', 'שלום', ' ', "<script>&'", ''];
const [H, T, S] = [2, TOKENS.length, TOKENS.length];
const weights = numbers(H * T * S, 3).map((x) => Math.abs(x));
weights[0] = 0;
weights[1] = 1e-12;
weights[2] = 1;
const scores = weights.map((w, i) => (i % 7 === 3 ? -Infinity : w));
const result = { queries: TOKENS, keys: TOKENS, shape: [1, H, T, S], weights, scores };

/** A reader of CSV. */
function parse(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

test('the table reads back to the same tokens and the same float32 numbers', () => {
  const [head, ...rows] = parse(toCsv(result, { batch: 0, head: 1 }));
  const tokens = TOKENS.map((token) => (token === '=SUM(A1)' ? "'=SUM(A1)" : token));
  assert.deepEqual(head, ['', ...tokens]);
  assert.deepEqual(
    rows.map(([token]) => token),
    tokens,
  );
  assert.deepEqual(Float32Array.from(rows.flatMap(([, ...values]) => values.map(Number))), weights.subarray(T * S));
});

/** How a token stands in the table. */
const cellOf = (token) =>
  toCsv({ queries: [token], keys: [''], shape: [1, 1, 1, 1], weights: Float32Array.of(0.5) }, { batch: 0, head: 0 })
    .slice(',\r\n'.length)
    .replace(/,0\.5\r\n$/, '');

test('what a spreadsheet would run as a formula is a text there, and numbers stay numbers', () => {
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

test('a token that holds a separator stays in one cell', () => {
  for (const token of ['a,b', 'a;=1+1', 'a\t=1+1', 'a\n=1+1', 'a"b', ' a', 'a '])
    assert.equal(cellOf(token), `"${token.replaceAll('"', '""')}"`);
});

test('npy and safetensors hold the bits that are shown, and the tokens', () => {
  const npy = readNpy(toNpy(result));
  assert.deepEqual([npy.shape, npy.data], [[1, H, T, S], weights]);
  const { tensors, metadata } = readSafetensors(toSafetensors(result));
  assert.deepEqual([tensors.weights.data, tensors.scores.data], [weights, scores]);
  assert.deepEqual(JSON.parse(metadata.keys), TOKENS);
});

test('the drawing has every cell, hatches what is hidden, and takes no token for markup', () => {
  const visible = Float32Array.from({ length: T * S }, (_, i) => Number(i % 7 !== 3));
  const head = { weights: weights.slice(0, T * S), visible, T, S };
  head.weights[4] = NaN;
  const svg = toSvg({
    head,
    queries: TOKENS,
    keys: TOKENS,
    scale: makeScale('light', 1),
    title: 'a <b> & "c"\0',
    colours: { text: '#111', paper: '#fff', hatch: '#999', query: '#00f', key: '#f00' },
  });
  assert.equal(svg.match(/<rect [^>]*><title>/g).length, T * S);
  assert.equal(svg.match(/url\(#hidden\)/g).length, visible.filter((seen) => seen === 0).length);
  assert.equal(svg.match(/fill="rgb\(200 0 140\)"><title>a → =SUM\(A1\): NaN</g).length, 1);
  assert.ok(!svg.includes('<script') && !svg.includes('\0') && svg.includes('&lt;script&gt;&amp;&apos;'));
  assert.ok(svg.includes('<title>a &lt;b&gt; &amp; &quot;c&quot;</title>'));
});

test('file names are safe, and say something', () => {
  assert.equal(fileName(['headlight', '代词 → 实词', 'a/b\\c:*?'], 'csv'), 'headlight-代词-实词-a-b-c.csv');
  assert.equal(fileName(['../../..'], 'png'), 'headlight.png');
  assert.equal(fileName([`${'x'.repeat(59)}-y`], 'svg'), `${'x'.repeat(59)}.svg`);
});

test('rectangles and later batch entries come out as they are', () => {
  const [B, H, T, S] = [2, 3, 2, 5];
  const data = numbers(B * H * T * S, 9).map(Math.abs);
  const [queries, keys] = [['q1', 'q2'], [...'abcde']];
  const rows = parse(toCsv({ queries, keys, shape: [B, H, T, S], weights: data, scores: data }, { batch: 1, head: 2 }));
  assert.deepEqual(
    Float32Array.from(rows[2].slice(1).map(Number)),
    data.subarray(((1 * H + 2) * T + 1) * S, ((1 * H + 2) * T + 2) * S),
  );
  const signed = Float32Array.from({ length: T * S }, (_, i) => i / 10 - 0.4);
  const svg = toSvg({
    head: { weights: signed, visible: null, T, S },
    queries,
    keys,
    scale: makeSignedScale('light', 0.5),
    title: 't',
    colours: {},
  });
  assert.match(svg, /<title>q1 → b: −0\.3<\/title>/);
  assert.equal(svg.match(/<rect /g).length, T * S + 16 + 1);
});

test('long tokens are cut, and crowded labels left out', () => {
  const [T, S] = [1, 300];
  const weights = new Float32Array(S).fill(1 / S);
  const svg = toSvg({
    head: { weights, visible: null, T, S },
    queries: ['x'.repeat(50)],
    keys: Array.from({ length: S }, (_, s) => `key${s}`),
    scale: makeScale('light', 1, 'row'),
    title: 't',
    colours: {},
  });
  assert.ok(svg.includes(`>${'x'.repeat(19)}…</text>`));
  assert.ok(svg.match(/>key\d+<\/text>/g).length <= 300 / 3);
});
