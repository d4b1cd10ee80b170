// Tests the story in Chromium: followed to its end in Chinese with the dark theme, and with wrong answers to the
// questions.

import assert from 'node:assert/strict';
import test from 'node:test';
import { keyboard, mouse, PHONE, SCREEN } from '../../../support/hands.js';
import { faults, openEmpty, page, server } from '../../../support/page.js';
import { follow, settled, stepIs } from '../../../support/story.js';

for (const [hand, screen, size] of /** @type {const} */ ([
  [mouse, SCREEN, 'a screen'],
  [keyboard, PHONE, 'a phone'],
]))
  test(`in Chinese, dark theme: the story is followed to its end with the ${hand.name} on ${size}`, async () => {
    await openEmpty({ ...screen, colorScheme: 'dark', locale: 'zh-CN' });
    await page.goto(server.url);
    await settled();
    await follow(hand);
    assert.deepEqual(faults, []);
  });

test('the questions note wrong actions, keep the answers in the browser, and compare and copy them', async () => {
  await openEmpty({ ...SCREEN, locale: 'en-GB', permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(server.url);
  await settled();
  await page.click('.story-word');
  await stepIs(11);
  const says = (text) => page.locator('.current').filter({ hasText: text }).waitFor();
  await page.locator('.quiz-buttons .word').click();
  for (const head of ['0.1', '3.3', '2.0']) {
    await page.locator(`[data-head='${head}']`).click();
    await says(head);
  }
  assert.equal(await page.locator('.corner p').first().isVisible(), false, 'no role is named');
  await page.locator('.quiz-buttons .go').click();
  await page.locator('.corner .switch').click();
  await says('4.2 × 0 → place');
  await page.locator('.quiz-buttons .go').click();
  await page.locator('.steps .go.filled').waitFor();
  const stored = JSON.parse(await page.evaluate(() => localStorage.getItem('story')));
  assert.equal(stored.version, 1);
  assert.deepEqual(stored.before, [
    { question: 'most', what: null, right: false, tries: [] },
    { question: 'previous', what: '2.0', right: false, tries: ['0.1', '3.3', '2.0'] },
    { question: 'guess', what: '4.2 × 0 → place', right: true, tries: ['4.2 × 0 → place'] },
  ]);
  await page.goto(`${server.url}#panel=story&step=12`);
  await page.reload();
  await stepIs(12);
  for (let i = 0; i < 3; i++) {
    await page
      .locator('.story-of')
      .filter({ hasText: `Question ${i + 1}` })
      .waitFor();
    await page.locator('.quiz-buttons .word').click();
  }
  await page.locator('.copy').click();
  await page.locator('.copy').filter({ hasText: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(
    copied,
    /2\. Choose a head.*\n {3}before: ✗ another head \(2\.0\) tried: 0\.1; 3\.3; 2\.0\n {3}after: – no answer/,
  );
});
