// Tests which prediction and which head the answer to `show` explains, on the demo model.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { readingOf } from '../../../../web/model/derivation.ts';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState, OPENING } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { loadWhale, whaleFile } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
after(() => hl.dispose());
let answers = {};
const answer = createAnswerer({
  load: async () => hl,
  fetchBeside: (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer')),
  post: (message) => (answers[message.part ?? 'end'] = message),
});
let id = 0;
/** Returns the answer to `show` for a state. */
async function show(patch) {
  answers = {};
  await answer({ verb: 'show', id: ++id, state: change(initialState, patch) });
  assert.equal(answers.end.error, undefined);
  return answers.run;
}
/** Returns the labels after a text, the most probable first. */
function labelsAfter(text, edit = []) {
  const { logits } = whale.forward({ ids: [tokenizer.encode(text).ids] }, { edit, last: true });
  const row = logits.copy();
  return Array.from(row.keys()).sort((a, b) => row[b] - row[a]);
}
const OFF = { scale: { 4.2: 0 } };
const USUAL = labelsAfter(OPENING);
const WITHOUT = labelsAfter(OPENING, [{ at: 'blocks.4.heads', head: 2, set: 'zero' }]);

test('the chosen guess is followed, by default that of the other case, and without one the likeliest', async () => {
  assert.notEqual(WITHOUT[0], USUAL[0]);
  const [rare] = USUAL.slice(100);
  const other = { ...initialState, text: 'At sea' };
  for (const [name, patch, followed, listed] of [
    ['nothing is changed', {}, USUAL[0], [USUAL[0]]],
    ['a head is off', OFF, USUAL[0], [USUAL[0], WITHOUT[0]]],
    ['a guess is chosen', { token: rare }, rare, [rare, USUAL[0]]],
    ['a guess is chosen, a head is off', { ...OFF, token: rare }, rare, [rare, USUAL[0], WITHOUT[0]]],
    ['the first label is chosen', { token: 0 }, 0, [0, USUAL[0]]],
    ['a run is pinned', { pinned: runOf(other) }, USUAL[0], [USUAL[0], labelsAfter('At sea')[0]]],
    ['a run is pinned, a head is off', { ...OFF, pinned: runOf(other) }, WITHOUT[0], [WITHOUT[0]]],
  ]) {
    const { chosen, top, added } = await show(patch);
    assert.deepEqual([chosen.id, added.label], [followed, followed], name);
    for (const label of listed)
      assert.ok(
        top.some((guess) => guess.id === label),
        `${name}: ${label}`,
      );
  }
});

test('layer and head beyond the last ones are the last ones', async () => {
  const { layer, head } = await show({ layer: 99, head: 99 });
  assert.deepEqual([layer, head], [4, 3]);
});

test('a head that is replaced by its mean has this mean at every token, also while the model writes on', async () => {
  const before = await show({});
  const { T, values } = await show({ ...OFF, off: 'mean' });
  const { width, mixture } = before.values;
  const mean = Array.from({ length: width }, (_, d) => {
    let sum = 0;
    for (let t = 0; t < T; t++) sum += mixture[t * width + d];
    return sum / T;
  });
  const written = values.mixture.map((x, i) => x - mean[i % width]);
  assert.ok(written.every((difference) => Math.abs(difference) < 1e-5));
  assert.equal(readingOf({ ...before, values, S: T, about: {} }, { t: T - 1, s: 0 }).adds, null);
  answers = {};
  const state = change(initialState, { ...OFF, off: 'mean' });
  await answer({ verb: 'generate', id: ++id, state, max: 2 });
  let text = OPENING;
  for (let i = 0; i < 2; i++) {
    const [next] = labelsAfter(text, [{ at: 'blocks.4.heads', head: 2, set: 'mean' }]);
    text += tokenizer.decode([next]);
  }
  assert.equal(OPENING + answers.generated.text, text);
});
