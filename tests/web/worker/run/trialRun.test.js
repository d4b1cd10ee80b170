// Checks that the trials of the story, on the demo model, give the same values as runs with equivalent edits.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { openWhale } from '../../../../src/build/demo/openWhale.ts';
import { initialState } from '../../../../web/model/state.ts';
import { numberKey, readTrial } from '../../../../web/model/trial.ts';
import { readRun } from '../../../../web/worker/run/modelInput.ts';
import { capturesFor, forward } from '../../../../web/worker/run/runModel.ts';
import { trialRun } from '../../../../web/worker/run/trialRun.ts';
import { FROM, LAST, TOKENS } from '../../../support/opening.js';

const hl = await load();
const model = openWhale(hl);
const { layers, numHeads: heads, context, dModel: width } = model.options;
const about = { layers, heads, context, parts: [], words: true, guess: 'next', reads: 'text' };
const source = { about, model, tokenizer: model.tokenizer, exact: true };
const { input } = readRun(source, initialState);
const run = (edit, layer = 4, more = []) =>
  forward(hl, source, input, edit, [...capturesFor(source, 'decoder', layer), ...more]);
const before = (layer) => run([], layer);
const trial = (changes, edits = []) =>
  trialRun(hl, source, { ...initialState, trial: changes }, { layer: 4, edits, before });
/** Returns the weights of head 4.2. */
const weightsOf = ({ captured }) => captured['blocks.4.weights'].data.slice(2 * TOKENS ** 2, 3 * TOKENS ** 2);
const farthest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
const LINE = { '3.3-4.2': 0 };

test('a number of a query is changed: score and weights follow, and the other rows stay as they were', () => {
  const base = before(4);
  const { data, shape } = base.captured['blocks.4.query'];
  const place = (2 * TOKENS + LAST) * shape[3] + 29;
  const key = numberKey({ layer: 4, head: 2, token: LAST, index: 29 });
  const flipped = trial({ [key]: -data[place] });
  assert.equal(flipped.captured['blocks.4.query'].data[place], -data[place]);
  const add = new Float32Array(shape[3]);
  add[29] = -2 * data[place];
  const wanted = run([{ at: 'blocks.4.query', head: 2, token: LAST, add: { data: add, shape: [shape[3]] } }]);
  assert.ok(farthest(weightsOf(flipped), weightsOf(wanted)) < 1e-6);
  assert.ok(farthest(flipped.logits.data, wanted.logits.data) < 1e-4);
  assert.deepEqual(weightsOf(flipped).slice(0, LAST * TOKENS), weightsOf(base).slice(0, LAST * TOKENS));
  assert.notDeepEqual(weightsOf(flipped), weightsOf(base));
});

test('a cut line: the keys of a head are computed without the other head, and nothing else changes', () => {
  const base = run([], 3);
  const { data: output, shape } = base.captured['blocks.3.heads'];
  const projection = model.stateDict()['blocks.3.attention.wo'].data;
  const taken = new Float32Array(TOKENS * width);
  for (let t = 0; t < TOKENS; t++)
    for (let c = 0; c < width; c++)
      for (let d = 0; d < shape[3]; d++)
        taken[t * width + c] -=
          output[(3 * TOKENS + t) * shape[3] + d] * projection[c * heads * shape[3] + 3 * shape[3] + d];
  const wanted = run([{ at: 'blocks.4.key.in', head: 2, add: { data: taken, shape: [TOKENS, width] } }]);
  const cut = trial(LINE);
  assert.ok(farthest(weightsOf(cut), weightsOf(wanted)) < 1e-4);
  assert.ok(farthest(cut.logits.data, wanted.logits.data) < 1e-2);
  const whole = before(4);
  for (const name of ['blocks.4.query', 'blocks.4.value', 'blocks.3.weights'])
    assert.deepEqual(cut.captured[name].data, whole.captured[name].data, name);
  const place = LAST * TOKENS + FROM;
  assert.ok(weightsOf(whole)[place] > 0.8 && weightsOf(cut)[place] < 0.3);
});

test('other changes hold during a trial', () => {
  const off = { at: 'blocks.4.heads', head: 2, set: 'zero' };
  const both = trial(LINE, [off]);
  assert.ok(both.captured['blocks.4.heads'].data.slice(2 * TOKENS * 32, 3 * TOKENS * 32).every((x) => x === 0));
  assert.ok(farthest(both.logits.data, run([off]).logits.data) < 1e-2, 'nothing reads a head that is off');
  assert.ok(farthest(weightsOf(both), weightsOf(trial(LINE))) < 1e-6);
});

test('a trial is read from its keys', () => {
  assert.deepEqual(readTrial({ '4.2.13.29': -2.5, ...LINE }), {
    numbers: [{ layer: 4, head: 2, token: 13, index: 29, value: -2.5 }],
    lines: [{ from: { layer: 3, head: 3 }, to: { layer: 4, head: 2 } }],
  });
});
