// What is hidden by hand, and heads that are switched off.

import assert from 'node:assert/strict';
import test from 'node:test';
import { open, page, settle, shownWeight, textOf, walk } from '../../support/page.js';

test('a mask painted by hand hides keys, the rest sums to 1 again, and what was painted is painted over', async () => {
  await open();
  await page.selectOption('#example', 'equal');
  await page.click('#more summary');
  await page.check('#paint');
  await settle();
  const canvas = await page.locator('#large').boundingBox();
  const at = (s) => [canvas.x + canvas.width - 24 - 48 * (9 - s), canvas.y + canvas.height - 20];
  await page.mouse.move(...at(9));
  await page.mouse.down();
  for (const s of [8, 7, 6, 5]) await page.mouse.move(...at(s), { steps: 3 });
  await page.mouse.up();
  await settle();
  await walk(0, 2);
  assert.ok(Math.abs((await shownWeight()) - 0.2) < 1e-7);
  await walk(0, 7);
  assert.match(await textOf('#reading'), /hidden by the mask/);
  await page.focus('#large');
  await page.keyboard.press('Space');
  await settle();
  assert.ok(Math.abs((await shownWeight()) - 1 / 6) < 1e-7);
  await page.click('#unpaint');
  await settle();
  assert.ok(Math.abs((await shownWeight()) - 0.1) < 1e-7);
});

test('a head that is switched off counts as 0 where the heads are joined', async () => {
  await open();
  await page.click('#more summary');
  await page.click('#off');
  await settle();
  assert.match(await textOf('#head-about'), /turned off/);
  const heads = await page.locator('#steps canvas[aria-label^="output of this head"]').getAttribute('aria-label');
  assert.match(heads, /^output of this head: 0(, 0)+(, …)?$/);
  await page.click('#off');
  await settle();
  assert.doesNotMatch(await textOf('#head-about'), /turned off/);
  await page.dblclick('#grid button:nth-child(2)');
  await settle();
  assert.equal(await page.locator('#grid button.off').count(), 7);
  await page.focus('#grid button:nth-child(2)');
  await page.keyboard.press('Shift+Enter');
  await settle();
  assert.equal(await page.locator('#grid button.off').count(), 0);
});
