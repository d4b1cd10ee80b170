// Checks the answers of the worker about a text whose weights are too many to be kept, and runs that are stopped.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { initialState } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { createPause, tokensThatFit } from '../../../../web/worker/run/longRuns.ts';
import { MAX_NUMBERS } from '../../../../web/worker/run/stepRun.ts';
import { pooled } from '../../../../web/worker/sources/showWeights.ts';
import { deepModel, longText } from '../../../support/deepModel.js';
import { hl } from '../../../support/headlight.js';

const [LAYERS, HEADS] = [4, 64];
const FILES = deepModel({ layers: LAYERS, heads: HEADS, width: 64, context: 640 });
const STATE = { ...initialState, model: 'opened-1', text: longText(1700), layer: 3, head: 5 };

let answer;
let onPart = () => {};
let count = 0;
before(async () => {
  answer = createAnswerer({ load: async () => hl, fetchBeside: null, post: (message) => onPart(message) });
  const files = FILES.map(({ name, buffer }) => ({ path: name, file: new File([buffer], name) }));
  await ask({ verb: 'open', name: 'opened-1', title: 'deep', files });
});
after(() => ask({ verb: 'close', name: 'opened-1' }));

/** Sends a request, and returns the parts of its answer by name. `listen` gets each message. */
async function ask(request, listen = () => {}) {
  const id = ++count;
  const messages = [];
  onPart = (message) => {
    if (message.id === id) messages.push(message);
    listen(message);
  };
  await answer({ ...request, id });
  const failed = messages.find(({ error }) => error !== undefined);
  if (failed) throw Object.assign(new Error(failed.error), { code: failed.code, values: failed.values });
  return Object.fromEntries(messages.map((message) => [message.part ?? 'done', message]));
}
const show = (patch, listen) => ask({ verb: 'show', state: { ...STATE, ...patch } }, listen);
const near = (found, expected, limit) =>
  found.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) < limit, `${i}: ${x}, ${expected[i]}`));

test('of a long text, the shown head is complete and the others are small pictures', async () => {
  const { run, comparison } = await show();
  const { T } = run;
  assert.ok(LAYERS * HEADS * T * T > MAX_NUMBERS, `${T} tokens`);
  assert.deepEqual([run.large, run.layer, run.head, run.weights.length], [true, 3, 5, T * T]);
  assert.equal(run.pictures.length, LAYERS * HEADS);
  assert.equal(comparison.kind, 'without');
  const model = await hl.openModel(Object.fromEntries(FILES.map(({ name, buffer }) => [name, buffer])));
  const { ids } = model.tokenizer.encode(STATE.text);
  hl.scope(() => {
    const { captured, logits } = model.forward(ids.slice(0, T), { capture: ['blocks.*.weights'] });
    const weights = captured['blocks.3.weights'].copy().subarray(5 * T * T, 6 * T * T);
    near(run.weights, weights, 1e-4);
    const last = logits.copy().subarray((T - 1) * 422);
    assert.equal(run.top[0].id, last.indexOf(Math.max(...last)));
    const first = captured['blocks.1.weights'].copy().subarray(0, T * T);
    const picture = run.pictures.find(({ layer, head }) => layer === 1 && head === 0);
    near(picture.data, pooled(first, T, T, 96).data, 1e-4);
  });
  model.dispose();
});

test('another head of a long text is computed from the output of the block below it', async () => {
  await show();
  const { used } = hl.info.memory;
  const { run } = await show({ layer: 2, head: 7 });
  assert.deepEqual([run.layer, run.head], [2, 7]);
  const sums = Array.from({ length: run.T }, (_, t) =>
    run.weights.subarray(t * run.T, (t + 1) * run.T).reduce((sum, x) => sum + x, 0),
  );
  near(
    sums,
    sums.map(() => 1),
    1e-3,
  );
  const picture = run.pictures.find(({ layer, head }) => layer === 2 && head === 7);
  near(picture.data, pooled(run.weights, run.T, run.T, 96).data, 1e-4);
  assert.equal(hl.info.memory.used, used);
});

test('a newer request is answered in place of a long run, which sends nothing', async () => {
  const { used } = hl.info.memory;
  let asked = null;
  const seen = [];
  const text = `${STATE.text.slice(0, 1650)} and more`;
  const first = show({ text }, ({ id, part }) => {
    seen.push([id, part]);
    // The first message comes before the first block.
    if (part === 'source' && !asked)
      asked = answer({ verb: 'show', id: ++count, state: { ...STATE, text: 'a few words' } });
  });
  const { done, run } = await first;
  await asked;
  assert.equal(done?.dropped, true);
  assert.equal(run, undefined);
  assert.ok(seen.some(([id, part]) => id === count && part === 'run'));
  assert.equal(hl.info.memory.used, used);
});

test('a view that needs the weights of all heads says for how many tokens it works', async () => {
  await assert.rejects(ask({ verb: 'ablate', state: { ...STATE, text: longText(1600) } }), ({ code, values }) => {
    assert.equal(code, 'longText');
    assert.ok(values[1] < values[0] && LAYERS * HEADS * values[1] ** 2 <= MAX_NUMBERS);
    return true;
  });
});

test('an error about memory says how many tokens fit', () => {
  const { options } = { options: { numHeads: 8, dModel: 64, mlp: 256 } };
  const core = { info: { memory: { used: 0, limit: 64 * 2 ** 20 } } };
  const fits = tokensThatFit(core, { model: { options } }, 4096, false);
  assert.ok(fits > 2000 && 4 * 2 * fits ** 2 < core.info.memory.limit, `${fits}`);
  assert.ok(tokensThatFit(core, { model: { options } }, 4096, true) < fits / 3);
});

test('between two blocks a run is ended if it was cancelled, and the page is told how far it is', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const sent = [];
  let cancelled = false;
  const reply = { send: (part, fields) => sent.push([part, fields]), checkCancelled: async () => cancelled };
  const pause = createPause(reply, 7);
  await pause(1, 24);
  now = 200;
  await pause(2, 24);
  assert.deepEqual(sent, [], 'a short run says nothing');
  now = 300;
  await pause(3, 24);
  assert.deepEqual(sent, [['computing', { done: 3, total: 24, tokens: 7 }]]);
  cancelled = true;
  await pause(4, 24);
  now = 400;
  await assert.rejects(pause(5, 24), /cancelled/);
});
