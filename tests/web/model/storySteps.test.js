// Tests the steps of the story: their initial states, and that observations complete their tasks.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { askedWord, corrections, observe, opened, trained } from '../../../web/features/story/observations.ts';
import { questionValues, resultText } from '../../../web/features/story/observationTexts.ts';
import {
  actsDone,
  asks,
  cameTrue,
  hasAnswered,
  predicted,
  predictionsSoFar,
} from '../../../web/features/story/predictions.ts';
import { quiz as quizInEnglish } from '../../../web/features/story/quiz.en.ts';
import { quiz as quizInChinese } from '../../../web/features/story/quiz.zh.ts';
import { steps as inEnglish } from '../../../web/features/story/steps.en.ts';
import { steps as inChinese } from '../../../web/features/story/steps.zh.ts';
import { TEXTS } from '../../../web/features/story/texts.ts';
import { change, initialState, OPENING } from '../../../web/model/state.ts';
import {
  beginning,
  COUNT,
  costsOf,
  DOTS,
  isBefore,
  isRevealed,
  neighbours,
  numberedStep,
  partOf,
  STEPS,
} from '../../../web/model/storySteps.ts';
import { piecesOf, wordAt } from '../../../web/model/tokens.ts';
import { linkTo, readLink, writeLink } from '../../../web/store/address.ts';
import { LANGUAGES, loadLanguage } from '../../../web/texts/languages.ts';

await loadLanguage('zh');

const stepOf = (name) => STEPS.findIndex((step) => step.name === name);
const at = (name, patch = {}) => change(change(initialState, beginning(stepOf(name))), patch);
const piece = (space, text, id) => ({ space, text, name: text, id, start: 0, end: 0 });
const PIECES = [piece('', 'T', 7), piece('', 'o', 8), piece(' ', 'the', 9), piece('', ',', 10)];
/**
 * Returns a run of two layers of two heads, which attend to the previous token. One head has other weights in the given
 * rows.
 */
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
/** Returns a log in which every question of a step was answered. */
const said = (name, log, choice = 1) =>
  actsDone(stepOf(name), log).reduce((all, _, act) => predicted(all, stepOf(name), act, choice), log);
const doneIn = (name, log) => actsDone(stepOf(name), said(name, log));
const isDone = (name, log) => doneIn(name, log).every((one) => one);

test('there are nine steps; each begins with a valid state, and the address contains the step', () => {
  assert.equal(COUNT, 9);
  STEPS.forEach((_, step) => {
    const state = change(initialState, beginning(step));
    assert.deepEqual([state.panel, state.step], ['story', step]);
    assert.deepEqual(readLink(writeLink(state)), state);
    assert.ok(!actsDone(step, observe({}, step, state, { run: null, cell: null })).includes(true));
  });
  assert.throws(() => change(initialState, { step: 12 }), RangeError);
});

test('both languages have every text, with the same placeholders', () => {
  const [en, zh] = [
    { ...LANGUAGES.en.story, ...TEXTS.en, steps: inEnglish, quiz: quizInEnglish },
    { ...LANGUAGES.zh.story, ...TEXTS.zh, steps: inChinese, quiz: quizInChinese },
  ];
  const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort();
  const shape = (x) =>
    typeof x === 'string' ? places(x) : typeof x === 'function' ? x.length : Array.isArray(x) ? x.map(shape) : keys(x);
  const keys = (x) => Object.fromEntries(Object.entries(x).map(([name, value]) => [name, shape(value)]));
  assert.deepEqual(keys(zh), keys(en));
  for (const { name, quiz } of STEPS)
    for (const { steps } of quiz ? [] : [en, zh]) {
      const { title, text, acts } = steps[name];
      assert.ok(title && text[0] && acts[0].choices, name);
      assert.equal(acts.length, actsDone(stepOf(name), {}).length);
      acts.forEach(({ ask, choices = [], task, seen }, act) => {
        assert.equal(Boolean(ask), asks(stepOf(name), act), `${name}: a question is answered`);
        assert.ok(task && seen.includes('**') && (!ask || choices.length === 3), `${name}: ${task}`);
      });
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
  // A text from a link does not count, because the visitor has not written it.
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
  assert.equal(questionValues('tokens', null, { run: runOf(), cell: null, words: LANGUAGES.en }).word, 'To');
  const { tokens } = seen('tokens', at('tokens'), { run: runOf(), cell: { t: 0, s: 0 } });
  assert.deepEqual(tokens, { word: 'To', parts: ['T', 'o'], ids: [7, 8] });
});

test('step 2 begins with a common word of one token, and asks about a word of at least three', () => {
  const { text } = at('tokens');
  const tokenizer = openTokenizer(readFileSync(new URL('../../../web/demo/tokenizer.json', import.meta.url), 'utf8'));
  const pieces = piecesOf(text, tokenizer.encode(text));
  assert.equal(wordAt(pieces, 0).length, 1);
  assert.ok(askedWord(pieces).length >= 3);
  const run = { ...runOf(), T: pieces.length, pieces };
  const first = pieces.indexOf(askedWord(pieces)[0]);
  const other = seen('tokens', at('tokens'), { run, cell: { t: 0, s: 0 } });
  assert.deepEqual(other, {}, 'another word is no answer');
  const { tokens } = seen('tokens', at('tokens'), { run, cell: { t: first + 1, s: 0 } });
  assert.equal(tokens.parts.length, askedWord(pieces).length);
  const one = { word: 'so', parts: ['so'], ids: [7] };
  assert.match(resultText(LANGUAGES.en, inEnglish.tokens, 'tokens', 0, one).of, /\*\*one\*\* token/);
  assert.equal(cameTrue(stepOf('tokens'), 0, { tokens: one }), 0);
});

test('each step and each part of step 8 has a dot and a link', () => {
  assert.deepEqual(
    DOTS.map((step) => [numberedStep(step) + 1, partOf(step)]),
    [1, 2, 3, 4, 5, 6, 7].map((n) => [n, 0]).concat([[8, 1]], [[8, 2]], [[9, 0]]),
  );
  assert.ok(isBefore(stepOf('cut'), stepOf('train')) && !isBefore(stepOf('train'), stepOf('cut')));
  assert.equal(linkTo(stepOf('cut')), 'panel=story&step=10');
  for (const { name } of STEPS) assert.deepEqual(readLink(linkTo(stepOf(name))), at(name));
});

test('the predictions that came true are counted over the whole story', () => {
  const step = stepOf('next');
  assert.equal(hasAnswered(step, {}), false);
  const log = predicted({ next: { p: 0.75 }, train: { opened: true } }, step, 0, 2);
  assert.equal(hasAnswered(step, log), true);
  assert.deepEqual(predictionsSoFar(log), { known: 1, right: 1 });
  assert.deepEqual(predictionsSoFar(predicted(log, step, 0, 1)), { known: 1, right: 0 });
  const trainedToo = predicted(log, stepOf('train'), 0, 1);
  assert.deepEqual(predictionsSoFar(trainedToo), { known: 1, right: 1 }, 'the model has not been trained yet');
});

test('an act is done when it was observed and predicted, and its result is compared with the prediction', () => {
  const step = stepOf('next');
  const run = runOf({ top: [{ id: 1, text: ' sea', now: 0.25 }] });
  const log = seen('next', at('next', { text: 'the old' }), { run });
  assert.deepEqual(actsDone(step, log), [false], 'nothing was predicted');
  assert.deepEqual(actsDone(step, predicted({}, step, 0, 2)), [false], 'nothing was done');
  assert.deepEqual(actsDone(step, predicted(log, step, 0, 2)), [true]);
  assert.deepEqual(
    [0.05, 0.25, 0.75].map((p) => cameTrue(step, 0, { next: { p } })),
    [0, 1, 2],
  );
});

test('step 3 is done at a token that looks far back, but not at the first one', () => {
  const T = 9;
  const pieces = Array.from({ length: T }, (_, i) => piece(' ', `t${i}`, i));
  const weights = new Float32Array(T * T);
  const look = (t, s, weight) => {
    weights.fill(0, t * T, (t + 1) * T);
    weights[t * T + s] = weight;
    weights[t * T + t] = 1 - weight;
    const run = { T, layer: 0, head: 0, weights, pieces, about: { layers: 1, heads: 1 } };
    return seen('back', at('back'), { run, cell: { t, s: 0 } });
  };
  for (const [t, s, weight] of [
    [8, 0, 0.9],
    [8, 3, 0.9],
    [8, 2, 0.4],
  ])
    assert.deepEqual(look(t, s, weight), {});
  const { back } = look(8, 2, 0.75);
  assert.deepEqual(back, { token: 't8', key: 't2', distance: 6, weight: 0.75, total: 1, all: T });
  assert.equal(cameTrue(stepOf('back'), 0, { back }), 2);
  assert.equal(cameTrue(stepOf('back'), 0, { back: { distance: 6, all: 17 } }), 1);
});

/** Returns a run in which the second token gives the first token this weight. */
const weighted = (weight, score, [q, k] = [2, 3]) => ({
  run: runOf({
    rows: { 1: [weight, 1 - weight] },
    values: {
      width: 2,
      scores: new Float32Array(16).fill(score),
      query: Float32Array.of(0, 0, -9, q, 0, 0, 0, 0),
      key: Float32Array.of(-9, k, 0, 0, 0, 0, 0, 0),
    },
  }),
  cell: { t: 1, s: 0 },
});

test('step 4 flips a number of the query, and compares the weight before and after', () => {
  const before = seen('why', at('why'), weighted(0.75, 6));
  assert.deepEqual(before.why.number, { index: 1, query: 2, key: 3, width: 2 }, 'a pair of two positive numbers');
  const trial = (value) => at('why', { trial: { '0.0.1.1': value } });
  const half = seen('why', trial(0.1), weighted(0.5, 3), before);
  assert.deepEqual(doneIn('why', half), [false, false], 'its sign is the same');
  assert.deepEqual(
    doneIn('why', seen('why', trial(-0.1), weighted(0.4, 3), half)),
    [true, false],
    'any place beyond 0',
  );
  const flipped = seen('why', trial(-2), weighted(0.375, 2), half);
  assert.deepEqual(doneIn('why', flipped), [true, false]);
  const { flipped: seenFlip } = flipped.why;
  assert.deepEqual([seenFlip.before.weight, seenFlip.to.weight, seenFlip.to.most], [0.75, 0.375, 0.625]);
  assert.equal(cameTrue(stepOf('why'), 0, flipped), 2);
  assert.equal(cameTrue(stepOf('why'), 0, seen('why', trial(-2), weighted(0.5, 2), half)), 1);
  const { of, values } = resultText(LANGUAGES.en, inEnglish.why, 'why', 0, flipped.why);
  assert.match(of, /\{from\} became \*\*\{to\}\*\*/);
  assert.doesNotMatch(of, /decides/, 'one pair may have decided');
  assert.deepEqual(values, { from: '0.75', to: '0.38', width: '2' });
});

test('step 4 compares the cell with the same cell at temperature 1', () => {
  const cold = at('why', { temperature: { '0.0': 3 } });
  assert.ok(!doneIn('why', seen('why', cold, weighted(0.5, 2)))[1], 'nothing to compare with');
  const before = seen('why', at('why'), weighted(0.75, 6));
  assert.ok(!doneIn('why', before)[1]);
  assert.ok(!doneIn('why', seen('why', at('why', { temperature: { '0.0': 1.5 } }), weighted(0.6, 4), before))[1]);
  const log = seen('why', cold, weighted(0.5, 2), before);
  assert.ok(doneIn('why', log)[1]);
  const { why } = log;
  assert.deepEqual(why.before, { score: 6, weight: 0.75, most: 0.75 });
  assert.deepEqual([why.to, why.temperature], [{ score: 2, weight: 0.5, most: 0.5 }, 3]);
  assert.equal(cameTrue(stepOf('why'), 1, log), 1);
  const small = seen('why', cold, weighted(0.375, 2), seen('why', at('why'), weighted(0.125, 6)));
  assert.equal(cameTrue(stepOf('why'), 1, small), 1, 'the weight grows, but the largest of the row falls');
});

test('a trial ends with its step, its text, its model and the story', () => {
  const state = at('why', { trial: { '4.2.13.29': -2.5 } });
  assert.deepEqual(change(state, { temperature: { 4.2: 2 }, cell: { t: 1, s: 0 } }).trial, state.trial);
  for (const patch of [{ step: 4 }, { text: 'so' }, { panel: 'reading' }, { model: 'opened-1' }])
    assert.deepEqual(change(state, patch).trial, {});
  assert.ok(!writeLink(state).includes('trial'));
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
  const textOf = (seen) => resultText(LANGUAGES.en, inEnglish.ahead, 'ahead', 0, seen).of;
  assert.match(textOf(ahead), /cheats/);
  assert.doesNotMatch(textOf({ ...ahead, meanTo: 0.1 }), /cheats/, 'the model may also become worse');
});

test('step 7 asks for two heads, in any order, and hides their roles until they are found', () => {
  const roles = [
    ['previous', null],
    ['itself', 'induction'],
  ];
  const roleWeights = [
    [0.9, null],
    [0.6, 0.7],
  ];
  const look = (layer, head, log) =>
    seen('many', at('many', { layer, head }), { run: runOf(), roles, roleWeights }, log);
  assert.deepEqual(look(0, 1), {});
  const one = look(1, 1);
  assert.deepEqual(doneIn('many', one), [false, true]);
  const step = stepOf('many');
  assert.deepEqual(
    ['previous', 'induction', 'itself'].map((role) => isRevealed(step, one, role)),
    [false, true, true],
  );
  const both = look(0, 0, one);
  assert.deepEqual(both.many.previous, { layer: 0, head: 0, score: 0.9, count: 1, heads: 4 });
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
  assert.deepEqual(doneIn('matter', fallen), [true, false, false]);
  assert.equal(cameTrue(step, 0, fallen), 2);
  assert.deepEqual([fallen.matter.fell.from, fallen.matter.fell.to], [0.86, 0.01]);
  const same = without('0.1', 0.853, fallen);
  assert.deepEqual(costsOf(step, same), { 1.1: -85, 0.1: -1 });
  assert.ok(!isDone('matter', same), 'one head is not enough: another is needed as well');
  const both = without('0.0', 0.02, same);
  assert.equal(both.matter.too.place, '0.0');
  assert.equal(cameTrue(step, 1, both), 1);
  assert.ok(isDone('matter', both));
  // Effects that were measured on another text are discarded.
  const other = seen('matter', at('matter', { text: 'another' }), answer(0.5), same);
  assert.deepEqual(costsOf(step, other), {});
  const two = at('matter', { token: 5, layer: 0, head: 1, scale: { 1.1: 0, 0.1: 0 } });
  assert.deepEqual(corrections(two, base), { scale: { 0.1: 0 } });
  assert.deepEqual(corrections(at('matter', { scale: { 1.1: 0 } }), base), { token: 5 });
  assert.equal(corrections(at('matter'), base), null);
  assert.equal(corrections(at('back', { scale: { 1.1: 0, 0.1: 0 } }), base), null);
});

test('the second half of step 8 compares the run before and after the cut of the line', () => {
  const step = stepOf('cut');
  assert.deepEqual(neighbours(step), { before: stepOf('matter'), after: stepOf('train') });
  const answer = (weight, p) => ({
    run: runOf({
      rows: { 3: [weight, 1 - weight, 0, 0] },
      top: [{ id: 5, text: ' I', now: p }],
      chosen: { id: 5, text: ' I' },
    }),
    cell: { t: 3, s: 0 },
  });
  const cut = at('cut', { trial: { '3.3-4.2': 0 } });
  assert.ok(!isDone('cut', seen('cut', cut, answer(0.1, 0.1))), 'nothing to compare with');
  const before = seen('cut', at('cut'), answer(0.75, 0.9));
  assert.ok(!isDone('cut', before));
  assert.deepEqual(seen('cut', at('cut', { scale: { 4.2: 0 } }), answer(0.1, 0.1)), {}, 'another change');
  const after = seen('cut', cut, answer(0.125, 0.05), before);
  assert.ok(isDone('cut', after));
  assert.deepEqual(after.cut.after, { weight: 0.125, p: 0.05 });
  assert.equal(cameTrue(step, 0, after), 1);
  assert.equal(cameTrue(step, 0, seen('cut', cut, answer(0.75, 0.05), before)), 2);
  assert.equal(cameTrue(step, 0, seen('cut', cut, answer(0.75, 0.9), before)), 0);
});

test('step 9 is done when training was opened, and says how often the model is right then', () => {
  assert.ok(!isDone('train', {}));
  assert.ok(isDone('train', opened({})));
  assert.equal(
    resultText(LANGUAGES.en, inEnglish.train, 'train', 0, opened({}).train).of,
    inEnglish.train.acts[0].other,
  );
  const log = trained(opened({}), { steps: 300, right: 0.5 });
  assert.equal(cameTrue(stepOf('train'), 0, log), 1);
  const { values } = resultText(LANGUAGES.en, inEnglish.train, 'train', 0, log.train);
  assert.deepEqual(values, { steps: '300', right: '50.0%' });
  for (const [right, text] of [
    [0.999, '99.9%'],
    [0.99999, '99.9%'],
    [1, '100.0%'],
  ])
    assert.equal(resultText(LANGUAGES.en, inEnglish.train, 'train', 0, { steps: 300, right }).values.right, text);
});
