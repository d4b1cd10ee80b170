// Tests the places of a trace, such as a head or a token in a layer: their identifiers, their cells, the place of the
// answer, and the order in which the arrow keys reach them.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  cellAt,
  figureOf,
  headsOf,
  movesOf,
  nextPlace,
  shareText,
  shownShare,
  stretchesOf,
} from '../../../../web/features/trace/shares.ts';
import { keyOf, placeOf, placesIn, startTrace, withCells } from '../../../../web/model/trace/places.ts';

const pieces = ['John', 'gave', 'to'].map((name, id) => ({ id, name }));
const side = { pieces, value: -2, both: [0.1, 0.7], guess: '' };
const RUNS = { layers: 3, heads: 2, upper: side, lower: side, total: 12 };
const same = { stream: new Uint8Array(9), head: new Uint8Array(6) };
const cell = (part, layer, place, share) => ({ part, layer, place, share, value: 0, a: 0.5, b: 0.25 });

test('a place has a key in the patches, and heads have the key of a head', () => {
  for (const place of [
    { part: 'stream', layer: 3, place: 14 },
    { part: 'mlp', layer: 0, place: 0 },
    { part: 'head', layer: 4, place: 2 },
  ])
    assert.deepEqual(placeOf(keyOf(place)), place);
  assert.equal(keyOf({ part: 'head', layer: 4, place: 2 }), '4.2');
  for (const key of ['all', '3', 'out.1.2', 'stream.1']) assert.equal(placeOf(key), null);
  assert.deepEqual(placesIn({ all: 1, 'heads.1.2': 1, 'mlp.0.0': 0 }), [{ part: 'heads', layer: 1, place: 2 }]);
});

test('equal places are known from the beginning, others once they are measured', () => {
  same.stream[0] = 1;
  const begun = startTrace({ ...RUNS, same });
  assert.deepEqual(cellAt(begun, cell('stream', 0, 0)), { share: 0, value: -2, a: 0.1, b: 0.7 });
  assert.equal(cellAt(begun, cell('stream', 1, 0)), null);
  assert.equal(cellAt(begun, cell('stream', 1, 3)), null);
  assert.equal(cellAt(begun, cell('mlp', 1, 0)), null);
  const more = withCells(begun, { cells: [cell('stream', 1, 2, 0.625)], done: 1, total: 12, left: 3 });
  assert.deepEqual(cellAt(more, cell('stream', 1, 2)), { share: 0.625, value: 0, a: 0.5, b: 0.25 });
  assert.equal(cellAt(begun, cell('stream', 1, 2)), null, 'the earlier trace is as it was');
  assert.deepEqual([more.done, more.left], [1, 3]);
});

test('figures: from 10 in the thick row, and beyond 100 in every row', () => {
  assert.deepEqual(
    [0.1, 0.094, -0.16, 1.2, -1.2].map((share) => figureOf(share, true)),
    ['10', '', '−16', '120', '−120'],
  );
  assert.deepEqual(
    [0.5, 1.2, -1.01, 1].map((share) => figureOf(share, false)),
    ['', '120', '−101', ''],
  );
  assert.deepEqual([0.014, -0.014, 0.02, 1.5, -2].map(shownShare), [0, 0, 0.02, 1, -1]);
  assert.equal(shareText(-0.001), '0');
});

test('the answer is at the token with over half of the share, in stretches of layers', () => {
  const shares = [
    [1, 0, 0],
    [0.9, 0, 0.2],
    [0.4, 0, 0.45],
  ];
  const cells = shares.flatMap((row, layer) => row.map((share, place) => cell('stream', layer, place, share)));
  const trace = withCells(startTrace({ ...RUNS, same }), { cells, done: 9, total: 12, left: 0 });
  assert.deepEqual(stretchesOf(trace), [{ place: 0, from: 0, to: 1 }]);
  const half = { cells: [cell('stream', 2, 2, 0.5)], done: 10, total: 12, left: 0 };
  assert.deepEqual(stretchesOf(withCells(trace, half)), [{ place: 0, from: 0, to: 1 }]);
  const top = { cells: [cell('stream', 2, 2, 0.6)], done: 10, total: 12, left: 0 };
  assert.deepEqual(stretchesOf(withCells(trace, top)), [
    { place: 0, from: 0, to: 1 },
    { place: 2, from: 2, to: 2 },
  ]);
});

test('the heads that carry the answer to a token that did not have it before', () => {
  const cells = [
    cell('stream', 0, 0, 1),
    cell('stream', 1, 0, 0.9),
    cell('stream', 2, 0, 0.9),
    // These heads write where the answer already is.
    cell('heads', 0, 0, 1),
    cell('heads', 2, 2, 0.98),
    cell('head', 2, 0, 0.1),
    cell('head', 2, 1, 0.97),
  ];
  const parts = { ...same, heads: new Uint8Array(9) };
  const trace = withCells(startTrace({ ...RUNS, same: parts }), { cells, done: 7, total: 12, left: 0 });
  assert.deepEqual(movesOf(trace), [{ layer: 2, place: 2, head: 1 }]);
  const shared = withCells(trace, { cells: [cell('head', 2, 1, 0.4)], done: 8, total: 12, left: 0 });
  assert.deepEqual(movesOf(shared), [{ layer: 2, place: 2, head: null }]);
});

test('the heads of a layer, the largest share first', () => {
  const cells = [cell('head', 1, 0, 0.1), cell('head', 1, 1, -0.4)];
  const trace = withCells(startTrace({ ...RUNS, same }), { cells, done: 2, total: 12, left: 0 });
  assert.deepEqual(headsOf(trace, 1), [
    { head: 1, share: -0.4 },
    { head: 0, share: 0.1 },
  ]);
  assert.deepEqual(headsOf(trace, 0), []);
});

test('arrow keys walk layers and tokens, with Shift the rows of a layer, and reach the heads on the right', () => {
  const grid = { layers: 3, heads: 2, places: [1, 2], rows: ['stream', 'heads', 'mlp'] };
  const from = (part, layer, place, key, byPart = false) =>
    Object.values(nextPlace({ part, layer, place }, key, grid, byPart) ?? {}).join(' ');
  assert.equal(from('stream', 1, 1, 'ArrowUp'), 'stream 2 1');
  assert.equal(from('stream', 2, 1, 'ArrowUp'), 'stream 2 1');
  assert.equal(from('stream', 0, 1, 'ArrowDown'), 'stream 0 1');
  assert.equal(from('stream', 1, 1, 'ArrowDown', true), 'heads 1 1');
  assert.equal(from('mlp', 1, 1, 'ArrowDown', true), 'mlp 1 1');
  assert.equal(from('stream', 1, 1, 'ArrowRight'), 'stream 1 2');
  assert.equal(from('stream', 1, 2, 'ArrowRight'), 'head 1 0');
  assert.equal(from('head', 1, 0, 'ArrowLeft'), 'stream 1 2');
  assert.equal(from('head', 1, 1, 'ArrowRight'), 'head 1 1');
  assert.equal(from('head', 1, 1, 'ArrowDown'), 'head 0 1');
  assert.equal(from('stream', 1, 1, 'x'), '');
});
