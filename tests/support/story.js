// Runs the story of the page from the first to the last step, with any input method. Its numbers are those displayed on
// the page.

import assert from 'node:assert/strict';
import { GUESS, NAMES } from './opening.js';
import { assertAccessible, assertNoSidewaysScroll, page } from './page.js';

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
const percentOf = async (token) =>
  page.evaluate(
    (name) =>
      [...part('.prediction').querySelectorAll('.option')]
        .find((li) => li.querySelector('.token').textContent === name)
        ?.querySelector('b').textContent,
    token,
  );

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
    await begun(step + 1);
  };
  // On a phone a step may show no picture: then the switch is in the list of changes.
  const turnOff = async () => {
    if (await page.locator('.corner .switch').isVisible()) return hand.press('.corner .switch');
    await hand.unfold();
    await hand.press('.settings .choice button:last-of-type');
    await hand.fold();
  };
  await hand.enter('story');
  await begun(1);

  await hand.write(' whale');
  await seen();
  assert.ok((await textOf('.seen')).includes(await textOf('.prediction .option:first-child .token')));
  await next(1);

  await hand.among('.tokens button', 7);
  await seen(1, /grapple.*3.*gr · ap · ple.*\d+ · \d+ · \d+/);
  await next(2);

  await hand.read(0, 0);
  await seen(1, new RegExp(`${NAMES[0]}.*1\\.00`));
  await next(3);

  const before = await textOf('[data-name=story-weight]');
  await hand.slide('.whatif input');
  await seen();
  const after = await textOf('[data-name=story-weight]');
  assert.ok((await textOf('.seen')).includes(before) && (await textOf('.seen')).includes(after));
  assert.ok(Number(after) < Number(before) / 2);
  await next(4);

  const first = await textOf('[data-name=head-adds]');
  await hand.among('.prediction .option', 1);
  await seen();
  const second = await textOf('[data-name=head-adds]');
  assert.notEqual(first, second);
  assert.ok((await textOf('.seen')).includes(first) && (await textOf('.seen')).includes(second));
  await next(5);

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
  await hand.head(3, 3);
  await seen(1);
  await hand.head(4, 2);
  await seen(2);
  await next(7);

  const whole = await percentOf(GUESS);
  await turnOff();
  await seen(1);
  const fallen = await percentOf(GUESS);
  assert.ok((await textOf('.seen')).includes(whole) && (await textOf('.seen')).includes(fallen));
  assert.match(await textOf("[data-head='4.2'] .role-name"), /^−[89]\d$/);
  await hand.head(3, 3);
  await turnOff();
  await seen(2);
  assert.match(await textOf("[data-head='3.3'] .role-name"), /^−[6-9]\d$/);
  await hand.head(1, 2);
  await turnOff();
  await seen(3);
  assert.equal(await textOf("[data-head='1.2'] .role-name"), '0');
  assert.equal(await page.locator('.thumbnail.off').count(), 1, 'one head at a time');
  await next(8);

  await hand.press('.act');
  await page.waitForFunction(() => !part('.story'));
  await page.waitForFunction(() => /panel=train/.test(location.hash));
  await hand.enter('story');
  await stepIs(9);
  await seen();
  await looksRight(9, true);
  await hand.press('.steps > button:last-of-type');
  await page.waitForFunction(() => !part('.story'));
}

/** Checks that axe finds no fault and that the button to continue is visible. */
async function looksRight(step, isDone) {
  if (isDone || step === 1) await assertAccessible();
  await assertNoSidewaysScroll(`step ${step}`);
  const [bottom, height] = await page.evaluate(() =>
    ['.steps', '.right'].map((selector) => part(selector)?.getBoundingClientRect().bottom),
  );
  if (height) assert.ok(bottom <= height + 1, `step ${step}: the Next button ends at ${bottom} of ${height}`);
}
