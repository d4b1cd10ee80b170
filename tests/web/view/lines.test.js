import assert from 'node:assert/strict';
import test from 'node:test';
import { layOutLines, links, tokenAt } from '../../../web/view/lines.js';
import { numbers } from '../../support/kernels.js';

const headOf = (rows) => ({
  weights: Float32Array.from(rows.flat(), (w) => w ?? 0),
  scores: Float32Array.from(rows.flat(), (w) => (w === null ? -Infinity : 0)),
  T: rows.length,
  S: rows[0]?.length ?? 0,
});
const keysOf = (list) => list.map(({ key }) => key);
const context = { font: '', measureText: (text) => ({ width: 7 * text.length }) };

test('the mass rule takes the fewest largest weights that reach the share', () => {
  const head = headOf([[0.1, 0.6, 0.3]]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 0.5 })), [1]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 0.85 })), [1, 2]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 1 })), [1, 2, 0]);
});

test('the top rule takes so many, the lower key first where two are equal', () => {
  const head = headOf([
    [0.25, 0.25, 0.25, 0.25],
    [0, 1, 0, 0],
  ]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'top', count: 2 })), [0, 1]);
  assert.deepEqual(keysOf(links(head, null, { kind: 'top', count: 3 })), [0, 1, 2, 1]);
});

test('links come by query, in whatever order the queries are chosen', () => {
  const head = headOf([
    [1, 0],
    [0, 1],
    [0.5, 0.5],
  ]);
  assert.deepEqual(
    links(head, [2, 0], { kind: 'top', count: 1 }).map(({ query }) => query),
    [0, 2],
  );
});

test('hidden keys, zeros and rows that see nothing have no line', () => {
  assert.deepEqual(links(headOf([[null, 0, null]]), null, { kind: 'top', count: 3 }), []);
  assert.deepEqual(links(headOf([]), null, { kind: 'mass', share: 0.9 }), []);
});

test('over random rows: the share is reached, and without the last link it is not', () => {
  for (let seed = 1; seed < 40; seed++) {
    const row = numbers(12, seed).map((x) => (x + 1) / 12);
    const sum = row.reduce((a, b) => a + b, 0);
    const taken = links(headOf([[...row]]), [0], { kind: 'mass', share: 0.8 });
    const mass = taken.reduce((total, { weight }) => total + weight, 0);
    assert.ok(mass >= 0.8 * sum - 1e-6 && mass - taken.at(-1).weight < 0.8 * sum);
  }
});

test('every token of a layout is found where it stands, and nothing beside it', () => {
  for (const [T, S, width] of [
    [18, 18, 700],
    [3, 40, 300],
    [60, 2, 900],
  ]) {
    const names = (n) => Array.from({ length: n }, (_, i) => `token${i}`);
    const layout = layOutLines(context, { queries: names(T), keys: names(S) }, width);
    assert.ok(layout.row >= 14 && layout.row <= 24 && layout.left < layout.right && layout.right <= width);
    for (let t = 0; t < T; t++)
      assert.deepEqual(tokenAt(layout, layout.left - 1, layout.top + (t + 0.5) * layout.row, T, S), {
        side: 'query',
        index: t,
      });
    for (let s = 0; s < S; s++)
      assert.deepEqual(tokenAt(layout, layout.right + 1, layout.top + (s + 0.5) * layout.row, T, S), {
        side: 'key',
        index: s,
      });
    assert.equal(tokenAt(layout, -5, 10, T, S), null);
    assert.equal(tokenAt(layout, layout.right, layout.height + 20, T, S), null);
  }
});
