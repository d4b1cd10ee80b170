// Tests leaving the story and opening it by its address, in Chromium. tasks.test.js follows the story to its end.

import assert from 'node:assert/strict';
import test from 'node:test';
import { PHONE, SCREEN } from '../../../support/hands.js';
import { openAt, openEmpty, page, server } from '../../../support/page.js';
import { settled, stepIs } from '../../../support/story.js';
import { fullTest } from '../../../support/tier.js';

async function start(hash = '') {
  await openAt(hash);
  await settled();
}

test('the story can be left at any step and continued; a step can be undone; the address keeps it', async () => {
  await start();
  await page.click('.story-word');
  await page.click('.steps li:nth-child(3) button');
  await stepIs(3);
  assert.equal(await page.evaluate(() => part('h2:focus')?.id), 'story-title', 'the title has the focus');
  await page.click('.story-word');
  await page.waitForFunction(() => part('.reading'));
  await page.click('.story-word');
  await stepIs(3);
  await page.click('.steps li:nth-child(4) button');
  await stepIs(4);
  await page.evaluate(() => part('h2:focus').blur());
  await page.keyboard.press('Control+z');
  await stepIs(3);
  await page.waitForFunction(() => /step=3/.test(location.hash));
  await page.reload();
  await stepIs(3);
  await settled();
});

test('step 4: the row changes while the knob is dragged, and the result is shown once it is released', async () => {
  await start('panel=story&step=4');
  await page.locator('.answer').nth(1).click();
  const { x, y, width } = await page.locator('.pair-area input').boundingBox();
  const at = (share) => [x + 11 + share * (width - 22), y + 22];
  const weight = () => page.locator('[data-name=story-weight]').textContent();
  const first = await weight();
  await page.mouse.move(...at(0.9));
  await page.mouse.down();
  await page.mouse.move(...at(0.5));
  await page.waitForFunction((before) => part('[data-name=story-weight]').textContent !== before, first);
  const half = await weight();
  await page.mouse.move(...at(0.1), { steps: 4 });
  await page.waitForFunction((before) => part('[data-name=story-weight]').textContent !== before, half);
  await settled();
  assert.equal(await page.locator('.seen').count(), 0, 'the knob is still held');
  assert.match(await page.locator('.times').textContent(), /^−.* = −/);
  assert.equal(await page.locator('.pair-area .below-zero').count(), 1, 'below zero the area is an outline');
  await page.mouse.up();
  await page.locator('.seen').waitFor();
  assert.match(await page.locator('.seen').textContent(), new RegExp(`${first} became ${await weight()}`));
  assert.match(await page.locator('.said').textContent(), /stays the largest/);
  await page.locator('.steps > button:last-of-type').click();
  await stepIs(5);
  await settled();
  await page.locator('.steps > .word').click();
  await stepIs(4);
  await settled();
  assert.equal(await weight(), first, 'the trial has ended with the step');
});

const LAPTOP = { viewport: { width: 1366, height: 657 } };
const boxOf = (selector) => page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());

test('after an answer the explanation is gone, and the task with its button is above the dots', async () => {
  for (const screen of [SCREEN, LAPTOP]) {
    await openAt('panel=story&step=9', { ...screen, fresh: true });
    await settled();
    assert.equal(await page.locator('.story > p:not(.story-of, .free)').count(), 1);
    await page.locator('.answer').nth(1).click();
    await page.locator('.act').waitFor();
    assert.equal(await page.locator('.story > p:not(.story-of)').count(), 0);
    const [task, button, steps] = [await boxOf('.story .do'), await boxOf('.act'), await boxOf('.steps')];
    assert.ok(task.top > 0 && button.bottom <= steps.top, `${button.bottom} of ${steps.top}`);
  }
});

fullTest('on a phone, step 8 shows the switch of the head in its task, in sight after the answer', async () => {
  await openAt('panel=story&step=8', PHONE);
  await settled();
  await page.locator('.answer').nth(1).click();
  const head = page.locator('.story .do .switch');
  await head.waitFor();
  assert.equal(await page.locator('.answer').count(), 1, 'only the chosen answer is left');
  const [{ top, bottom }, line] = [await boxOf('.story .do .switch'), await boxOf('.whatif')];
  assert.ok(top > 0 && bottom <= line.top, `${top} to ${bottom}, of ${line.top}`);
  await page.locator('.answer').click();
  assert.equal(await page.locator('.answer').count(), 3, 'the answer can be changed');
  await page.locator('.answer').nth(2).click();
  await page.waitForFunction(() => part('.answer:has(:checked)')?.textContent.includes('almost nothing'));
  await head.click();
  await page.locator('.story .seen').waitFor();
  assert.match(await page.locator('.story .said').textContent(), /^[✓✗] Your prediction/);
});

fullTest(
  'a step has a visible link to it, which is copied; step 8 has a second part with a dot of its own',
  async () => {
    await openAt('panel=story&step=10', { permissions: ['clipboard-read', 'clipboard-write'] });
    await settled();
    assert.match(await page.locator('.story-of').textContent(), /step 8 of 9, part 2/);
    assert.equal(await page.locator('.steps li').count(), 10);
    assert.match(await page.locator('.steps [aria-current]').getAttribute('aria-label'), /^Step 8, part 2: Two heads/);
    const link = page.locator('.step-link');
    assert.equal(await link.getAttribute('href'), '#panel=story&step=10');
    await link.click();
    await page.waitForFunction(() => part('.step-link').textContent === 'Copied');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${server.url}#panel=story&step=10`);
  },
);

fullTest('after a link to step 7 no head is found yet, even if the link was copied after finding one', async () => {
  await openEmpty({ ...SCREEN, locale: 'en-GB' });
  for (const link of ['', '&layer=4&head=2']) {
    await page.goto(`${server.url}#panel=story&step=7${link}`);
    await settled();
    await page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.corner p').textContent !== '');
    assert.equal(await page.locator('.story .seen').count(), 0);
    assert.match(await page.locator('.story .ask legend').textContent(), /just before/);
    await page.locator('.answer').first().click();
    assert.match(await page.locator('.story .do').textContent(), /just before/);
    await page.locator("[data-head='4.2']").click();
    await page.locator('.story .seen').waitFor();
    await page.goto('about:blank');
  }
});

fullTest('query and key move onto their product once, and not at all with reduced motion', async () => {
  await openAt('', { fresh: true });
  await settled();
  await page.click('.story-word');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.ghost', { state: 'attached' });
  await page.click('.steps li:nth-child(3) button');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);

  await openAt('panel=story&step=4', { reducedMotion: 'reduce', fresh: true });
  await settled();
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);
});
