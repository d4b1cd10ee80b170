// Tests in Chromium that a long text that is inserted is shown at the caret.

import assert from 'node:assert/strict';
import test from 'node:test';
import { openPage, page, settle } from '../../../support/page.js';
import { inTier } from '../../../support/tier.js';

const LONG = Array.from({ length: 60 }, (_, i) => `In port ${i} the first mate cried to his men.`).join(' ');
/** Returns how far the box of the text is scrolled, and how far it can be. */
const scrolled = () =>
  page.evaluate(() => {
    const { scrollTop, scrollHeight, clientHeight } = part('.words');
    return [scrollTop, scrollHeight - clientHeight];
  });

for (const width of inTier([1440, 360], [360]))
  test(`${width} px: after a long text is inserted, the box shows the caret`, async () => {
    await openPage({ viewport: { width, height: 800 } });
    await page.focus('.words textarea');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(LONG);
    const [end, most] = await scrolled();
    assert.ok(most > 500 && end >= most - 30, `scrolled to ${end} of ${most}`);
    await settle();
    assert.ok((await scrolled())[0] >= most - 30, 'the tokens do not move it');
    // The text before the caret is inserted in front of the other one.
    await page.keyboard.press('Control+Home');
    await page.waitForFunction(() => part('.words').scrollTop < 30);
    await page.keyboard.insertText(`${LONG} `);
    const [middle, all] = await scrolled();
    assert.ok(middle > 0.3 * all && middle < 0.7 * all, `scrolled to ${middle} of ${all}`);
  });
