// Tests training the demo model further on a paragraph, with the mouse and with the keyboard.

import assert from 'node:assert/strict';
import test from 'node:test';
import { byChange, figureOf, likelierFirst, perToken } from '../../../../web/features/train/changes.ts';
import { faults, openEmpty, page, server } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const PARAGRAPH = 'The letters came on Monday, and nobody read them. On Tuesday the postman sang about rivers.';
const NAME = 'Moby, on your own text';

const steps = (least) => page.waitForFunction((n) => Number(part('.time input')?.value) >= n, least);
const likelihood = () =>
  page.evaluate(() =>
    [...part('.likelihood tbody').querySelectorAll('td')].map((td) => Number.parseFloat(td.textContent)),
  );
const isTested = (text) => page.waitForFunction((text) => part('.probe .words')?.textContent.startsWith(text), text);
const isBeside = (head) =>
  page.waitForFunction(
    (head) =>
      part('.compare')?.querySelectorAll('.matrix').length === 2 &&
      part('.head-changes [aria-pressed=true]').dataset.head === head,
    head,
  );
/** Records each state of the table of likelihoods in which the numbers of step 0 differ from those before training. */
const watchLikelihood = () =>
  page.evaluate(() => {
    window.mislabelled = [];
    const table = part('.likelihood');
    new MutationObserver(() => {
      const [, step] = [...table.querySelectorAll('th[scope=col]')].map((th) => th.textContent);
      const [before, now] = [...table.querySelectorAll('tbody td')].map((td) => td.textContent);
      if (/\b0$/.test(step) && before !== now) window.mislabelled.push(`${step}: ${before}, ${now}`);
    }).observe(table, { subtree: true, childList: true, characterData: true });
  });
async function openTraining() {
  await openEmpty({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}#panel=train&training=repeat.1.2.16.1.0.003`);
  await page.waitForFunction(() => part('.letter') && part('.time input'));
}

test('with the mouse: the demo model is trained on a paragraph, and a head is shown before and now', async () => {
  await openTraining();
  await page.getByRole('button', { name: NAME }).click();
  await page.waitForFunction(() => part('.head-changes'));
  // Training begins with the text that the page includes.
  await page.locator('.play').click();
  await page.getByRole('textbox', { name: 'The text to learn' }).fill(PARAGRAPH);
  await page.getByRole('button', { name: 'Learn this' }).click();
  await isTested('The');
  // After twelve steps the change of the likelihood is larger than the last digit that is shown.
  await steps(12);
  if (await page.evaluate(() => Boolean(part('.play path:not(.full)')))) await page.locator('.play').click();
  await page.waitForFunction(() => part('.most-changed'));
  const [before, now] = await likelihood();
  assert.ok(before > 0 && now > 0);
  assert.match(await page.locator('.own').textContent(), /Too short to hold a part out for testing/);
  // Steps that are unfinished when training is paused may change the list, so the button is read and pressed at the
  // same time.
  const pressed = await page.evaluate(() => {
    const button = part('.most-changed button');
    button.click();
    return button.querySelector('b').textContent;
  });
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 2);
  const chosen = await page.evaluate(() => part('.head-changes [aria-pressed=true]').dataset.head);
  assert.equal(chosen, pressed);
  assert.equal(await page.locator('.head-changes [aria-pressed=true]').count(), 1);
  assert.equal(await page.locator('.head-changes [tabindex="0"]').count(), 1);
  assert.deepEqual(await page.locator('.heading h2').allTextContents(), ['Now', 'Before']);
  // Going back to the beginning removes all changes.
  await watchLikelihood();
  await page.locator('.time input').fill('0');
  await page.waitForFunction(() => !part('.most-changed'));
  const [same, again] = await likelihood();
  assert.deepEqual([same, again], [before, before]);
  assert.deepEqual(await page.evaluate(() => window.mislabelled), [], 'figures of another step below “step 0”');
  await page.getByRole('button', { name: 'View: Side by side' }).click();
  await page.getByRole('menuitemradio', { name: 'Heatmap' }).click();
  await page.waitForFunction(() => !part('.compare'));
  assert.deepEqual(faults, []);
});

fullTest('with the keyboard: a task, a text, single steps, and the next head in the grid', async () => {
  await openTraining();
  const press = async (role, name, key = 'Enter') => {
    await page.getByRole(role, { name, exact: true }).focus();
    await page.keyboard.press(key);
  };
  await press('button', NAME);
  await page.waitForFunction(() => part('.head-changes'));
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await press('button', 'Pause');
  await page.getByRole('textbox', { name: 'The text to learn' }).focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(PARAGRAPH);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await isTested('The');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await press('button', 'Pause');
  await press('button', 'One step');
  await page.waitForFunction(() => part('.most-changed'));
  const chosen = () => page.evaluate(() => part('.head-changes [aria-pressed=true]').dataset.head);
  const [layer, head] = (await chosen()).split('.').map(Number);
  await page.locator('.head-changes [tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await isBeside(`${layer - 1}.${head}`);
  await page.keyboard.press('ArrowLeft');
  await isBeside(`${layer - 1}.${head === 0 ? 0 : head - 1}`);
  assert.equal(await page.evaluate(() => part('.head-changes [aria-pressed=true]').matches(':focus')), true);
  assert.deepEqual(faults, []);
});

test('heads and tokens come in the order of their change; small changes have no figure', () => {
  assert.deepEqual(
    byChange([
      [0.1, 0.3],
      [0.2, 0],
    ]).map(({ layer, head }) => `${layer}.${head}`),
    ['0.1', '1.0', '0.0', '1.1'],
  );
  assert.deepEqual([0.623, 0.094, 1].map(figureOf), ['.62', '', '1.00']);
  assert.deepEqual(perToken(Math.log(4)), { likely: 0.25, bits: 2 });
  assert.deepEqual(
    likelierFirst([
      [0.5, 0.6],
      [0.1, 0.01],
      [0.1, 0.4],
    ]).map(({ t }) => t),
    [2, 3, 1],
  );
});
