// Tests which changes of the state become entries of the history of the browser.

import assert from 'node:assert/strict';
import test from 'node:test';
import { change, initialState } from '../../../web/model/state.ts';
import { isStep, kindOf } from '../../../web/store/browserHistory.ts';

/** Returns the history entries that a sequence of changes makes. */
function steps(...patches) {
  let [state, last, count] = [initialState, null, 0];
  for (const patch of patches) {
    const next = change(state, patch);
    const kind = kindOf(state, next);
    if (isStep(kind, last)) [last, count] = [kind, count + 1];
    state = next;
  }
  return count;
}

test('another head, a head that is off and a painted mask are steps of their own', () => {
  assert.equal(steps({ head: 1 }), 1);
  assert.equal(steps({ scale: { 4.2: 0 } }), 1);
  assert.equal(steps({ head: 1 }, { scale: { 4.1: 0 } }, { head: 0 }), 3);
  assert.equal(steps({ cell: { t: 3, s: 1 } }), 1);
  assert.equal(kindOf(initialState, { ...initialState, painted: { all: '1' } }), 'change');
});

test('many changes of one kind are one step, views and steps of the story always one each', () => {
  assert.equal(steps({ head: 1 }, { head: 0 }, { layer: 2 }), 1);
  assert.equal(steps({ temperature: { all: 2 } }, { temperature: { all: 3 } }), 1);
  assert.equal(steps({ view: 'lines' }, { view: 'flow' }, { view: 'heatmap' }), 3);
  assert.equal(steps({ text: 'another' }), 0);
});
