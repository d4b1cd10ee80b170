// Checks that the trace of the worker equals runs of the demo model with one value replaced, and that a patched place
// gives the same prediction in every view.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { keyOf, startTrace, withCells } from '../../../../web/model/trace/places.ts';
import { usualTrace } from '../../../../web/model/trace/settings.ts';
import { readAddress, writeAddress } from '../../../../web/store/address.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { fullTest } from '../../../support/tier.js';
import { loadWhale, whaleFile } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const messages = [];
const answer = createAnswerer({
  load: async () => hl,
  fetchBeside: (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer')),
  post: (message) => messages.push(message),
});
after(() => hl.dispose());

let count = 0;
async function ask(verb, fields) {
  messages.length = 0;
  await answer({ verb, id: ++count, ...fields });
  assert.equal(messages.find(({ error }) => error)?.error, undefined);
  return (part) => messages.filter((message) => message.part === part);
}
const stateOf = (upper, lower, more = {}) =>
  change(initialState, {
    view: 'trace',
    text: lower,
    pinned: runOf({ ...initialState, text: upper }),
    trace: { ...usualTrace, ...more.trace },
    patch: more.patch ?? {},
  });
async function traceOf(state, pairs = []) {
  const parts = await ask('trace', { state, pairs });
  const [runs] = parts('traceRuns');
  return parts('traceCells').reduce(withCells, startTrace(runs));
}

const idsOf = (text) => tokenizer.encode(text).ids;
/** Returns copies of values of a run, and of the last logits. */
const runWith = (text, edit, capture) =>
  hl.scope(() => {
    const { logits, captured } = whale.forward({ ids: [idsOf(text)] }, { edit, capture });
    return {
      row: logits.copy().slice(-logits.shape.at(-1)),
      values: Object.fromEntries(
        Object.entries(captured).map(([name, tensor]) => [name, { data: tensor.copy(), shape: [...tensor.shape] }]),
      ),
    };
  });
const AT = { stream: 'in', heads: 'heads', mlp: 'mlp', head: 'heads' };
const SHIP = 'They gave the ship to me. They gave the';
const WHALE = SHIP.replace('ship', 'whale');
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 1e-4 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);

test('each cell is the share of the difference in one run with this place replaced', async () => {
  const trace = await traceOf(stateOf(SHIP, WHALE, { trace: { answers: ['ship', 'whale'] } }));
  assert.deepEqual(Object.keys(trace.cells), ['stream', 'heads', 'mlp', 'head']);
  assert.equal(trace.done, trace.total);
  const [a, b] = [' ship', ' whale'].map((word) => idsOf(`the${word}`).at(-1));
  const score = ({ row }) => row[a] - row[b];
  const clean = runWith(SHIP, [], ['blocks.*.in', 'blocks.*.heads', 'blocks.*.mlp']);
  const [high, low] = [score(clean), score(runWith(WHALE, [], []))];
  near(trace.upper.value, high, 'upper');
  near(trace.lower.value, low, 'lower');
  for (const [part, layer, place] of [
    ['stream', 0, 3],
    ['stream', 4, 10],
    ['heads', 3, 3],
    ['mlp', 0, 3],
    ['head', 4, 2],
    ['head', 0, 0],
  ]) {
    const at = `blocks.${layer}.${AT[part]}`;
    const edit = { at, [part === 'head' ? 'head' : 'token']: place, set: clean.values[at] };
    const run = runWith(WHALE, [edit], []);
    const i = layer * (part === 'head' ? 4 : trace.lower.pieces.length) + place;
    near(trace.cells[part].value[i], score(run), `${part} ${layer} ${place}`);
    near(trace.cells[part].share[i], (score(run) - low) / (high - low), `${part} ${layer} ${place}`);
  }
  // At the first layer, only the word that differs has other hidden states, and replacing them restores the whole
  // difference.
  const T = trace.lower.pieces.length;
  assert.deepEqual(
    [...trace.cells.stream.share.slice(0, T)].map(Math.round),
    trace.lower.pieces.map(({ name }) => Number(name === 'whale')),
  );
});

test('with the patch of a cell the instrument shows the probabilities of the trace', async () => {
  const longer = 'They gave the ship to me. They gave the';
  const shorter = 'They gave the old captain to me. They gave the';
  for (const upper of [SHIP, shorter]) {
    const trace = await traceOf(
      stateOf(upper, upper === SHIP ? WHALE : longer, { trace: { answers: ['man', 'ship'] } }),
    );
    const found = trace.problem ? await traceOf(stateOf(upper, upper === SHIP ? WHALE : longer)) : trace;
    const T = found.lower.pieces.length;
    for (const place of [
      { part: 'stream', layer: 2, place: T - 1 },
      { part: 'heads', layer: 3, place: T - 1 },
      { part: 'mlp', layer: 1, place: 3 },
      { part: 'head', layer: 4, place: 2 },
    ]) {
      const state = stateOf(upper, upper === SHIP ? WHALE : longer, { patch: { [keyOf(place)]: 1 } });
      assert.deepEqual(readAddress(writeAddress(state)), state);
      const [run] = (await ask('show', { state }))('run');
      const cell = found.cells[place.part];
      const i = place.layer * (place.part === 'head' ? 4 : T) + place.place;
      found.ids.forEach(([id], side) => {
        const shown = run.top.find((guess) => guess.id === id);
        if (shown) near(shown.now, [cell.a, cell.b][side][i], `${upper} ${keyOf(place)}`);
      });
    }
  }
});

test('nothing is measured between equal sentences or answers, close measures, unknown words', async () => {
  for (const [upper, lower, answers, problem] of [
    [SHIP, SHIP, null, 'same'],
    [SHIP, `${SHIP}`, ['ship', 'whale'], 'same'],
    ['The sea', 'The land', ['was', 'xyzzy'], 'noAnswer'],
    [SHIP, WHALE, ['ship', 'fire'], 'sameAnswer'],
    [SHIP, WHALE, ['ship', 'ship'], 'close'],
  ]) {
    const parts = await ask('trace', { state: stateOf(upper, lower, { trace: { answers } }), pairs: [] });
    assert.equal(parts('traceRuns')[0].problem, problem, `${upper} ${answers}`);
    assert.equal(parts('traceCells').length, 0);
  }
});

fullTest('the ready-made pairs change the answer of the demo model, and a mean is over all of them', async () => {
  const [{ tasks }] = (await ask('traceTasks', { state: initialState }))('traceTasks');
  const { pairs } = tasks.find(({ name }) => name === 'induction');
  assert.ok(pairs.length >= 3, `${pairs.length} pairs`);
  assert.deepEqual(tasks.find(({ name }) => name === 'greater').pairs, []);
  const state = stateOf(pairs[0].upper, pairs[0].lower, { trace: { task: 'induction', pair: -1 } });
  const two = pairs.slice(0, 2);
  const mean = await traceOf(state, two);
  assert.equal(mean.done, mean.total);
  const alone = [];
  for (const { upper, lower, answers } of two) alone.push(await traceOf(stateOf(upper, lower, { trace: { answers } })));
  const i = 4 * mean.lower.pieces.length + mean.lower.pieces.length - 1;
  const shares = alone.map(({ cells }) => cells.stream.share[i]);
  near(mean.cells.stream.share[i], shares.reduce((a, b) => a + b) / shares.length, 'mean');
});

test('the place under the pointer comes first, the work pauses and continues, and a cancelled one ends', async () => {
  const state = stateOf(SHIP, WHALE);
  messages.length = 0;
  const id = ++count;
  const done = answer({ verb: 'trace', id, state, pairs: [] });
  await answer({ verb: 'traceControl', id: ++count, paused: true });
  const started = async () => {
    while (!messages.some(({ part }) => part === 'traceRuns')) await new Promise((wake) => setTimeout(wake, 5));
  };
  await started();
  await answer({ verb: 'traceControl', id: ++count, paused: true });
  // Makes other requests, which give the trace time to continue, and the last run time to end.
  const others = async () => {
    for (let i = 0; i < 3; i++)
      await answer({ verb: 'show', id: ++count, state: { ...state, view: 'heatmap', layer: i } });
  };
  const cellsNow = () => messages.filter(({ part }) => part === 'traceCells').length;
  await others();
  const during = cellsNow();
  await others();
  assert.equal(cellsNow(), during);
  await answer({ verb: 'traceControl', id: ++count, place: { part: 'head', layer: 0, place: 3 }, paused: false });
  await done;
  const order = messages.filter(({ part }) => part === 'traceCells').flatMap(({ cells }) => cells);
  const at = order.findIndex(({ part }) => part === 'head');
  assert.deepEqual([order[at].layer, order[at].place], [0, 3]);
  assert.ok(at < order.length - 20, `the wanted place was number ${at}`);

  messages.length = 0;
  const stopped = answer({ verb: 'trace', id: ++count, state, pairs: [] });
  await started();
  await answer({ verb: 'cancel', of: 'trace', id: ++count });
  await stopped;
  const [last] = messages.filter(({ part }) => part === 'traceCells').slice(-1);
  assert.ok(!last || last.done < last.total);
});
