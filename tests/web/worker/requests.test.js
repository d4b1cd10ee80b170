// Checks that the answers of the worker equal the results of forward and headlight-attention/analysis, for the demo
// model.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, before } from 'node:test';
import { load } from 'headlight-attention';
import { attribution, headRoles, headScores, logitLens } from 'headlight-attention/analysis';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { readingOf } from '../../../web/model/derivation.ts';
import { runOf } from '../../../web/model/runInput.ts';
import { change, initialState, OPENING } from '../../../web/model/state.ts';
import { unfoldAnswer } from '../../../web/store/firstAnswer.ts';
import { createAnswerer } from '../../../web/worker/requests.ts';
import { openDemoModel } from '../../../web/worker/sources/demoModel.ts';
import { transformerSource } from '../../../web/worker/sources/sources.ts';
import { GUESS } from '../../support/opening.js';

const FILES = {
  'whale.safetensors': 'whale.safetensors',
  'whale.tokenizer.json': 'tokenizer.json',
};
const read = (name) => readFileSync(new URL(`../../../web/demo/${FILES[name]}`, import.meta.url));

let hl, demo, tokenizer, answer;
let messages = [];
before(async () => {
  hl = await load();
  demo = openDemoModel(hl, read('whale.safetensors'));
  tokenizer = openTokenizer(read('whale.tokenizer.json'));
  answer = createAnswerer({ load, fetchBeside: async (name) => read(name), post: (message) => messages.push(message) });
});
after(() => hl.dispose());

let count = 0;
async function ask(verb, patch = {}, more = {}) {
  messages = [];
  await answer({ verb, id: ++count, state: change(initialState, patch), ...more });
  assert.equal(messages.find(({ error }) => error)?.error, undefined);
  return Object.fromEntries(messages.filter(({ part }) => part).map((message) => [message.part, message]));
}
const softmax = (row) => {
  const max = row.reduce((a, x) => Math.max(a, x), -Infinity);
  const sum = row.reduce((a, x) => a + Math.exp(x - max), 0);
  return row.map((x) => Math.exp(x - max) / sum);
};
/** Returns the probabilities of the last row, with edits. */
const predictions = (text, edit = []) =>
  hl.scope(() => {
    const { ids } = tokenizer.encode(text);
    const { logits } = demo.forward({ ids: { data: Int32Array.from(ids), shape: [1, ids.length] } }, { edit });
    return softmax(Array.from(logits.data).slice(-logits.shape[2]));
  });
const near = (a, b, limit = 1e-5) => assert.ok(Math.abs(a - b) <= limit, `${a} is not ${b}`);

test('the first text has a likely prediction that becomes unlikely without the first head', async () => {
  const { run, comparison } = await ask('show');
  assert.equal(run.top[0].text, ` ${GUESS}`);
  assert.ok(run.top[0].now > 0.8 && comparison.top[0] < 0.05);
  assert.deepEqual([run.layer, run.head, comparison.kind], [4, 2, 'without']);
});

test('logits of the classes of every token are not predictions of tokens', () => {
  for (const [classes, guess] of [
    [0, 'next'],
    [3, null],
  ]) {
    const model = hl.transformer({ layers: 1, dModel: 4, numHeads: 1, vocab: 5, context: 4, classes });
    assert.equal(transformerSource('small', { model, bytes: 0 }).about.guess, guess);
    model.dispose();
  }
});

test('weights, predictions, scores, lens and attribution equal those of the module', async () => {
  const { run, comparison } = await ask('show');
  const { ids } = tokenizer.encode(initialState.text);
  const all = predictions(initialState.text);
  for (const { id, now } of run.top) near(now, all[id]);
  const without = predictions(initialState.text, [{ at: 'blocks.4.heads', head: 2, set: 'zero' }]);
  run.top.forEach(({ id }, i) => near(comparison.top[i], without[id]));
  hl.scope(() => {
    const input = { ids: { data: Int32Array.from(ids), shape: [1, ids.length] } };
    const capture = ['embed', 'blocks.*.weights', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'];
    const result = demo.forward(input, { capture });
    const weights = Array.from({ length: 5 }, (_, l) => result.captured[`blocks.${l}.weights`]);
    const T = ids.length;
    weights.forEach(({ data }, l) => data.forEach((weight, i) => near(run.weights[l * 4 * T * T + i], weight, 1e-6)));
    const tokens = { ids: { data: ids, shape: [T] } };
    const scores = { ...headScores(weights, tokens), ...headRoles(weights, tokens).mean };
    for (const name of ['previous', 'first', 'induction', 'nearby', 'entropy'])
      near(run.scores[4][2][name], scores[name].data[18], 1e-6);
    const label = run.top[0].id;
    const lens = logitLens(demo, result, { labels: [label], top: 0 });
    lens.forEach(({ tokens }, i) => near(run.lens[i], tokens[0].labels[0].probability));
    const { heads, sum } = attribution(demo, result, { label });
    near(run.added.sum, sum, 1e-4);
    heads.data.forEach((x, i) => near(run.added.heads[i], x, 1e-4));
  });
});

test('the contributions of the keys of a head add up to the contribution of the head', async () => {
  for (const [layer, head, scale] of [
    [4, 2, {}],
    [3, 3, {}],
    [0, 1, {}],
    [4, 2, { 4.2: 0 }],
    [4, 2, { 4: 0.5 }],
  ]) {
    const { run, source } = await ask('show', { layer, head, scale });
    const shown = { ...run, S: run.T, about: source.about };
    const t = run.T - 1;
    let sum = 0;
    for (let s = 0; s < run.T; s++) sum += readingOf(shown, { t, s }).adds;
    near(sum, run.added.heads[layer * 4 + head], 1e-4);
  }
});

test('the reading of a cell: products make the score, the softmax the weight, the values the mixture', async () => {
  const { run, source } = await ask('show', { temperature: { 4.2: 2 } });
  const shown = { ...run, S: run.T, about: source.about };
  const t = run.T - 1;
  for (const s of [0, 4, t]) {
    const r = readingOf(shown, { t, s });
    near(r.sum / Math.sqrt(32) / 2, r.score, 1e-4);
    near(Math.exp(r.score) / r.total, r.weight, 1e-5);
  }
  const mixed = new Float64Array(32);
  for (let s = 0; s < run.T; s++) readingOf(shown, { t, s }).scaled.forEach((x, d) => (mixed[d] += x));
  readingOf(shown, { t, s: 0 }).mixture.forEach((x, d) => near(x, mixed[d], 1e-5));
});

test('a changed run equals forward with the same edits', async () => {
  const cases = [
    [{ scale: { 4.2: 0 } }, [{ at: 'blocks.4.heads', head: 2, set: 'zero' }]],
    [{ scale: { 4.2: 0.5 } }, [{ at: 'blocks.4.heads', head: 2, scale: 0.5 }]],
    [{ temperature: { all: 0.5 } }, [{ at: 'blocks.*.scores', temperature: 0.5 }]],
    [{ mask: { 3: 'none' } }, [{ at: 'blocks.3.scores', mask: 'none' }]],
    [{ mask: { 3.3: '0' } }, [{ at: 'blocks.3.scores', head: 3, window: [0, 0] }]],
  ];
  for (const [patch, edit] of cases) {
    const { run } = await ask('show', patch);
    const all = predictions(initialState.text, edit);
    for (const { id, now } of run.top) near(now, all[id]);
    assert.equal(run.top[0].id, all.indexOf(Math.max(...all)));
    assert.equal(run.chosen.text, ` ${GUESS}`, 'the prediction before the change is followed');
    assert.ok(run.top.some(({ text }) => text === ` ${GUESS}`));
  }
});

test('a window still hides later keys', async () => {
  const { run } = await ask('show', { mask: { all: '2' } });
  for (let t = 0; t < run.T; t++)
    for (let s = 0; s < run.T; s++) {
      const hidden = s > t || s < t - 2;
      assert.equal(run.weights[(18 * run.T + t) * run.T + s] > 0, !hidden, `${t} ${s}`);
    }
});

test('a head is patched from the pinned run: all tokens if there are equally many, otherwise the last', async () => {
  const pinned = runOf({ ...initialState, text: OPENING.replace(` ${GUESS}`, ' sea') });
  const heads = (text) =>
    hl.scope(() => {
      const { ids } = tokenizer.encode(text);
      const input = { ids: { data: Int32Array.from(ids), shape: [1, ids.length] } };
      const tensor = demo.forward(input, { capture: ['blocks.4.heads'] }).captured['blocks.4.heads'];
      const [, , T, D] = tensor.shape;
      return { T, D, data: tensor.copy().slice(2 * T * D, 3 * T * D) };
    });
  const from = heads(pinned.text);
  const { run, comparison } = await ask('show', { pinned, patch: { 4.2: 1 } });
  assert.equal(from.T, run.T);
  const set = { data: from.data, shape: [from.T, from.D] };
  const all = predictions(initialState.text, [{ at: 'blocks.4.heads', head: 2, set }]);
  for (const { id, now } of run.top) near(now, all[id]);
  assert.equal(comparison.kind, 'pinned');
  const there = predictions(pinned.text);
  run.top.forEach(({ id }, i) => near(comparison.top[i], there[id]));

  const short = runOf({ ...initialState, text: 'Call me' });
  const { data, D } = heads(short.text);
  const { run: patched } = await ask('show', { pinned: short, patch: { 4.2: 1 } });
  const last = { at: 'blocks.4.heads', head: 2, token: run.T - 1, set: { data: data.slice(-D), shape: [D] } };
  const then = predictions(initialState.text, [last]);
  for (const { id, now } of patched.top) near(now, then[id]);

  // The last token of the longer text has no counterpart in the pinned text, but its prediction is the one that is
  // shown.
  const continued = `${OPENING} of`;
  const { run: after } = await ask('show', { text: continued, pinned: runOf(initialState), patch: { 4.2: 1 } });
  const opening = heads(OPENING);
  const end = { at: 'blocks.4.heads', head: 2, token: after.T - 1, set: { data: opening.data.slice(-D), shape: [D] } };
  const guesses = predictions(continued, [end]);
  for (const { id, now } of after.top) near(now, guesses[id]);
});

test('a pinned run without a text patches nothing', async () => {
  const pinned = runOf({ ...initialState, text: '' });
  const { run } = await ask('show', { pinned, patch: { 4.2: 1 } });
  const all = predictions(initialState.text);
  for (const { id, now } of run.top) near(now, all[id]);
});

test('an empty text and a text that is too long are answered', async () => {
  const { run } = await ask('show', { text: '' });
  assert.deepEqual([run.T, run.top], [0, undefined]);
  const long = await ask('show', { text: 'whale '.repeat(400) });
  assert.ok(long.run.cut && long.run.T === 256);
});

test('heads get their roles on repeated passages', async () => {
  const { roles } = await ask('show', { text: 'So' });
  assert.equal(roles.roles[4][2], 'induction');
  assert.equal(roles.roles[3][3], 'previous');
});

test('it adds its first guess, token by token, and ends when it is cancelled', async () => {
  await ask('generate', {}, { max: 6 });
  const parts = messages.filter(({ part }) => part === 'generated').map(({ text }) => text);
  assert.ok(parts.length >= 3);
  for (let i = 1; i < parts.length; i++) assert.ok(parts[i].startsWith(parts[i - 1]));
  for (const [i, part] of parts.entries()) {
    const { run } = await ask('show', { text: OPENING + (parts[i - 1] ?? '') });
    assert.equal(run.top[0].text, part.slice(parts[i - 1]?.length ?? 0));
  }
  messages = [];
  const generating = answer({ verb: 'generate', id: ++count, state: initialState, max: 200 });
  await answer({ verb: 'cancel', of: 'generate', id: ++count });
  await generating;
  assert.ok(messages.filter(({ part }) => part === 'generated').length < 5);
});

test('of several waiting requests only the newest is answered', async () => {
  messages = [];
  const requests = ['a', 'b', 'c'].map((text) =>
    answer({ verb: 'show', id: ++count, state: change(initialState, { text }) }),
  );
  await Promise.all(requests);
  assert.deepEqual(
    messages.filter(({ part }) => part === 'run').map(({ id }) => id),
    [count],
  );
});

test('the stored first answer equals the answer of the worker', async () => {
  const file = new URL('../../../dist/site/whale.first.json', import.meta.url);
  const first = Object.fromEntries(unfoldAnswer(readFileSync(file, 'utf8')).map((part) => [part.part, part]));
  const now = await ask('show');
  assert.deepEqual(Object.keys(first), ['source', 'run', 'comparison', 'roles']);
  let numbers = 0;
  const assertSame = (a, b, at) => {
    if (typeof b === 'number') {
      numbers++;
      // Masked scores are −Infinity in both results.
      return a === b || near(a, b, 1e-5 * Math.max(1, Math.abs(b)));
    }
    if (typeof b !== 'object' || b === null) return assert.equal(a, b, at);
    assert.equal(a.constructor, b.constructor, at);
    for (const name of Object.keys(b)) if (b[name] !== undefined) assertSame(a[name], b[name], `${at}.${name}`);
  };
  for (const [name, { id, ...part }] of Object.entries(now)) if (name in first) assertSame(first[name], part, name);
  assert.ok(numbers > 6000, `${numbers}`);
});
