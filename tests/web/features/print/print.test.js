// Tests printing, forced colours and 200% zoom in Chromium.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertNoSidewaysScroll, drawn, openAt, page } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

async function open(options = {}) {
  await openAt('', options);
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail') !== null);
}

for (const [width, height] of [
  [1440, 900],
  [794, 1123],
])
  test(`printed from ${width} px: the picture with its caption, in light colours, without controls`, async () => {
    await open({ viewport: { width, height }, colorScheme: 'dark' });
    // The first pointer event loads the caption.
    for (let x = 0; !(await page.evaluate(() => part('.caption') !== null)); x = (x + 1) % 100) {
      await page.mouse.move(x, 5);
      await drawn();
    }
    await page.emulateMedia({ media: 'print' });
    await page.waitForFunction(() => document.querySelector('body > div').dataset.theme === 'light');
    await page.waitForFunction(() => part('.picture .matrix')?.getBoundingClientRect().height > 300);
    const found = await page.evaluate(() => {
      const box = (selector) => part(selector).getBoundingClientRect();
      return {
        under: box('.caption').top - box('.picture .matrix').bottom,
        caption: part('.caption').textContent,
        shown: ['.whatif', '.header nav', '.write', '.sort', '.legend .choice'].filter(
          (selector) => box(selector).width > 0,
        ),
        background: getComputedStyle(part('.page')).backgroundColor,
      };
    });
    assert.ok(found.under > 0, `${found.under}`);
    assert.match(found.caption, /^Layer 4, head 2 of Moby\./);
    assert.deepEqual([found.shown, found.background], [[], 'rgb(255, 255, 255)']);
    await page.emulateMedia({ media: 'screen' });
    await page.waitForFunction(() => document.querySelector('body > div').dataset.theme === 'dark');
  });

test('forced colours: the chosen head is outlined, weights keep their colours, marks are visible', async () => {
  await open({ forcedColors: 'active' });
  await page.waitForFunction(() => getComputedStyle(part('.tick')).forcedColorAdjust === 'none');
  const style = (selector, name) =>
    page.evaluate(([selector, name]) => getComputedStyle(part(selector))[name], [selector, name]);
  assert.equal(await style('.thumbnail[aria-checked=true] .frame', 'outlineStyle'), 'solid');
  assert.equal(await style('.matrix canvas', 'forcedColorAdjust'), 'none');
  const text = await page.evaluate(() => getComputedStyle(document.body).color);
  for (const mark of ['.tick', '.red', '.blue']) assert.equal(await style(mark, 'backgroundColor'), text, mark);
});

fullTest('at 200% nothing scrolls horizontally', async () => {
  await open({ viewport: { width: 720, height: 450 } });
  await assertNoSidewaysScroll('720 px');
  await open({ viewport: { width: 768, height: 1024 } });
  await assertNoSidewaysScroll('768 px');
});
