// The page for those who use a keyboard or a screen reader.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, open, page, settle, textOf, walk } from '../../support/page.js';

for (const [colorScheme, language] of [
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'zh'],
  ['dark', 'zh'],
]) {
  test(`axe finds nothing to mend, ${colorScheme}, ${language}`, async () => {
    await open({ colorScheme });
    await page.selectOption('#language', language);
    await page.evaluate(() => {
      for (const details of part('main').querySelectorAll('details')) details.open = true;
    });
    for (const [example, view] of [
      ['sentence', 'cells'],
      ['own', 'lines'],
      ['padded', 'cells'],
      ['patches', 'grid'],
      ['wide', 'difference'],
      ['wide', 'side'],
    ]) {
      await page.selectOption('#example', example);
      await page.selectOption('#mask', 'padding');
      if (view === 'difference') await page.click('#pin');
      else await page.selectOption('#view', view);
      await settle();
      await walk(1, 1);
      await assertAccessible();
    }
  });
}

test('the keyboard walks the cells and a live sentence says each', async () => {
  await open();
  await page.focus('#large');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await settle();
  assert.match(await textOf('#announce'), /^query “it” → key “cat”: 0\.127, rank \d+ of 18$/);
});
