// Tests in Chromium that rows and columns have the same labels in every view of weights.

import assert from 'node:assert/strict';
import test from 'node:test';
import { TOKENS } from '../../../support/opening.js';
import { faults, openAt, page } from '../../../support/page.js';
import { inTier } from '../../../support/tier.js';

/** Returns the texts of the labels, and true if each label is at the left of its row or at the top of its column. */
const labelsOf = () =>
  page.evaluate(() => {
    const area = part('.labels').parentElement;
    const cells = area.querySelector('.matrix, canvas').getBoundingClientRect();
    const all = (selector) => [...area.querySelectorAll(`.labels ${selector}`)];
    const [rows, keys] = [all('.row-label'), all('.key-label')];
    const side = cells.height / rows.length;
    return {
      rows: rows.map((one) => one.textContent),
      keys: keys.map((one) => one.textContent),
      left: rows.every((one) => one.getBoundingClientRect().right <= cells.left + 1),
      atColumns: keys.every((one, s) => Math.abs(one.getBoundingClientRect().left - cells.left - s * side) < side / 2),
    };
  });

for (const width of inTier([1440, 360], [1440]))
  test(`${width} px: the heatmap names rows on the left, and columns where they begin`, async () => {
    await openAt('', { viewport: { width, height: 900 } });
    await page.waitForFunction(() => part('.labels .row-label'));
    const { rows, keys, left, atColumns } = await labelsOf();
    assert.equal(rows.length, TOKENS);
    assert.deepEqual(keys, rows);
    assert.deepEqual([left, atColumns], [true, true]);
    assert.deepEqual(faults, []);
  });

test('one sentence says how a row is read', async () => {
  await openAt('', { viewport: { width: 1440, height: 900 } });
  await page.waitForFunction(() => part('.labels .row-label'));
  await page.locator('.labels .row-label').nth(3).hover();
  await page.waitForFunction(() => part('.read-along'));
  assert.match(
    await page.textContent('.read-along'),
    /^Read along a row: how much “.+” looks at each earlier word\. Each row adds up to 1\.$/,
  );
  assert.match(await page.textContent('.adds'), /^adds to .+[+−]\d+\.\d\d logit$/);
});
