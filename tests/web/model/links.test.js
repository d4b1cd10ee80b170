import assert from 'node:assert/strict';
import test from 'node:test';
import { links, MOST_LINKS } from '../../../web/model/links.js';
import { numbers } from '../../support/kernels.js';

const headOf = (rows) => ({
  weights: Float32Array.from(rows.flat(), (w) => w ?? 0),
  scores: Float32Array.from(rows.flat(), (w) => (w === null ? -Infinity : 0)),
  T: rows.length,
  S: rows[0]?.length ?? 0,
});
const keysOf = (list) => list.map(({ key }) => key);

test('the mass rule takes the fewest largest weights that reach the share', () => {
  const head = headOf([[0.1, 0.6, 0.3]]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 0.5 })), [1]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 0.85 })), [1, 2]);
  assert.deepEqual(keysOf(links(head, [0], { kind: 'mass', share: 1 })), [1, 2, 0]);
});

test('the mass rule ends where the share is reached exactly', () => {
  assert.deepEqual(keysOf(links(headOf([[0.5, 0.25, 0.25]]), [0], { kind: 'mass', share: 0.5 })), [0]);
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

test('of more links than are drawn the strongest are, the first of those that are equal', () => {
  const [T, S] = [50, 40];
  const head = { weights: new Float32Array(T * S).fill(0.5), T, S };
  const all = { kind: 'top', count: S };
  const equal = links(head, null, all);
  assert.equal(equal.length, MOST_LINKS);
  assert.deepEqual(equal.at(-1), { query: 37, key: 19, weight: 0.5 });
  head.weights[T * S - 1] = 0.75;
  const stronger = links(head, null, all);
  assert.equal(stronger.length, MOST_LINKS);
  assert.deepEqual(stronger.at(-1), { query: 49, key: 39, weight: 0.75 });
  assert.deepEqual(stronger.at(-2), { query: 37, key: 18, weight: 0.5 });
});
