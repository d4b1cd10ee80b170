// Runs the story of the page from the first to the last step, with any input method. The expected numbers are those
// displayed on the page.

import assert from 'node:assert/strict';
import { FROM, GUESS, LAST, NAMES } from './opening.js';
import { assertAccessible, assertNoSidewaysScroll, page } from './page.js';
import { inTier } from './tier.js';

export const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
export const stepIs = (step) => page.waitForFunction((n) => part('.story')?.dataset.step === String(n), step);
const textOf = async (selector) => (await page.locator(selector).allTextContents()).join(' ');
/** Waits until this number of tasks of the step show a result, with a text that matches. */
const seen = async (tasks = 1, wanted = /./) => {
  await page.waitForFunction(
    ([n, source]) => {
      const all = [...part('.story').querySelectorAll('.seen')].map(({ textContent }) => textContent);
      return all.length >= n && new RegExp(source).test(all.join(' '));
    },
    /** @type {const} */ ([tasks, wanted.source]),
  );
  await settled();
};
/** Returns a probability of the list as sentences write it. */
const inSentence = (percent) => {
  const number = percent.startsWith('<') ? 0 : Number.parseFloat(percent);
  return number < 0.5 ? '<1%' : `${Math.round(number)}%`;
};
const percentOf = async (token) =>
  page.evaluate(
    (name) =>
      [...part('.prediction').querySelectorAll('.option')]
        .find((li) => li.querySelector('.token').textContent === name)
        ?.querySelector('b').textContent,
    token,
  );

/**
 * The steps in their order, by their numbers in the address. The questions before and after the story, and the second
 * half of step 8, have numbers that differ from their position in the order.
 */
const [BEFORE, AFTER, CUT] = [11, 12, 10];
const ROUTE = [BEFORE, 1, 2, 3, 4, 5, 6, 7, 8, CUT, 9, AFTER];

/** Inspects every step at its beginning and at its end. */
export async function follow(hand) {
  const begun = async (step) => {
    await stepIs(step);
    await settled();
    await looksRight(step, false);
  };
  const next = async (step) => {
    await looksRight(step, true);
    await hand.press('.steps > button:last-of-type');
    await begun(ROUTE[ROUTE.indexOf(step) + 1]);
  };
  /** Chooses an answer as a prediction, and waits until the step shows the next action. */
  const predict = async (i) => {
    assert.equal(await page.locator('.do').count(), 0, 'first a prediction, then an action');
    const choice = await page.locator('.answer > span').nth(i).textContent();
    await hand.choose('.answer', i);
    await page.waitForFunction(
      (text) => part('.answer:has(:checked) > span')?.textContent === text && part('.do'),
      choice,
    );
  };
  const marks = async () => (await page.locator('.answer:has(:checked) small').allTextContents()).join('');
  // Switches the head off. On a phone, a step may show no picture; the switch is then in the task.
  const turnOff = () => hand.press('.corner .switch, .story .switch');
  await hand.enter('story');
  await begun(BEFORE);
  await answerQuiz(hand, turnOff, false);
  await next(BEFORE);

  await predict(1);
  await hand.write(' whale');
  await seen();
  assert.ok((await textOf('.seen')).includes(await textOf('.prediction .option:first-child .token')));
  assert.match(await marks(), /^[✓✗]/, 'the prediction is marked right or wrong');
  await next(1);

  await predict(0);
  await hand.among('.tokens button', 7);
  await seen(1, /stricken.*3.*str · ick · en.*\d+ · \d+ · \d+/);
  assert.match(await marks(), /^✗/, 'the wrong prediction is marked');
  assert.equal(await page.locator('.answer.came small').count(), 1, 'three tokens are marked');
  await next(2);

  await predict(2);
  await hand.read(LAST, FROM);
  await seen(1, new RegExp(`${NAMES[LAST]}.*${GUESS}.*${LAST - FROM}`));
  await next(3);

  await flipAndHeat(hand, predict);
  await next(4);

  await predict(1);
  const first = await textOf('[data-name=head-adds]');
  await hand.among('.prediction .option', 1);
  await seen();
  const second = await textOf('[data-name=head-adds]');
  assert.notEqual(first, second);
  assert.ok((await textOf('.seen')).includes(first) && (await textOf('.seen')).includes(second));
  await next(5);

  await predict(2);
  await hand.unfold();
  await hand.pick('.settings .menu > button', '.settings [data-key=none]');
  await hand.fold();
  await seen(1, /\d%/);
  await next(6);

  assert.equal(
    (await textOf('.role-name')).match(/induction|previous|归纳|前一个/),
    null,
    'no name before it is found',
  );
  await predict(1);
  await hand.head(3, 3);
  await seen(1);
  await hand.head(4, 2);
  await seen(2);
  await next(7);

  await switchOff(hand, predict, turnOff);
  await next(8);

  await predict(1);
  const before = await percentOf(GUESS);
  await hand.press('.cut-line .switch');
  await seen(1, /0\.\d\d.*0\.\d\d.*\d%.*\d%/);
  const cut = inSentence(await percentOf(GUESS));
  assert.ok((await textOf('.seen')).includes(before) && (await textOf('.seen')).includes(cut));
  assert.equal(await page.locator('.thumbnail.off').count(), 0, 'both heads are on');
  await next(CUT);

  await predict(1);
  await hand.press('.act');
  await page.waitForFunction(() => !part('.story'));
  await page.waitForFunction(() => /panel=train/.test(location.hash));
  await hand.enter('story');
  await stepIs(9);
  await seen();
  await next(9);

  await answerQuiz(hand, turnOff, true);
  await page.waitForFunction(() => part('.quiz-results'));
  await looksRight(AFTER, true);
  await hand.press('.steps > button:last-of-type');
  await page.waitForFunction(() => !part('.story'));
}

/** Does step 4: flips the sign of one component of the query, then raises the temperature. */
async function flipAndHeat(hand, predict) {
  const weight = () => textOf('[data-name=story-weight]');
  assert.ok(await page.locator('.pair-area input').isDisabled(), 'first a prediction, then the knob');
  const before = await weight();
  await predict(1);
  await hand.slideBack('.pair-area input');
  await seen(1, new RegExp(before.replace('.', '\\.')));
  const flipped = await weight();
  assert.ok((await textOf('.seen')).includes(flipped) && Number(flipped) < Number(before) - 0.1);
  await predict(1);
  await hand.slide('.whatif input');
  await seen(2);
  const after = await weight();
  assert.ok((await textOf('.seen')).includes(after) && Number(after) < Number(flipped) / 2);
}

/**
 * Does step 8: switches off a head that the prediction needs, then a second head that it needs, then a head that it
 * does not need.
 */
async function switchOff(hand, predict, turnOff) {
  const whole = await percentOf(GUESS);
  await predict(2);
  await turnOff();
  await seen(1);
  const fallen = await percentOf(GUESS);
  assert.ok((await textOf('.seen')).includes(whole) && (await textOf('.seen')).includes(inSentence(fallen)));
  assert.match(await textOf("[data-head='4.2'] .role-name"), /^−[89]\d$/);
  await predict(1);
  await hand.head(3, 3);
  await turnOff();
  await seen(2);
  assert.match(await textOf("[data-head='3.3'] .role-name"), /^−[6-9]\d$/);
  await hand.head(1, 2);
  await turnOff();
  await seen(3);
  assert.match(await textOf("[data-head='1.2'] .role-name"), /^(0|[−+][1-3])$/);
  assert.equal(await page.locator('.thumbnail.off').count(), 1, 'one head at a time');
}

/** Answers the three questions. The first time (isRight is false), one is skipped and one is answered wrongly. */
async function answerQuiz(hand, turnOff, isRight) {
  const confirm = async (wanted) => {
    await page.waitForFunction((text) => part('.current')?.textContent.includes(text), wanted);
    await hand.press('.quiz-buttons .go');
    await settled();
  };
  if (isRight) {
    await hand.keep(12, 3);
    await confirm('₃');
  } else await hand.press('.quiz-buttons .word');
  await hand.head(1, 2);
  await page.waitForFunction(() => part('.current')?.textContent.includes('1.2'));
  if (isRight) await hand.head(3, 3);
  await confirm(isRight ? '3.3' : '1.2');
  await turnOff();
  await confirm('4.2 × 0');
}

/**
 * Returns true if axe runs: at the end of each step and at the beginning of two steps. In the default tier it runs only
 * at the end of step 4.
 */
const isForAxe = (step, isDone) => inTier(isDone || step === 1 || step === 4, isDone && step === 4);

/** Checks a step: axe finds no fault, and the button to continue is visible. */
async function looksRight(step, isDone) {
  if (isForAxe(step, isDone)) await assertAccessible();
  await assertNoSidewaysScroll(`step ${step}`);
  const [bottom, height] = await page.evaluate(() =>
    ['.steps', '.right'].map((selector) => part(selector)?.getBoundingClientRect().bottom),
  );
  if (height) assert.ok(bottom <= height + 1, `step ${step}: the Next button ends at ${bottom} of ${height}`);
}
