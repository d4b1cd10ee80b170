// Tests sums of rows and columns: how they are described, extended by keyboard keys, and computed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { extended, placesBetween, readSum, totalsOf, writeSum } from '../../../../web/features/sums/added.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../../web/store/address.ts';

test('a sum is written into the address and read back; another text has none', () => {
  assert.equal(writeSum('rows', [5, 3, 5]), 'rows.3.5');
  assert.equal(writeSum('rows', []), '');
  assert.deepEqual(readSum('columns.0.12'), { axis: 'columns', places: [0, 12] });
  assert.equal(readSum(''), null);
  const state = change(initialState, { sum: 'columns.3.9', units: 'words' });
  assert.deepEqual(readAddress(writeAddress(state)), state);
  assert.equal(readAddress('sum=columns.x&units=letters').sum, '');
  assert.equal(change(state, { text: 'other' }).sum, '');
});

test('words have other places than tokens: cell and sum are let go where the units change', () => {
  const state = change(initialState, { sum: 'rows.2', cell: { t: 3, s: 1 } });
  const words = change(state, { units: 'words' });
  assert.deepEqual([words.sum, words.cell], ['', null]);
  const chosen = change(words, { cell: { t: 3, s: 1 } });
  assert.deepEqual(change(chosen, { view: 'lines' }).cell, { t: 3, s: 1 });
  // Flow shows tokens, so the chosen sum is removed.
  assert.equal(change(chosen, { view: 'flow' }).cell, null);
});

test('totals are sums of columns for each query, and of rows for each key', () => {
  const [T, S] = [3, 4];
  const weights = Float32Array.from({ length: T * S }, (_, i) => i);
  const columns = totalsOf({ axis: 'columns', places: [1, 3] }, { weights, T, S });
  assert.deepEqual(columns, [
    { place: 0, weight: 4 },
    { place: 1, weight: 12 },
    { place: 2, weight: 20 },
  ]);
  const rows = totalsOf({ axis: 'rows', places: [0, 2] }, { weights, T, S });
  assert.deepEqual(
    rows.map(({ weight }) => weight),
    [8, 10, 12, 14],
  );
});

test('Shift and an arrow reach one further from the cell that is read, and back', () => {
  const [read, size] = [
    { t: 3, s: 1 },
    { T: 5, S: 5 },
  ];
  const press = (sum, key) => extended(readSum(sum), key, read, size);
  assert.equal(press('', 'ArrowUp'), 'rows.2.3');
  assert.equal(press('rows.2.3', 'ArrowUp'), 'rows.1.2.3');
  assert.equal(press('rows.1.2.3', 'ArrowDown'), 'rows.2.3');
  assert.equal(press('rows.2.3', 'ArrowDown'), 'rows.3');
  assert.equal(press('rows.3', 'ArrowDown'), 'rows.3.4');
  assert.equal(press('rows.3.4', 'ArrowDown'), 'rows.3.4');
  assert.equal(press('rows.3.4', 'ArrowRight'), 'columns.1.2');
  assert.equal(press('columns.1', 'ArrowLeft'), 'columns.0.1');
  assert.deepEqual(placesBetween(4, 2), [2, 3, 4]);
});
