// The steps of the story: their beginnings, and that observations complete their tasks.

import assert from 'node:assert/strict';
import test from 'node:test';
import { wordAt } from '../../../../web/features/prompt/tokens.js';
import { corrections, done, observe, opened, tasksDone } from '../../../../web/features/story/observations.js';
import { steps as inEnglish } from '../../../../web/features/story/steps.en.js';
import { beginning, costsOf, isRevealed, readLink, STEPS, writeLink } from '../../../../web/features/story/steps.js';
import { steps as inChinese } from '../../../../web/features/story/steps.zh.js';
import { change, initialState, OPENING } from '../../../../web/store/state.js';
import { LANGUAGES, loadLanguage } from '../../../../web/texts/languages.js';

await loadLanguage('zh');

const stepOf = (name) => STEPS.findIndex((step) => step.name === name);
const at = (name, patch = {}) => change(change(initialState, beginning(stepOf(name))), patch);
const piece = (space, text, id) => ({ space, text, name: text, id, start: 0, end: 0 });
const PIECES = [piece('', 'T', 7), piece('', 'o', 8), piece(' ', 'the', 9), piece('', ',', 10)];
/** Two layers of two heads that attend to the previous token, except in the given rows. */
function runOf({ layer = 0, head = 0, rows = {}, ...more } = {}) {
  const T = PIECES.length;
  const weights = new Float32Array(4 * T * T);
  for (let h = 0; h < 4; h++)
    for (let t = 0; t < T; t++)
      (rows[t] ?? [0, 1, 2, 3].map((s) => Number(s === Math.max(t - 1, 0)))).forEach(
        (w, s) => (weights[(h * T + t) * T + s] = w),
      );
  return { T, layer, head, weights, pieces: PIECES, about: { layers: 2, heads: 2 }, ...more };
}
const seen = (name, state, answers, log = {}) => observe(log, stepOf(name), state, { cell: null, ...answers });
const isDone = (name, log) => tasksDone(stepOf(name), log).every((one) => one);

test('there are nine steps; each begins with a valid state, and the address contains the step', () => {
  assert.equal(STEPS.length, 9);
  STEPS.forEach((_, step) => {
    const state = change(initialState, beginning(step));
    assert.deepEqual([state.panel, state.step], ['story', step]);
    assert.deepEqual(readLink(writeLink(state)), state);
    assert.equal(done(step, state, { run: null, cell: null }, {}), false);
  });
  assert.throws(() => change(initialState, { step: 9 }), RangeError);
});

test('both languages have every text, with the same placeholders', () => {
  const [en, zh] = [
    { ...LANGUAGES.en.story, steps: inEnglish },
    { ...LANGUAGES.zh.story, steps: inChinese },
  ];
  const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort();
  const shape = (x) =>
    typeof x === 'string' ? places(x) : typeof x === 'function' ? x.length : Array.isArray(x) ? x.map(shape) : keys(x);
  const keys = (x) => Object.fromEntries(Object.entries(x).map(([name, value]) => [name, shape(value)]));
  assert.deepEqual(keys(zh), keys(en));
  for (const { name } of STEPS)
    for (const { steps } of [en, zh]) {
      assert.ok(steps[name].title && steps[name].text[0] && steps[name].seen.length === steps[name].tasks.length, name);
      assert.equal(steps[name].tasks.length, tasksDone(stepOf(name), {}).length);
    }
});

test('a link to a step opens its beginning, except for fields that the link contains', () => {
  for (let step = 0; step < STEPS.length; step++)
    assert.deepEqual(readLink(`panel=story&step=${step + 1}`), change(initialState, beginning(step)));
  const own = at('why', { text: 'so', scope: 'all', temperature: { all: 2 } });
  assert.deepEqual(readLink(writeLink(own)), own);
  assert.deepEqual(readLink(writeLink(at('next', { text: OPENING }))), at('next', { text: OPENING }));
  assert.equal(writeLink(initialState), '');
});

test('a link to step 7 never chooses one of the heads that the visitor must find', () => {
  const { layer, head } = at('many');
  const found = at('many', { layer: 4, head: 2, text: 'so it is so' });
  for (const link of ['panel=story&step=7', 'panel=story&step=7&layer=4&head=2', writeLink(found)])
    assert.deepEqual([readLink(link).layer, readLink(link).head], [layer, head], link);
  assert.equal(readLink(writeLink(found)).text, found.text);
});

test('choosing another model closes the story', () => {
  const other = change(at('why'), { model: 'opened-1' });
  assert.equal(other.panel, 'reading');
  assert.deepEqual(change(other, beginning(stepOf('why'))), at('why'));
});

test('step 1 is done by writing, and shows the guess after the text', () => {
  const run = runOf({ top: [{ id: 1, text: ' sea', now: 0.25 }] });
  assert.deepEqual(seen('next', at('next'), { run }), {});
  // The text of a link was not written by the visitor.
  for (const link of ['panel=story', writeLink(at('next', { text: OPENING }))])
    assert.deepEqual(seen('next', readLink(link), { run }), {});
  const log = seen('next', at('next', { text: 'She looked at the old sea' }), { run });
  assert.deepEqual(log.next, { after: 'the old sea', guess: ' sea', p: 0.25 });
  assert.ok(isDone('next', log));
});

test('step 2 is done at a word of several tokens', () => {
  assert.deepEqual(
    wordAt(PIECES, 1).map(({ text }) => text),
    ['T', 'o'],
  );
  assert.equal(wordAt(PIECES, 3).length, 1);
  assert.deepEqual(seen('tokens', at('tokens'), { run: runOf(), cell: { t: 2, s: 0 } }), {});
  const { tokens } = seen('tokens', at('tokens'), { run: runOf(), cell: { t: 0, s: 0 } });
  assert.deepEqual(tokens, { word: 'To', parts: ['T', 'o'], ids: [7, 8] });
});

test('step 3 is done at a token that attends mostly to itself, including the first', () => {
  const run = runOf({ rows: { 2: [0.25, 0.125, 0.625] } });
  assert.deepEqual(seen('back', at('back'), { run, cell: { t: 1, s: 0 } }), {});
  assert.deepEqual(seen('back', at('back'), { run, cell: { t: 2, s: 0 } }).back, {
    token: 'the',
    weight: 0.625,
    total: 1,
    first: false,
  });
  assert.equal(seen('back', at('back'), { run, cell: { t: 0, s: 0 } }).back.first, true);
});

test('step 4 compares the cell with the same cell at temperature 1', () => {
  const answer = (weight, score) => ({
    run: runOf({ layer: 0, rows: { 1: [weight, 1 - weight] }, values: { scores: new Float32Array(16).fill(score) } }),
    cell: { t: 1, s: 0 },
  });
  const cold = at('why', { temperature: { '0.0': 3 } });
  assert.ok(!isDone('why', seen('why', cold, answer(0.5, 2))), 'nothing to compare with');
  const before = seen('why', at('why'), answer(0.75, 6));
  assert.ok(!isDone('why', before));
  assert.ok(!isDone('why', seen('why', at('why', { temperature: { '0.0': 1.5 } }), answer(0.6, 4), before)));
  const { why } = seen('why', cold, answer(0.5, 2), before);
  assert.deepEqual([why.before, why.to, why.temperature], [{ score: 6, weight: 0.75 }, { score: 2, weight: 0.5 }, 3]);
});

test('step 5 compares the contributions of the head to two guesses', () => {
  const answer = (id, adds) => ({
    run: runOf({
      top: [{ id: 1, text: ' I', now: 0.9 }],
      chosen: { id, text: id === 1 ? ' I' : ' he' },
      added: { heads: [adds, 0, 0, 0] },
    }),
  });
  const first = seen('fetched', at('fetched'), answer(1, 8.5));
  assert.ok(!isDone('fetched', first));
  const { fetched } = seen('fetched', at('fetched', { token: 2 }), answer(2, 4.5), first);
  assert.deepEqual([fetched.one.adds, fetched.other], [8.5, { text: ' he', adds: 4.5 }]);
});

test('step 6 shows the token whose probability rises most without the mask', () => {
  const real = { ever: [0.1, 0.1, 0.25], now: [0.2, 0.9, 0.25] };
  assert.deepEqual(seen('ahead', at('ahead'), { run: runOf(), real }), {}, 'the mask is still there');
  const { ahead } = seen('ahead', at('ahead', { mask: { all: 'none' } }), { run: runOf(), real });
  assert.deepEqual([ahead.place, ahead.token, ahead.next, ahead.from, ahead.to], [1, 'o', 'the', 0.1, 0.9]);
  assert.ok(Math.abs(ahead.meanTo - 0.45) < 1e-12);
});

test('step 7 asks for two heads, in any order, and hides their roles until they are found', () => {
  const roles = [
    ['previous', null],
    ['itself', 'induction'],
  ];
  const scores = [
    [{ previous: 0.9 }, {}],
    [{}, { induction: 0.7 }],
  ];
  const look = (layer, head, log) => seen('many', at('many', { layer, head }), { run: runOf({ scores }), roles }, log);
  assert.deepEqual(look(0, 1), {});
  const one = look(1, 1);
  assert.deepEqual(tasksDone(stepOf('many'), one), [false, true]);
  const step = stepOf('many');
  assert.deepEqual(
    ['previous', 'induction', 'itself'].map((role) => isRevealed(step, one, role)),
    [false, true, true],
  );
  const both = look(0, 0, one);
  assert.deepEqual(both.many.previous, { layer: 0, head: 0, score: 0.9 });
  assert.ok(isDone('many', both));
  assert.equal(isRevealed(stepOf('matter'), {}, 'induction'), true);
});

test('step 8 measures the effect of each head alone, and keeps one head off at a time', () => {
  const step = stepOf('matter');
  const answer = (now) => ({ run: runOf({ top: [{ id: 5, text: ' I', now }], chosen: { id: 5, text: ' I' } }) });
  const without = (place, now, log) =>
    seen('matter', at('matter', { token: 5, scale: { [place]: 0 } }), answer(now), log);
  assert.deepEqual(costsOf(step, without('1.1', 0.1)), null, 'nothing to compare with');
  const base = seen('matter', at('matter'), answer(0.86));
  const fallen = without('1.1', 0.01, base);
  assert.deepEqual(tasksDone(step, fallen), [true, false, false]);
  assert.deepEqual([fallen.matter.fell.from, fallen.matter.fell.to], [0.86, 0.01]);
  const same = without('0.1', 0.853, fallen);
  assert.deepEqual(costsOf(step, same), { 1.1: -85, 0.1: -1 });
  assert.ok(!isDone('matter', same), 'one head is not enough: another is needed as well');
  const both = without('0.0', 0.02, same);
  assert.equal(both.matter.too.place, '0.0');
  assert.ok(isDone('matter', both));
  // Effects measured on another text are discarded.
  const other = seen('matter', at('matter', { text: 'another' }), answer(0.5), same);
  assert.deepEqual(costsOf(step, other), {});
  const two = at('matter', { token: 5, layer: 0, head: 1, scale: { 1.1: 0, 0.1: 0 } });
  assert.deepEqual(corrections(two, base), { scale: { 0.1: 0 } });
  assert.deepEqual(corrections(at('matter', { scale: { 1.1: 0 } }), base), { token: 5 });
  assert.equal(corrections(at('matter'), base), null);
  assert.equal(corrections(at('back', { scale: { 1.1: 0, 0.1: 0 } }), base), null);
});

test('step 9 is done when training was opened', () => {
  assert.ok(!isDone('train', {}));
  assert.ok(isDone('train', opened({})));
});
