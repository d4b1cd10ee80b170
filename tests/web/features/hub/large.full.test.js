// Tests a model of more than 50 MB in Chromium: the question before the download, progress, cancelling, continuing, and
// links to heads of the model.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';
import { serve } from '../../../../src/build/server.ts';
import { imitateHub } from '../../../support/hub.js';
import { connect, largeModel, smallModel } from '../../../support/hubPage.js';
import { assertAccessible, assertNoSidewaysScroll, openChooser, openEmpty, page, site } from '../../../support/page.js';

const LARGE = 'me/large';
const SMALL = 'me/small';
let hub;
let model;
let server;
before(async () => {
  hub = await imitateHub({ [LARGE]: largeModel(), [SMALL]: smallModel('gpt2') });
  model = `${LARGE}@${hub.models.get(LARGE).branches.get('main')}`;
  // The usual policy of the page would not allow the imitated server of large files.
  server = await serve({ root: site, headers: { 'Content-Security-Policy': '' } });
});
afterEach(() => {
  hub.again();
  hub.fault = () => undefined;
});
after(async () => {
  hub.close();
  await server.close();
});

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
const opened = (title) =>
  page.waitForFunction(
    (name) => part('.model-menu .under')?.textContent.trim() === name && part('.page').dataset.busy === 'false',
    title,
  );
async function start({ width = 1440, height = 900, hash = '' } = {}) {
  await openEmpty({ viewport: { width, height }, locale: 'en-GB' });
  await connect(page, hub, { redirects: true });
  await page.goto(`${server.url}#${hash}`);
  await settled();
}
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
/** Returns the bytes of large files that the imitated Hub has sent. */
const counted = () => hub.sent();

test('a link asks before a large download, keeps its address meanwhile, and then shows its head', async () => {
  const hash = `model=${model}&layer=1&head=3&text=one+two+one`;
  await start({ width: 360, height: 740, hash });
  await page.locator('.question').waitFor();
  const text = await page.locator('.question').textContent();
  assert.match(text, /me\/large.*layer 1, head 3.*2 layers × 4 heads, 14 million parameters.*55\.\d MB/);
  assert.match(text, /32 bits.*exact.*8 bits.*rounded.*A page can use 4\.29 GB/);
  assert.ok(counted() < 2e6, `${counted()} bytes`);
  assert.equal(await page.evaluate(() => location.hash), `#${hash}`);
  await assertNoSidewaysScroll('the question');
  await assertAccessible();
  await page.getByRole('button', { name: /^Download 55/ }).click();
  await opened('large');
  assert.equal(await page.locator('.thumbnail[aria-checked=true]').getAttribute('data-head'), '1.3');
  assert.equal(await page.locator('textarea').first().inputValue(), 'one two one');
  await page.waitForFunction((model) => location.hash.includes(model), model);
  // The model is stored now, so the page opens it again without a question.
  const before = counted();
  await page.reload();
  await opened('large');
  assert.equal(await page.locator('.thumbnail[aria-checked=true]').getAttribute('data-head'), '1.3');
  assert.equal(counted(), before);
});

test('a link to a small model opens it at once', async () => {
  const small = `${SMALL}@${hub.models.get(SMALL).branches.get('main')}`;
  await start({ hash: `model=${small}&layer=0&head=2` });
  await opened('small');
  assert.equal(await page.locator('.thumbnail[aria-checked=true]').getAttribute('data-head'), '0.2');
});

/** Returns a fault that sends a response piece by piece, and pauses after a part of it while isHeld() returns true. */
const slowly =
  (isHeld) =>
  async (response, { status, headers, body }) => {
    response.writeHead(status, { 'content-length': body.length, ...headers });
    const piece = 2 ** 20;
    for (let at = 0; at < body.length && !response.destroyed; at += piece) {
      while (at > 0.5 * body.length && isHeld() && !response.destroyed) await wait(20);
      response.write(body.subarray(at, at + piece));
      // The pauses are long enough for the page to measure the speed.
      await wait(100);
    }
    response.end();
  };

test('a download is cancelled, and continues where it ended; the form is chosen', async () => {
  let held = true;
  hub.fault = ({ server, range = '' }) => {
    const [from, to] = range.slice(6).split('-').map(Number);
    return server === 'cdn' && to - from > 20e6 ? slowly(() => held) : undefined;
  };
  await start();
  await openChooser();
  await page.locator('[data-name=hub]').fill(LARGE);
  await page.keyboard.press('Enter');
  await page.locator('.question').waitFor();
  await page.locator('input[value=int8]').check();
  await page.getByRole('button', { name: /^Download 55/ }).click();
  const isQuarterRead = () => Number(part('.gauge')?.getAttribute('aria-valuenow')) > 25;
  await page.waitForFunction(isQuarterRead);
  await page.waitForFunction(() => /MB\/s/.test(part('.progress-text')?.textContent));
  assert.match(await page.locator('.panel').textContent(), /MB of 5\d\.\d MB read.*MB\/s.*left.*continues there/s);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForFunction(() => /the rest of .* is in this browser/.test(part('.question')?.textContent));
  held = false;
  const before = counted();
  await page.getByRole('button', { name: /^Download/ }).click();
  await opened('large');
  assert.ok(counted() - before < 45e6, `${counted() - before} bytes after cancelling`);
  assert.match(await page.locator('.told').textContent(), /stored as int8/);
  await page.locator('.told summary').click();
  await page.locator('[data-name=compare-weights]').click();
  await page.locator('[data-name=rounding]').waitFor();
  assert.ok(await page.evaluate(() => part('.told').scrollWidth <= part('.told').clientWidth), 'the lines wrap');
  // The weights of this model are zeros, so they are the same in int8.
  assert.match(
    await page.locator('[data-name=rounding]').textContent(),
    /the strongest key is the same in 100\.0% of rows, and no attention weight changes by more than 0\.$/,
  );
});
