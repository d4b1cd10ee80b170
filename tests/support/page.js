// One Chromium and one server for a file of tests, and the page in it. A wait ends when its condition holds: the limit
// is for a page that hangs, not for a machine that is slow.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../src/build/server.js';
import { launch } from './chromium.js';

export const site = fileURLToPath(new URL('../../dist/site', import.meta.url));
const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** @type {Awaited<ReturnType<typeof serve>>} */
export let server;
/** @type {import('playwright-core').Page} */
export let page;
/** Errors and warnings of the open page. */
export let faults = [];
let browser;

before(async () => {
  server = await serve({ root: site });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** How long a wait may last, in milliseconds. Programs that expect tests to fail wait for less. */
const WAIT = Number(process.env.HEADLIGHT_WAIT ?? 120_000);

/** Options of the page that openAt may reuse; null if a test has changed more than an address restores. */
let reusable = null;
/** Prevents reuse of the page: files were opened, or something was stored. */
export const spoil = () => {
  reusable = null;
};

/** An empty page in place of the previous one. In it, `part` finds an element in Headlight's shadow root. */
export async function openEmpty(options = {}) {
  spoil();
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(WAIT);
  faults = [];
  page.on('console', (message) => {
    // Only the tests read pixels back.
    if (/^(error|warning)$/.test(message.type()) && !message.text().includes('willReadFrequently'))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  await page.addInitScript(() => {
    globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  });
  return page;
}

/** Waits until the answer to the last action is shown. */
export const settle = () =>
  page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.prediction .tick') !== null);

/**
 * The page at an address. An open page with the same options is reused, as loading takes five times as long. `fresh`
 * loads the page in any case, for tests of a new visitor.
 */
export async function openAt(hash = '', { viewport = { width: 1440, height: 900 }, fresh = false, ...options } = {}) {
  const key = JSON.stringify(options);
  if (reusable === key && !fresh) await goTo(hash, viewport);
  else {
    await openEmpty({ viewport, locale: 'en-GB', ...options });
    await page.goto(`${server.url}#${hash}`);
    reusable = key;
  }
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
}

/** Waits until the page is laid out after a change of its size. */
export const drawn = () =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Closes menus and panels, and changes the size and address of the page. */
async function goTo(hash, viewport) {
  faults = [];
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  await page.mouse.move(1, 1);
  await page.setViewportSize(viewport);
  await page.evaluate((hash) => {
    scrollTo(0, 0);
    // The state may be newer than the address: the event makes the page read the address.
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname);
    dispatchEvent(new PopStateEvent('popstate', { state: null }));
  }, hash);
  await drawn();
}

/** The page with the demo model at an address, once its guess is shown. */
export async function openPage(options = {}, hash = '') {
  await openAt(hash.replace(/^#/, ''), options);
  await settle();
}

/** Name and bytes of the file that the page saves during `act`. */
export async function download(act) {
  const [file] = await Promise.all([page.waitForEvent('download'), act()]);
  const bytes = Buffer.concat(await (await file.createReadStream()).toArray());
  return { name: file.suggestedFilename(), bytes };
}

/** Fails if axe finds a fault on the page. */
export async function assertAccessible() {
  await page.evaluate(`(() => { const module = undefined, define = undefined; ${axe} })()`);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]),
    [],
  );
}

export async function assertNoSidewaysScroll(what) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${what}: ${content} px in ${window} px`);
}
