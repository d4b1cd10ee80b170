// Tests the ready-made pairs of sentences that suit a tokenizer, answers as tokens, measures, and settings in the
// address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { idsOfAnswer, measuresOf, problemOf } from '../../../../web/model/trace/measures.ts';
import { isTrace, readTrace, TASKS, usualTrace, writeTrace } from '../../../../web/model/trace/settings.ts';
import { fittingTasks } from '../../../../web/model/trace/tasks.ts';

/**
 * Returns a tokenizer with one token for each word and for each pair of digits. The words in `split` have two tokens.
 */
function wordsOf({ split = [], digits = 2, mask = null } = {}) {
  const ids = new Map();
  const texts = [];
  const idOf = (token) => {
    if (!ids.has(token)) ids.set(token, texts.push(token) - 1);
    return ids.get(token);
  };
  const pieces = new RegExp(`\\[MASK\\]| ?\\d{1,${digits}}| ?[a-z]+|.`, 'gi');
  const encode = (text) =>
    [...text.matchAll(pieces)].flatMap(([token]) =>
      split.includes(token.trim()) ? [idOf(token.slice(0, 2)), idOf(token.slice(2))] : [idOf(token)],
    );
  return { encode, decode: (id) => texts[id], idOf: (token) => (ids.has(token) ? ids.get(token) : undefined), mask };
}
const countsOf = (words) => Object.fromEntries(fittingTasks(words).map(({ name, pairs }) => [name, pairs.length]));

test('all five tasks fit a tokenizer of words and of two digits, each with several pairs', () => {
  const tasks = fittingTasks(wordsOf());
  assert.deepEqual(
    tasks.map(({ name }) => name),
    TASKS,
  );
  for (const { name, pairs } of tasks) {
    assert.ok(pairs.length >= 8, name);
    const words = wordsOf();
    for (const { upper, lower, answers } of pairs) {
      assert.notEqual(upper, lower);
      assert.equal(words.encode(upper).length, words.encode(lower).length, upper);
      for (const answer of answers) assert.ok(idsOfAnswer(words, upper, answer).length > 0, `${upper}: ${answer}`);
      const [a, b] = answers.map((answer) => idsOfAnswer(words, lower, answer));
      assert.ok(!a.some((id) => b.includes(id)), upper);
    }
  }
});

test('a sentence about a war ends with the century in which it began', () => {
  const { pairs } = fittingTasks(wordsOf()).find(({ name }) => name === 'greater');
  for (const { upper, lower } of pairs)
    for (const sentence of [upper, lower]) assert.match(sentence, /from the year (\d\d)\d\d to the year \1$/);
});

test('pairs with a word of two tokens are left out, and a task without pairs does not fit', () => {
  const all = countsOf(wordsOf());
  assert.equal(countsOf(wordsOf({ split: ['Mary'] })).indirect, all.indirect - 1);
  assert.equal(countsOf(wordsOf({ digits: 1 })).greater, 0);
  assert.equal(countsOf(wordsOf({ split: ['he'] })).gender, 0);
  // A pair in which one sentence is longer is not counted, because it cannot be averaged with the other pairs.
  assert.equal(countsOf(wordsOf({ split: ['keys'] })).agreement, all.agreement - 2);
});

test('a model that fills gaps has the mask in the place of the answer', () => {
  const words = wordsOf({ mask: '[MASK]' });
  words.encode('she he');
  for (const word of ['she', 'he']) words.encode(word);
  const { pairs } = fittingTasks(words).find(({ name }) => name === 'gender');
  assert.match(pairs[0].upper, / \[MASK\]\.$/);
});

test('an answer is a word with its space, a number, or a range of numbers', () => {
  const words = wordsOf();
  const text = 'to the year 17';
  assert.deepEqual(idsOfAnswer(words, 'to the', 'shop').map(words.decode), [' shop']);
  assert.deepEqual(idsOfAnswer(words, text, '33').map(words.decode), ['33']);
  assert.deepEqual(idsOfAnswer(words, text, '08–11').map(words.decode), ['08', '09', '10', '11']);
  assert.deepEqual(idsOfAnswer(wordsOf({ split: ['shop'] }), 'to the', 'shop'), []);
});

test('measures of a row of logits', () => {
  const row = [1, 3, 2, 0.5];
  const total = row.reduce((sum, x) => sum + Math.exp(x), 0);
  const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a}, not ${b}`);
  const one = measuresOf(row, [[1], [2]]);
  close(one.score, 1);
  close(one.probability, Math.exp(3) / total);
  close(one.log, Math.log(one.probability));
  close(one.both[1], Math.exp(2) / total);
  close(measuresOf(row, [[1, 2], [0]]).probability, (Math.exp(3) + Math.exp(2)) / total);
});

test('runs with the same answer, or with close measures, cannot be compared', () => {
  const run = (score, value = score) => ({ score, value });
  assert.equal(problemOf(run(3), run(-3)), null);
  assert.equal(problemOf(run(3), run(1)), 'sameAnswer');
  assert.equal(problemOf(run(0.04), run(-0.04)), 'close');
  assert.equal(problemOf(run(1, 0.2), run(-1, 0.15)), 'close');
});

test('settings are written into the address and read back', () => {
  for (const settings of [
    usualTrace,
    { task: 'indirect', pair: -1, by: 'log', answers: ['Mary', 'John'] },
    { task: 'own', pair: 0, by: 'score', answers: ['a.b,%', '’'] },
  ]) {
    assert.ok(isTrace(settings));
    assert.deepEqual(readTrace(writeTrace(settings)), settings);
  }
  for (const wrong of ['', 'own', 'x.0.score', 'own.-2.score', 'own.0.size', 'own.0.score.a', 'own.0.score.%E0.b'])
    assert.equal(isTrace(readTrace(wrong)), false, wrong);
});
