import assert from 'node:assert/strict';
import test from 'node:test';
import { cellsUnder, line, paintAt, withCells } from '../../../web/features/mask/stroke.ts';
import { editsOf } from '../../../web/model/forwardEdits.ts';
import { isPainted, visible } from '../../../web/model/hiddenCells.ts';
import { otherCase } from '../../../web/model/modelEdits.ts';
import { change, initialState } from '../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../web/store/address.ts';

const cells = (...list) => list.map(([t, s]) => ({ t, s }));

test('hidden cells are a short text of rows and runs, and can be shown again', () => {
  const text = withCells('', cells([17, 3], [16, 6], [16, 4], [16, 8], [16, 7], [16, 7]), true);
  assert.equal(text, '16.4.6-8_17.3');
  assert.ok(isPainted(text) && isPainted(''));
  assert.equal(withCells(text, cells([16, 7], [17, 3], [2, 2]), false), '16.4.6.8');
  for (const wrong of ['16', '16.', '.4', '16.4_', '16.4-', 'a.b', '16.4,5', 7])
    assert.equal(isPainted(wrong), false, `${wrong}`);
});

test('a line between two cells has no gap', () => {
  const found = line({ t: 2, s: 1 }, { t: 9, s: 4 });
  assert.deepEqual([found[0], found.at(-1)], cells([2, 1], [9, 4]));
  for (let i = 1; i < found.length; i++) {
    assert.ok(Math.abs(found[i].t - found[i - 1].t) <= 1 && Math.abs(found[i].s - found[i - 1].s) <= 1);
  }
  assert.deepEqual(line({ t: 3, s: 3 }, { t: 3, s: 3 }), cells([3, 3], [3, 3]));
});

test('a brush covers the cells around its middle that are in the matrix', () => {
  const matrix = { T: 4, S: 4, full: false };
  assert.deepEqual(cellsUnder({ t: 2, s: 1 }, 1, matrix), [{ t: 2, s: 1 }]);
  assert.deepEqual(cellsUnder({ t: 0, s: 0 }, 3, matrix), [
    { t: 0, s: 0 },
    { t: 1, s: 0 },
    { t: 1, s: 1 },
  ]);
  assert.equal(cellsUnder({ t: 0, s: 0 }, 3, { ...matrix, full: true }).length, 4);
});

test('a cell that is hidden in all heads is hidden in each; one head may show it again', () => {
  let map = paintAt({}, '1.2', cells([3, 1]), true);
  assert.deepEqual(map, { 1.2: '3.1' });
  map = paintAt(map, 'all', cells([4, 0]), true);
  assert.deepEqual(map, { all: '4.0', 1.2: '3.1_4.0' });
  map = paintAt(map, '0.0', cells([4, 0]), false);
  assert.equal(map['0.0'], '');
  map = paintAt(map, '1', cells([4, 2]), true);
  assert.deepEqual(map, { all: '4.0', 1: '4.0.2', 1.2: '3.1_4.0.2', '0.0': '' });
  assert.deepEqual(paintAt({ all: '4.0' }, 'all', cells([4, 0]), false), {});
});

test('the mask without hidden cells; later tokens follow the mask', () => {
  const rows = ({ data }) => [0, 1, 2].map((t) => [...data.slice(3 * t, 3 * t + 3)].join(''));
  assert.deepEqual(rows(visible('1.0_2.2', 'causal', 3, true)), ['100', '010', '110']);
  assert.deepEqual(rows(visible('1.0_9.1-7', 'none', 3, true)), ['111', '011', '111']);
  assert.deepEqual(rows(visible('2.2', '1', 3, true)), ['100', '110', '010']);
  assert.deepEqual(rows(visible('2.2', 'causal', 3, false)), ['111', '111', '110']);
  assert.deepEqual(rows(visible('0.0-2', '1', 3, false)), ['000', '111', '011']);
});

test('a run with a painted mask becomes edits; heads with another mask have their own', () => {
  const run = change(initialState, { painted: { 1: '2.0' }, mask: { 1.2: '1' } });
  const edits = editsOf(run, { layers: 2, heads: 3, tokens: 3 });
  assert.deepEqual(
    edits.map(({ at, head, mask, window }) => [at, head, mask ? [...mask.data].join('') : window]),
    [
      ['blocks.1.scores', [2], [1, 0]],
      ['blocks.1.scores', [0, 1], '100110011'],
      ['blocks.1.scores', [2], '100110011'],
    ],
  );
  assert.equal(otherCase(run).kind, 'before');
});

test('the address contains hidden cells, counted from 0, while the text is short', () => {
  const state = change(initialState, { painted: { all: '16.4.6-8_17.3', 4.2: '2.0' } });
  assert.match(writeAddress(state), /painted=all%3A16\.4\.6-8_17\.3%2C4\.2%3A2\.0/);
  assert.deepEqual(readAddress(writeAddress(state)), state);
  const long = Array.from({ length: 400 }, (_, t) => `${t}.0`).join('_');
  assert.deepEqual(readAddress(writeAddress(change(initialState, { painted: { all: long } }))), initialState);
  assert.deepEqual(readAddress('painted=all:x'), initialState);
  assert.throws(() => change(initialState, { painted: { all: '3' } }), /painted cannot be/);
});

test('a mask over other keys has a column for each key', () => {
  const rows = (text, mask, tokens, causal, keys) => {
    const { data, shape } = visible(text, mask, tokens, causal, keys);
    assert.deepEqual(shape, [tokens, keys]);
    return Array.from({ length: tokens }, (_, t) => data.subarray(t * keys, (t + 1) * keys).join(''));
  };
  assert.deepEqual(rows('', 'causal', 2, false, 4), ['1111', '1111']);
  assert.deepEqual(rows('', 'causal', 2, true, 4), ['1000', '1100']);
  assert.deepEqual(rows('', '1', 2, false, 4), ['1100', '1110']);
  assert.deepEqual(rows('', '0', 4, true, 2), ['10', '01', '00', '00']);
  assert.deepEqual(rows('1.2-9', 'none', 2, false, 4), ['1111', '1100']);
});
