// Tests the questions before and after the story: which actions answer them, and what is recorded and stored.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ASKED_TOKEN,
  answered,
  observeQuiz,
  plainResult,
  readAnswers,
  START,
  writeAnswers,
} from '../../../../web/features/story/questions.ts';
import { quiz as texts } from '../../../../web/features/story/quiz.en.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { beginning, isRevealed, STEPS, shownParts } from '../../../../web/model/storySteps.ts';
import { NAMES, TOKENS } from '../../../support/opening.js';

const STEP = STEPS.findIndex(({ name }) => name === 'before');
const at = (patch = {}) => change(change(initialState, beginning(STEP)), patch);
const weights = new Float32Array(20 * TOKENS * TOKENS);
for (let t = 0; t < TOKENS; t++) weights[(18 * TOKENS + t) * TOKENS + (t === ASKED_TOKEN ? 3 : t)] = 1;
const answers = (top = 7) => ({
  run: {
    T: TOKENS,
    layer: 4,
    head: 2,
    weights,
    about: { layers: 5, heads: 4 },
    pieces: NAMES.map((name) => ({ name })),
    top: [{ id: top, text: top === 7 ? ' mate' : ' time', now: 0.9 }],
  },
  cell: null,
  roles: Array.from({ length: 5 }, (_, l) =>
    Array.from({ length: 4 }, (_, h) => (l === 3 && h === 3 ? 'previous' : null)),
  ),
});
const after = (count) => ({
  ...START,
  answers: Array(count).fill({ question: 'most', what: null, right: false, tries: [] }),
});
const look = (quiz, patch, top) => observeQuiz(quiz, at(patch), answers(top));

test('the first question is about the place that a token looks at most; other places are noted', () => {
  let quiz = look(undefined, {});
  assert.deepEqual([quiz.now, quiz.tries], [null, []], 'nothing was done');
  quiz = look(quiz, { cell: { t: 5, s: 3 } });
  quiz = look(quiz, { cell: { t: ASKED_TOKEN, s: 4 } });
  assert.equal(quiz.now.right, false);
  quiz = look(quiz, { cell: { t: ASKED_TOKEN, s: 3 } });
  assert.deepEqual(quiz.now, { what: 'the₁₂ → first₃', right: true });
  assert.deepEqual(quiz.tries, ['cried₅ → first₃', 'the₁₂ → mate₄', 'the₁₂ → first₃']);
  assert.equal(look(quiz, { cell: { t: 5, s: 3 } }).tries.length, 3, 'each is noted once');
  const next = answered(quiz, quiz.now);
  assert.deepEqual(next.answers, [{ question: 'most', what: 'the₁₂ → first₃', right: true, tries: quiz.tries }]);
  assert.deepEqual(next.tries, []);
});

test('the second is answered by a head that looks one token back', () => {
  const wrong = look(after(1), { layer: 1, head: 2 });
  assert.deepEqual(wrong.now, { what: '1.2', right: false });
  assert.deepEqual(look(wrong, { layer: 3, head: 3 }).now, { what: '3.3', right: true });
});

test('the third is answered by any change of the model after which the guess is another one', () => {
  const base = look(after(2), {});
  assert.equal(base.now, null);
  assert.deepEqual(look(base, { temperature: { all: 2 } }).now, { what: 'all T = 2 → mate', right: false });
  assert.deepEqual(look(base, { scale: { 4.2: 0 } }, 9).now, { what: '4.2 × 0 → time', right: true });
  assert.equal(look(base, { text: 'At sea' }, 9).now.right, false, 'the text was changed');
});

test('no role is named during the questions, and a phone shows what a question needs', () => {
  assert.equal(isRevealed(STEP, {}, 'previous'), false);
  assert.deepEqual(shownParts(STEP, {}), ['quiz', 'picture']);
  assert.deepEqual(shownParts(STEP, { before: after(1) }), ['quiz', 'model']);
  assert.deepEqual(shownParts(STEP, { before: after(3) }), ['quiz']);
});

test('answers are stored with a version; damaged ones and those of another version are ignored', () => {
  const stored = { before: [{ question: 'most', what: null, right: false, tries: ['a₁ → b₀'] }], after: [] };
  assert.deepEqual(readAnswers(writeAnswers(stored)), stored);
  const none = { before: [], after: [] };
  for (const text of [
    undefined,
    '{',
    'null',
    writeAnswers(stored).replace('"version":1', '"version":2'),
    writeAnswers(stored).replace('most', 'least'),
    writeAnswers(stored).replace('["a₁ → b₀"]', '[1]'),
  ])
    assert.deepEqual(readAnswers(text), none, text);
});

test('the result as text has both answers of each question with their marks, and what was tried', () => {
  const stored = {
    before: [{ question: 'most', what: 'a₁ → b₀', right: false, tries: ['a₁ → b₀', 'c₂ → b₀'] }],
    after: [{ question: 'most', what: 'the₁₂ → first₃', right: true, tries: [] }],
  };
  const text = plainResult(texts, stored, ['Predictions: 7 of 11']);
  const lines = text.split('\n');
  assert.match(lines[1], /^1\. .*second the looks/);
  assert.equal(lines[2], '   before: ✗ another place (a₁ → b₀) tried: a₁ → b₀; c₂ → b₀');
  assert.equal(lines[3], '   after: ✓ what it looks at most (the₁₂ → first₃)');
  assert.equal(lines[5], '   before: – no answer');
  assert.deepEqual(lines.slice(-4), ['before: 0 of 3 right', 'after: 1 of 3 right', 'Predictions: 7 of 11', '']);
});
