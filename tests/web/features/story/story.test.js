// The story in Chromium: leaving it, and opening it by address. tasks.test.js follows it to its end.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SCREEN } from '../../../support/hands.js';
import { openEmpty, page, server } from '../../../support/page.js';
import { settled, stepIs } from '../../../support/story.js';

async function start(options = {}) {
  await openEmpty({ ...SCREEN, locale: 'en-GB', ...options });
  await page.goto(server.url);
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

test('after a link to step 7 no head is found yet, even if the link was copied after finding one', async () => {
  await openEmpty({ ...SCREEN, locale: 'en-GB' });
  for (const link of ['', '&layer=4&head=2']) {
    await page.goto(`${server.url}#panel=story&step=7${link}`);
    await settled();
    await page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.corner p').textContent !== '');
    assert.equal(await page.locator('.story .seen').count(), 0);
    assert.match(await page.locator('.story .do').textContent(), /just before/);
    await page.locator("[data-head='4.2']").click();
    await page.locator('.story .seen').waitFor();
    await page.goto('about:blank');
  }
});

test('query and key move onto their product once, and not at all with reduced motion', async () => {
  await start();
  await page.click('.story-word');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.ghost', { state: 'attached' });
  await page.click('.steps li:nth-child(3) button');
  await page.click('.steps li:nth-child(4) button');
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);

  await openEmpty({ ...SCREEN, reducedMotion: 'reduce' });
  await page.goto(`${server.url}#panel=story&step=4`);
  await settled();
  await page.waitForSelector('.strips');
  assert.equal(await page.locator('.ghost').count(), 0);
});
