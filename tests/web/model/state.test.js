import assert from 'node:assert/strict';
import test from 'node:test';
import { runOf } from '../../../web/model/runInput.ts';
import { change, initialState } from '../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../web/store/address.ts';
import { record, redo, replace, settle, startHistory, undo } from '../../../web/store/undo.ts';
import { LANGUAGES, loadLanguage } from '../../../web/texts/languages.ts';

await loadLanguage('zh');

test('the address holds what is not as at the beginning, and is read back', () => {
  assert.equal(writeAddress(initialState), '');
  const state = change(initialState, {
    text: 'Thar she blows! & "so" = #1 鲸',
    layer: 3,
    head: 0,
    cell: { t: 4, s: 2 },
    token: 314,
    view: 'lines',
    scope: 'head',
    temperature: { all: 0.5, 4.2: 2 },
    mask: { 3: '4', 4.1: 'none' },
    scale: { 4.2: 0 },
    patch: { 0.1: 1 },
    pinned: runOf({ ...initialState, text: 'other' }),
  });
  assert.deepEqual(readAddress(writeAddress({ ...state, cell: { t: 4, s: 2 } })), state);
  assert.match(writeAddress(state), /layer=3&head=0&cell=4\.2/);
});

test('layers and heads are counted from 0 in addresses and in both languages', () => {
  const address = 'layer=2&head=1&scale=4.2%3A0';
  const state = readAddress(address);
  assert.deepEqual([state.layer, state.head, state.scale], [2, 1, { 4.2: 0 }]);
  assert.equal(writeAddress(state), address);
  assert.equal(LANGUAGES.en.headName(2, 1), 'Layer 2, head 1');
  assert.equal(LANGUAGES.en.headInText(4, 2), 'layer 4, head 2');
  assert.equal(LANGUAGES.en.layer(0), 'layer 0');
  assert.match(LANGUAGES.zh.headName(2, 1), /2.*1/);
});

test('an address is read as far as it makes sense', () => {
  const state = readAddress('head=-1&layer=x&temperature=all:-3&view=%3Cb%3E&cell=a.b&nothing=1&text=so');
  assert.deepEqual(state, { ...initialState, text: 'so' });
  assert.deepEqual(readAddress('scale=9.9.9:0'), initialState);
});

test('a change that cannot be is refused by name', () => {
  for (const patch of [
    { layer: -1 },
    { scale: { x: 1 } },
    { temperature: { all: 0 } },
    { mask: { all: 'b' } },
    { a: 1 },
  ])
    assert.throws(() => change(initialState, patch), new RegExp(`state: ${Object.keys(patch)[0]} cannot be`));
  assert.throws(() => change(initialState, JSON.parse('{"__proto__":{}}')), /state: __proto__ cannot be an object/);
  const long = { text: 'x'.repeat(200_000) };
  assert.throws(
    () => change(initialState, long),
    ({ message }) => message.length < 200,
  );
});

test('what was found by trying the heads of a model is left with it', () => {
  const tried = change(initialState, { panel: 'tried' });
  assert.equal(change(tried, { model: 'opened-1' }).panel, 'reading');
  assert.equal(change(tried, { head: 1 }).panel, 'tried');
});

test('another text lets go of cell and token, the same text does not', () => {
  const state = change(initialState, { cell: { t: 1, s: 0 }, token: 5 });
  assert.deepEqual(change(state, { text: state.text }), state);
  const { cell, token } = change(state, { text: 'so' });
  assert.deepEqual([cell, token], [null, null]);
});

test('what is done is undone and done again; a gesture is one step, a look none', () => {
  const at = (head) => ({ ...initialState, head });
  let history = startHistory(at(0));
  history = record(history, at(1));
  for (const head of [2, 3, 4]) history = record(history, at(head), 'drag');
  history = record(settle(history), at(5), 'drag');
  history = replace(history, at(6));
  const seen = [];
  for (let i = 0; i < 4; i++) {
    history = undo(history);
    seen.push(history.now.head);
  }
  assert.deepEqual(seen, [4, 1, 0, 0]);
  for (let i = 0; i < 4; i++) history = redo(history);
  assert.equal(history.now.head, 6);
  assert.equal(redo(record(undo(history), at(9))).now.head, 9);
});
