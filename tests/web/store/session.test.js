// Tests the session while one source replaces another. All parts of what the page shows must change at once.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { createSession } from '../../../web/store/session.ts';
import { createAnswerer } from '../../../web/worker/requests.ts';
import { hl } from '../../support/headlight.js';
import { whaleFile } from '../../support/whale.js';

globalThis.matchMedia ??= () => ({ matches: false, addEventListener() {}, removeEventListener() {} });

const golden = (name) => readFileSync(new URL(`../../golden/models/bert-a/${name}`, import.meta.url));
const file = (path, bytes) => ({ path, file: new File([bytes], path) });
const until = async (condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Returns a worker that answers in this thread. */
function answering() {
  const worker = { onmessage: null, onerror: null, terminate() {} };
  const post = (data) => worker.onmessage?.({ data });
  const fetchBeside = async (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer'));
  const answer = createAnswerer({ load: async () => hl, fetchBeside, post });
  worker.postMessage = (question) => void answer(question);
  return worker;
}

/** Returns a worker that answers when the test tells it to. */
function silent() {
  const asked = [];
  const worker = { onmessage: null, onerror: null, terminate() {}, postMessage: (question) => asked.push(question) };
  const newest = (verb) => asked.findLast((question) => question.verb === verb);
  return {
    start: () => worker,
    newest,
    say: ({ id, verb }, part, fields) => worker.onmessage({ data: { id, verb, part, ...fields } }),
    end: ({ id, verb }, error) => worker.onmessage({ data: { id, verb, ...(error ? { error } : { done: true }) } }),
  };
}
const aboutOf = (name, title) => ({ name, title, kind: 'weights', layers: 2, heads: 3, reads: 'nothing', parts: [] });
const runOf = (pieces) => ({
  pieces: pieces.map((name) => ({ name })),
  T: pieces.length,
  layer: 0,
  head: 0,
  weights: new Float32Array(6 * pieces.length ** 2),
});
/** Returns the visible parts, by name. */
const seen = ({ about, run, comparison, roles, state }) => ({
  model: state.value.model,
  about: about.value?.name ?? null,
  tokens: run.value?.pieces.map(({ name }) => name) ?? null,
  other: comparison.value?.kind ?? null,
  roles: roles.value,
});
const whole = { model: 'whale', about: 'whale', tokens: ['a', 'b'], other: 'without', roles: [['previous']] };

/** Returns a session that shows the demo model, and its worker, whose answers the test chooses. */
function begun() {
  const worker = silent();
  const session = createSession({ language: 'en', theme: 'light', start: worker.start });
  const show = worker.newest('show');
  worker.say(show, 'source', { about: { ...aboutOf('whale'), layers: 5, heads: 4 } });
  worker.say(show, 'run', runOf(['a', 'b']));
  worker.say(show, 'comparison', { kind: 'without' });
  worker.say(show, 'roles', { roles: [['previous']] });
  worker.end(show);
  assert.deepEqual(seen(session), whole);
  return { session, worker, show };
}
/** Opens files, which the worker recognizes as a model. */
function opens({ session, worker }, title) {
  session.opening.open([file(title, 'x')]);
  const open = worker.newest('open');
  worker.say(open, 'opened', { about: aboutOf(open.name, title), summary: { kind: 'weights' } });
  worker.end(open);
  return { name: open.name, show: worker.newest('show') };
}

test('a BERT whose tokenizer is another one leaves what was shown, and says why', async () => {
  const session = createSession({ language: 'en', theme: 'light', start: answering });
  await until(() => session.roles.value && !session.busy.value);
  const before = seen(session);
  const vocab = Object.fromEntries(['[UNK]', 'to', 'the', 'last'].map((token, i) => [token, 90_000 + i]));
  const tokenizer = {
    pre_tokenizer: { type: 'BertPreTokenizer' },
    normalizer: { type: 'BertNormalizer', lowercase: true },
    model: { type: 'WordPiece', vocab, unk_token: '[UNK]' },
  };
  const names = ['config.json', 'model.safetensors'];
  const files = names.map((name) => file(`bert/${name}`, golden(name)));
  session.opening.open([...files, file('bert/tokenizer.json', JSON.stringify(tokenizer))]);
  await until(() => session.refused.value || session.opening.problem.value || session.failure.value);
  assert.deepEqual(session.refused.value?.title, 'bert');
  assert.match(session.refused.value.why, /9000\d/);
  await until(() => session.roles.value && !session.busy.value);
  assert.deepEqual(seen(session), before);
  assert.deepEqual(session.opening.opened.value, []);
  assert.equal(session.failure.value, null);
  session.stop();
});

test('until the first answer of another source comes, nothing of the one before is shown', () => {
  const page = begun();
  const { session, worker } = page;
  const { name, show } = opens(page, 'l32.npy');
  assert.deepEqual(seen(session), { model: name, about: name, tokens: null, other: null, roles: null });
  assert.ok(session.loading.value);
  // Late parts of the answer about the demo model have no effect.
  worker.say(page.show, 'roles', { roles: [['first']] });
  worker.say(page.show, 'run', runOf(['a', 'b']));
  assert.deepEqual([session.run.value, session.roles.value], [null, null]);
  worker.say(show, 'source', { about: aboutOf(name, 'l32.npy') });
  worker.say(show, 'run', runOf(['x']));
  assert.ok(!session.loading.value || session.busy.value);
  assert.deepEqual(seen(session).tokens, ['x']);
  session.stop();
});

test('of two sources in quick succession the second is shown, and if it fails the one that was seen', () => {
  const page = begun();
  const { session, worker } = page;
  const first = opens(page, 'first.npy');
  const second = opens(page, 'second.npy');
  worker.say(first.show, 'run', runOf(['x']));
  worker.end(first.show, 'too late');
  assert.deepEqual(seen(session).tokens, null);
  assert.equal(session.refused.value, null);
  worker.end(second.show, 'it is broken');
  assert.deepEqual(seen(session), whole);
  assert.deepEqual(session.refused.value, { title: 'second.npy', why: 'it is broken' });
  assert.deepEqual(
    session.opening.opened.value.map(({ about }) => about.title),
    ['first.npy'],
  );
  session.stop();
});

test('of a model in three files the one that is missing is added later', async () => {
  const session = createSession({ language: 'en', theme: 'light', start: answering });
  const golden = (name) => readFileSync(new URL(`../../golden/models/qwen2-a/${name}`, import.meta.url));
  const shards = [1, 2, 3].map((i) => `model-0000${i}-of-00003.safetensors`);
  const first = ['config.json', 'model.safetensors.index.json', shards[0], shards[2]];
  session.opening.open(first.map((name) => file(`qwen2/${name}`, golden(name))));
  await until(() => session.opening.problem.value);
  assert.deepEqual(session.opening.problem.value.code, 'shards');
  assert.deepEqual(session.opening.problem.value.values, [1, 3, shards[1]]);
  session.opening.open([file(shards[1], golden(shards[1]))]);
  await until(() => session.opening.opened.value.length > 0);
  await until(() => session.run.value?.about.family === 'qwen2');
  assert.equal(session.opening.problem.value, null);
  session.stop();
});

test('what a source is changes with its picture, not before', () => {
  const { session, worker } = begun();
  session.update({ text: 'c' });
  const show = worker.newest('show');
  worker.say(show, 'source', { about: { ...aboutOf('whale'), layers: 6, heads: 4 } });
  assert.equal(session.about.value.layers, 5);
  worker.say(show, 'run', runOf(['c']));
  assert.deepEqual([session.about.value.layers, session.run.value.about.layers], [6, 6]);
  session.stop();
});

test('what was said about a run is no longer said after a change', async () => {
  const { session } = begun();
  session.announce('Head off. The guess is now time.');
  await Promise.resolve();
  session.look({ cell: { t: 1, s: 0 } });
  assert.equal(session.announcement.value, 'Head off. The guess is now time.');
  session.update({ text: 'another text' });
  assert.equal(session.announcement.value, '');
  // A text that is announced just before its change stays.
  session.announce('Moved.');
  session.update({ text: 'a third text' });
  assert.equal(session.announcement.value, 'Moved.');
  session.stop();
});

test('roles and small pictures change together with the run, and the previous run is marked as old before', () => {
  const { session, worker } = begun();
  session.update({ text: 'another text' });
  assert.deepEqual([session.isOld.value, session.isWaiting.value], [true, true]);
  const show = worker.newest('show');
  const picture = { layer: 0, head: 0, data: new Float32Array(1), rows: 1, columns: 1 };
  worker.say(show, 'run', { ...runOf(['c']), large: true, pictures: [picture], roles: { roles: null, weights: null } });
  assert.deepEqual([session.isOld.value, session.isWaiting.value], [false, false]);
  assert.deepEqual([session.roles.value, Object.keys(session.pooled.value)], [null, ['0.0']]);
  session.stop();
});

test('a run that fails leaves the previous run, marked as old, and Stop returns to its text', () => {
  const { session, worker } = begun();
  const before = session.state.value;
  session.update({ text: 'another text' });
  worker.end(worker.newest('show'), 'not enough memory');
  assert.deepEqual(
    [session.isOld.value, session.isWaiting.value, session.failedRun.value],
    [true, false, 'not enough memory'],
  );
  assert.deepEqual(
    session.run.value.pieces.map(({ name }) => name),
    ['a', 'b'],
  );
  session.stopRun();
  assert.deepEqual([session.isOld.value, session.failedRun.value, session.failure.value], [false, null, null]);
  assert.deepEqual(session.state.value, before);
  session.stop();
});
