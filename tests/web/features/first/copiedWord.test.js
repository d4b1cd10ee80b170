// Tests the facts of the first visit that are computed from a run.

import assert from 'node:assert/strict';
import test from 'node:test';
import { casesOf, copiedBy, partsOf } from '../../../../web/features/first/copiedWord.ts';
import { beginningOf, firstAddress, stepAfter } from '../../../../web/model/firstVisit.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { readLink, writeLink } from '../../../../web/store/address.ts';

/** Returns a run of one head whose last token attends to a key. */
function runOf(words, key) {
  const T = words.length;
  const weights = new Float32Array(T * T);
  weights[(T - 1) * T + key] = 0.75;
  const pieces = words.map((word, id) => ({ id, space: /^\s*/.exec(word)[0], text: word.trim(), name: word.trim() }));
  return { T, S: T, weights, about: { heads: 1 }, layer: 0, head: 0, pieces };
}
const rangeText = ({ text }, [from, to]) => text.slice(from, to);

test('the words before the copied one are found by their letters, whatever their tokens are', () => {
  const copied = copiedBy(runOf(['T', 'o', ' the', ' end', ' I', ' go', '.', ' To', ' the', ' end'], 4), 0, 0);
  assert.equal(copied.weight, 0.75);
  assert.deepEqual(
    [copied.earlier, copied.word, copied.later].map((range) => rangeText(copied, range)),
    ['To the end', 'I', 'To the end'],
  );
  assert.deepEqual(
    partsOf(copied).map(({ kind, text }) => `${kind}: ${text}`),
    ['plain: ', 'again: To the end', 'plain:  ', 'copied: I', 'plain:  go. ', 'again: To the end'],
  );
});

test('only whole words count; the first letter may be a capital one', () => {
  const words = ['An', ' old', ' man', '.', ' Bold', ' old'];
  assert.equal(rangeText(copiedBy(runOf(words, 2), 0, 0), copiedBy(runOf(words, 2), 0, 0).later), 'old');
  const capital = copiedBy(runOf(['Old', ' man', ' saw', ' old'], 1), 0, 0);
  assert.equal(rangeText(capital, capital.earlier), 'Old');
});

test('a head that looks elsewhere copies nothing', () => {
  assert.equal(copiedBy(runOf(['The', ' old', ' man', ' and', ' he'], 2), 0, 0), null);
  assert.equal(copiedBy(runOf(['so', ' so'], 0), 0, 0), null);
  assert.equal(copiedBy(runOf(['so'], 0), 0, 0), null);
});

test('both cases are the same, read with the head on and with it off', () => {
  const top = (...all) => all.map(([id, text, now]) => ({ id, text, now }));
  const on = { top: top([1, ' man', 0.9], [2, ' sea', 0.05]), chosen: { id: 1, text: ' man' } };
  const off = { top: top([2, ' sea', 0.3], [1, ' man', 0.01]), chosen: { id: 1, text: ' man' } };
  const cases = { word: ' man', other: ' sea', on: 0.9, off: 0.01 };
  assert.deepEqual(casesOf(on, { kind: 'without', top: [0.01, 0.3], likeliest: ' sea' }), cases);
  assert.deepEqual(casesOf(off, { kind: 'with', top: [0.05, 0.9], likeliest: ' man' }), cases);
  assert.equal(casesOf(on, null), null);
  assert.equal(casesOf(on, { kind: 'pinned', top: [0.1, 0.1], likeliest: ' a' }), null);
});

test('each step has an address; a link that carries a state, and a returning visitor, skip them', () => {
  const steps = [0, 1, 2, 3].map((step) => change(initialState, beginningOf(step)));
  assert.deepEqual(steps.map(writeLink), ['first=0', 'first=1', 'first=2', 'first=3']);
  for (const step of steps) assert.deepEqual(readLink(writeLink(step)), step);
  assert.equal(Object.values(steps[1].scale)[0], 0, 'the head is off in step 1');
  assert.deepEqual([0, 1, 2, 3].map(stepAfter), [2, 2, 3, null]);
  assert.equal(firstAddress('', undefined), 'first=0');
  assert.equal(firstAddress('', 'seen'), '');
  assert.equal(firstAddress('layer=1', undefined), 'layer=1');
});

test('typing, another view or another model ends the first visit; switching the head does not', () => {
  const step = change(initialState, beginningOf(2));
  assert.equal(change(step, { scale: { 4.2: 0 } }).first, 2);
  assert.equal(change(step, { layer: 0, head: 0 }).first, 2);
  for (const patch of [{ text: 'Call me' }, { view: 'lines' }, { model: 'patches' }, { panel: 'story' }])
    assert.equal(change(step, patch).first, null, JSON.stringify(patch));
});
