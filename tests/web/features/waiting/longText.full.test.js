// Opens a model of 24 layers × 8 heads in Chromium and shows 4,096 tokens, whose weights would need 13 GB.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { deepModel, longText } from '../../../support/deepModel.js';
import { openAt, openChooser, page, spoil } from '../../../support/page.js';

const GIB = 2 ** 30;

/** Returns the largest memory that a process of pages and workers has used, in bytes; 0 where this is unknown. */
async function peak() {
  const session = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const used = processInfo.map(({ type, id }) => {
    if (type !== 'renderer' || process.platform !== 'linux') return 0;
    return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))[1]);
  });
  return Math.max(...used);
}
/** Waits until a head is shown, and not marked as old. @param {string} name */
const shown = (name) =>
  page.waitForFunction(
    (title) => part('.head-name')?.textContent === title && part('main').dataset.old === 'false',
    name,
    { timeout: 600_000 },
  );

test('4,096 tokens with 24 layers × 8 heads are shown in less than 2 GB, and another head soon after', async () => {
  await openAt();
  spoil();
  await openChooser();
  const files = deepModel().map((file) => ({ ...file, mimeType: '' }));
  await page.locator('input[data-name=files]').setInputFiles(files);
  await page.waitForFunction(() => part('.model-menu .under').textContent.includes('gpt2'));
  await shown('Layer 0, head 0');
  await page.keyboard.press('Escape');
  await page.locator('textarea').fill(longText(12_000));
  await page.waitForFunction(() => /Computing 4096 tokens: \d+ of 24 layers/.test(part('.waiting')?.textContent));
  await shown('Layer 0, head 0');
  assert.match(await page.locator('.sentence .cut').textContent(), /first 4096 tokens/);
  await page.locator('.thumbnail[data-head="20.3"]').click();
  await shown('Layer 20, head 3');
  const painted = await page.evaluate(() => {
    const canvas = part('.thumbnail[data-head="23.7"] canvas');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
  });
  assert.ok(painted, 'heads of other layers have thumbnails');
  const used = await peak();
  assert.ok(used < 2 * GIB, `${(used / GIB).toFixed(2)} GB`);
});
