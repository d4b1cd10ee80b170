// What the worker of the Explore view answers, without a worker.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight';
import { writeNpy } from 'headlight/formats';
import { change, initialState } from '../../../web/model/state.js';
import { createAnswerer } from '../../../web/worker/answer.js';
import { zip } from '../../support/files.js';

const bytes = readFileSync(new URL('../../../web/train/learned.safetensors', import.meta.url));
const WANTED = { large: { rows: 64, columns: 64 }, small: 20, compare: 'none', table: false, statistics: false };

/** An answerer, and how it is asked. */
function open() {
  const posted = [];
  const hear = createAnswerer(
    load,
    async () => bytes,
    (message) => posted.push(message),
  );
  let id = 0;
  const ask = async (verb, more) => {
    await hear({ verb, id: ++id, ...more });
    return posted.at(-1);
  };
  const show = (patch, { have = {}, wanted = {}, pinned = null, hurry = false } = {}) =>
    ask('show', { state: change(initialState, patch), have, wanted: { ...WANTED, ...wanted }, pinned, hurry });
  return { posted, hear, ask, show };
}
const names = ({ parts }) => Object.keys(parts).sort();
const own = (shape = [1, 2, 3, 4]) => [
  { name: 'q.npy', bytes: writeNpy({ data: Float32Array.from({ length: 24 }, (_, i) => Math.sin(i)), shape }) },
];

test('what the page has is not sent again; what it has lost, is', async () => {
  const { show } = open();
  const first = await show({});
  assert.deepEqual(names(first), ['cell', 'facts', 'heads', 'picture', 'problem']);
  assert.deepEqual(names(await show({}, { have: first.keys })), []);
  assert.deepEqual(names(await show({ cell: { query: 1, key: 1 } }, { have: first.keys })), ['cell']);
  assert.deepEqual(names(await show({ head: 1 }, { have: first.keys })), ['cell', 'picture']);
  assert.deepEqual(names(await show({}, { have: {} })), ['cell', 'facts', 'heads', 'picture', 'problem']);
});

test('where there is nothing to show there are no parts, and no keys that speak of any', async () => {
  const { show } = open();
  await show({});
  for (const patch of [{ example: 'file' }, { example: 'file', file: 7 }, { example: 'own', text: ' ' }]) {
    const { parts, keys, error } = await show(patch);
    assert.deepEqual([parts, keys, error], [{}, {}, undefined]);
  }
  assert.equal(names(await show({})).length, 5);
});

test('a part that is not wanted any more is not among the keys', async () => {
  const { show } = open();
  const wanted = { table: true, statistics: true };
  const first = await show({ view: 'lines' }, { wanted });
  assert.deepEqual(names(first), ['cell', 'facts', 'heads', 'lines', 'picture', 'problem', 'statistics', 'table']);
  assert.deepEqual(Object.keys((await show({}, { have: first.keys })).keys).sort(), [
    'cell',
    'facts',
    'heads',
    'picture',
    'problem',
  ]);
});

test('in a hurry heads and statistics come late, and are said to be as old as they are', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { show } = open();
  const wanted = { statistics: true };
  const first = await show({}, { wanted });
  const hurried = await show({ temperature: 2 }, { have: first.keys, hurry: true, wanted });
  assert.equal(hurried.late, true);
  assert.deepEqual(names(hurried), ['cell', 'picture']);
  assert.equal(hurried.keys.heads, first.keys.heads);
  const rest = await show({ temperature: 2 }, { have: hurried.keys, wanted });
  assert.notEqual(rest.keys.heads, first.keys.heads);
  now = 1000;
  const later = await show({ temperature: 3 }, { have: rest.keys, hurry: true, wanted });
  assert.deepEqual(names(later), ['cell', 'heads', 'picture', 'statistics']);
});

test('a file stays as long as it is the newest or pinned', async () => {
  const { ask, show } = open();
  const opened = async (pinned) => (await ask('open', { sources: own(), pinned })).given;
  const first = await opened(null);
  assert.deepEqual([first.id > 0, first.heads], [true, 2]);
  assert.equal(names(await show({ example: 'file', file: first.id })).length, 5);
  const second = await opened({ file: first.id });
  assert.equal(names(await show({ example: 'file', file: first.id })).length, 5);
  const third = await opened(null);
  assert.deepEqual(names(await show({ example: 'file', file: first.id })), []);
  assert.deepEqual(names(await show({ example: 'file', file: second.id })), []);
  assert.equal(names(await show({ example: 'file', file: third.id })).length, 5);
  const { problem } = await ask('open', { sources: [{ name: 'x.json', bytes: new Uint8Array([91]) }], pinned: null });
  assert.equal(problem.code, 'unreadable');
});

test('an npz archive opens as its arrays, and a zip of other files is refused by name', async () => {
  const { ask, show } = open();
  const [{ bytes }] = own();
  const { given } = await ask('open', { sources: [{ name: 'a.npz', bytes: zip([{ name: 'q.npy', bytes }]) }] });
  assert.equal(given.heads, 2);
  const shown = await show({ example: 'file', file: given.id });
  const alone = await ask('open', { sources: own() });
  assert.deepEqual(shown.parts.picture, (await show({ example: 'file', file: alone.given.id })).parts.picture);
  const checkpoint = zip([{ name: 'model/data.pkl', bytes }]);
  const { problem } = await ask('open', { sources: [{ name: 'model.zip', bytes: checkpoint }] });
  assert.deepEqual([problem.code, problem.values[0]], ['unreadable', 'model.zip']);
  assert.match(problem.values[1], /PyTorch checkpoint/);
});

test('a difference is the weights now less those pinned, in every head; another shape has none', async () => {
  const { show } = open();
  const pinned = change(initialState, { temperature: 2 });
  const wanted = { compare: 'difference' };
  const [now, before, both] = [await show({}), await show({ temperature: 2 }), await show({}, { pinned, wanted })];
  assert.equal(both.parts.facts.differs, true);
  both.parts.picture.values.forEach((value, i) =>
    assert.equal(value, Math.fround(now.parts.picture.values[i] - before.parts.picture.values[i])),
  );
  const other = await show({ example: 'wide' }, { pinned, wanted });
  assert.equal(other.parts.facts.differs, false);
  const side = await show({ example: 'wide' }, { pinned, wanted: { compare: 'side' } });
  const alone = await show({ temperature: 2, head: 0 });
  assert.deepEqual(side.parts.pinned.picture.values, alone.parts.picture.values);
});

test('every file is made', async () => {
  const { ask } = open();
  const made = async (what, more = {}) =>
    (
      await ask('make', {
        state: initialState,
        pinned: null,
        what,
        more: { head: 5, kind: 'linear', title: 'a head' },
        ...more,
      })
    ).made;
  assert.match(await made('csv'), /^,The,cat/);
  assert.match(await made('code'), /hl\.attention/);
  assert.match(await made('svg'), /^<svg/);
  assert.match(await made('svg', { pinned: change(initialState, { temperature: 2 }) }), /^<svg/);
  for (const what of ['npy', 'safetensors']) assert.ok((await made(what)).length > 1000);
});

test('what is stopped is said to be, and the next question is answered', async () => {
  const { hear, ask, posted, show } = open();
  const data = Float32Array.from({ length: 144 * 300 * 4 }, (_, i) => Math.sin(i));
  const { given } = await ask('open', {
    sources: [{ name: 'q.npy', bytes: writeNpy({ data, shape: [1, 144, 300, 4] }) }],
    pinned: null,
  });
  const asked = show({ example: 'file', file: given.id, heads: 144 });
  // The first word of how far it is comes when others have their turn.
  await hear({ verb: 'cancel' });
  const answer = await asked;
  assert.ok(answer.cancelled || answer.parts, JSON.stringify(Object.keys(answer)));
  assert.equal(names(await show({})).length, 5);
  assert.ok(posted.length >= 3);
});

test('an error of the core is said, and the next question is answered', async () => {
  const { ask, show } = open();
  const { given } = await ask('open', { sources: own([1, 6, 4]), pinned: null });
  assert.match(
    (await show({ example: 'file', file: given.id, heads: 3 })).error,
    /width 4 is not a multiple of 3 heads/,
  );
  assert.equal(names(await show({})).length, 5);
});
