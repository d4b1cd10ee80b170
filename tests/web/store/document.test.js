// Tests the state with its history, and the notifications of its listeners.

import assert from 'node:assert/strict';
import test from 'node:test';
import { initialState } from '../../../web/model/state.ts';
import { createDocument } from '../../../web/store/document.ts';

function start(first = {}) {
  const [told, models, changes] = [[], [], []];
  const document = createDocument(
    { ...initialState, ...first },
    {
      onModel: (model, before) => models.push([model, before.now.model]),
      onChange: (before, now) => changes.push([before.text, now.text]),
      onState: (state, substituted) => told.push([state.text, substituted]),
    },
  );
  return { document, told, models, changes };
}
const about = (fields = {}) => ({ name: initialState.model, layers: 5, heads: 4, parts: [], ...fields });

test('each change is told with the state before, and whether it replaces what cannot be shown', () => {
  const { document, told, models, changes } = start({ text: 'a' });
  document.update({ text: 'b' });
  document.look({ cell: { t: 0, s: 0 } });
  document.substitute(() => document.update({ text: 'c' }));
  document.substitute(() => document.update({ text: 'd' }), 'later');
  document.update({ model: 'constructed' });
  assert.deepEqual(
    told.map(([, how]) => how),
    [false, false, true, 'later', false],
  );
  assert.deepEqual(models, [['constructed', initialState.model]]);
  assert.deepEqual(changes.slice(0, 3), [
    ['a', 'b'],
    ['b', 'b'],
    ['b', 'c'],
  ]);
});

test('a gesture is one step of undo until it ends; a cell that is read is none', () => {
  const { document } = start({ text: 'a' });
  assert.equal(document.canUndo.value, false);
  for (const text of ['ab', 'abc']) document.update({ text }, 'write');
  document.endGesture();
  document.update({ text: 'abcd' }, 'write');
  document.look({ cell: { t: 0, s: 0 } });
  assert.equal(document.canUndo.value, true);
  const texts = [];
  for (const step of ['undo', 'undo', 'undo', 'redo', 'redo', 'redo']) {
    document[step]();
    texts.push(document.state.value.text);
  }
  assert.deepEqual(texts, ['abc', 'a', 'a', 'abc', 'abcd', 'abcd']);
});

test('an address is written and opened', () => {
  const { document } = start();
  document.update({ layer: 3, head: 1 });
  const address = document.address();
  document.update({ layer: 0, head: 0 });
  document.open(address);
  assert.deepEqual([document.state.value.layer, document.state.value.head], [3, 1]);
});

test('the chosen head is moved into the model, without a step of undo', () => {
  const placeOf = ({ state }) => [state.value.layer, state.value.head];
  const { document, told } = start({ layer: 7, head: 9 });
  document.clampHead(about({ name: 'other' }));
  assert.deepEqual(placeOf(document), [7, 9]);
  document.clampHead(about({ layers: 8, heads: 10 }));
  assert.deepEqual(placeOf(document), [7, 9]);
  document.clampHead(about({ layers: 7, heads: 10 }));
  assert.deepEqual(placeOf(document), [6, 9]);
  document.clampHead(about({ layers: 7, heads: 9 }));
  assert.deepEqual(placeOf(document), [6, 8]);
  assert.deepEqual([document.canUndo.value, told.length], [false, 0]);
});

test('a model of several stacks has no circuit', () => {
  const circuit = { carries: null, lines: null, cut: [] };
  const { document } = start({ circuit });
  document.clampHead(about());
  assert.equal(document.state.value.circuit, circuit);
  document.clampHead(about({ parts: ['encoder', 'decoder'] }));
  assert.equal(document.state.value.circuit, null);
});

test('an earlier history is restored, and told as a replacement', () => {
  const { document, told } = start({ text: 'a' });
  document.restore({ past: [initialState], now: { ...initialState, text: 'earlier' }, future: [], gesture: null });
  assert.deepEqual(told, [['earlier', true]]);
  assert.equal(document.state.value.text, 'earlier');
  assert.equal(document.canUndo.value, true);
});
