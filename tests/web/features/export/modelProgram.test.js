// Checks that the exported program, which repeats a run, prints the displayed weights and next token.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isRunnable, runAgain } from '../../../../web/features/export/modelProgram.ts';
import { weightsOf } from '../../../../web/model/derivation.ts';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState, OPENING } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { hl } from '../../../support/headlight.js';
import { GUESS } from '../../../support/opening.js';
import { loadWhale, whaleFile } from '../../../support/whale.js';

const parts = {};
const answer = createAnswerer({
  load: async () => hl,
  fetchBeside: (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer')),
  post: (message) => (parts[message.part ?? 'end'] = message),
});
const { whale, tokenizer } = await loadWhale();
/** The demo model as the package opens it. */
const demo = {
  tokenizer,
  forward: (text, options) => whale.forward(tokenizer.encode(text).ids, options),
};

/** Runs a program with the demo model instead of the model that it opens, and returns its output. */
async function outputOf(program, model = demo) {
  const printed = [];
  const body = program
    .replace(/^import .*$/m, '')
    .replace('await load()', 'given')
    .replaceAll('console.log(', 'print(');
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  const given = {
    async openModel(place) {
      printed.push(place);
      return model;
    },
  };
  await new AsyncFunction('given', 'print', body)(given, (...values) => printed.push(values));
  return printed;
}

const pinned = runOf({ ...initialState, text: OPENING.replace(` ${GUESS}`, ' sea') });
for (const [name, patch] of Object.entries({
  'as it is': {},
  'with a head off, a temperature and a mask painted by hand': {
    scale: { 4.2: 0 },
    temperature: { all: 2 },
    painted: { 4.2: '5.3-5' },
    layer: 3,
    head: 1,
  },
  'with a head replaced by its mean': { scale: { 3.1: 0, 4.2: 0 }, off: 'mean' },
  'with a head from a pinned run': { pinned, patch: { 4.2: 1 } },
  'with a quote and a line break in the text': { text: `it's "so"\nand \\ so` },
}))
  test(`the program prints the shown weights and next token: ${name}`, async () => {
    const state = change(initialState, patch);
    await answer({ verb: 'show', id: 1, state });
    assert.equal(parts.end?.error, undefined);
    const { about } = parts.source;
    const run = { ...parts.run, S: parts.run.T, about };
    assert.ok(isRunnable(about));
    const program = runAgain(state, { about, tokens: run.T, title: 'a head\nx', source: 'own' });
    assert.ok(patch.painted || program.length < 1800, 'it holds no numbers of the run');
    const [place, [weights], [token, probability]] = await outputOf(program);
    assert.equal(place, 'demo');
    const shown = weightsOf(run, run.layer, run.head);
    weights.flat().forEach((weight, i) => assert.ok(Math.abs(weight - shown[i]) < 1e-5, `${i}`));
    assert.equal(token, run.top[0].text);
    assert.ok(Math.abs(probability - run.top[0].now) < 1e-5, `${probability}, not ${run.top[0].now}`);
  });

test('the program prints the next token of a model with a large vocabulary', async () => {
  await answer({ verb: 'show', id: 1, state: initialState });
  const { about } = parts.source;
  const data = new Float32Array(200_000).fill(-100);
  data[150_000] = 3;
  const large = {
    tokenizer: { decode: ([id]) => `token ${id}` },
    forward: () => ({
      logits: { data, shape: [1, 1, data.length] },
      captured: new Proxy({}, { get: () => ({ toArray: () => [[]] }) }),
    }),
  };
  const program = runAgain(initialState, { about, tokens: parts.run.T, title: 'a head', source: 'own' });
  assert.deepEqual((await outputOf(program, large)).at(-1), ['token 150000', 1]);
});

test('only models that read text or numbers have such a program', () => {
  assert.equal(isRunnable({ kind: 'weights', reads: 'nothing', parts: [] }), false);
  assert.equal(isRunnable({ kind: 'transformer', reads: 'pair', parts: ['encoder', 'decoder'] }), false);
  assert.equal(isRunnable({ kind: 'transformer', reads: 'picture', parts: [] }), false);
});
