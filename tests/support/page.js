// One Chromium and one server for a file of tests, and the page in it. A wait ends when its condition holds: the limit
// is for a page that hangs, not for a machine that is slow.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../web/host/serve.js';
import { launch } from './chromium.js';

export const site = fileURLToPath(new URL('../../dist/site', import.meta.url));
const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** @type {Awaited<ReturnType<typeof serve>>} */
export let server;
/** @type {import('playwright-core').Page} */
export let page;
/** What the open page has complained about. */
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

/** An empty page in the place of the one before. `part` finds what lies in the shadow root of Headlight. */
export async function openEmpty(options = {}) {
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(120_000);
  faults = [];
  page.on('console', (message) => {
    // Reading pixels back is the tests' doing.
    if (/^(error|warning)$/.test(message.type()) && !message.text().includes('willReadFrequently'))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  await page.addInitScript(() => {
    globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  });
  return page;
}

/** Headlight at an address, when its first picture is drawn. */
export async function open(options = {}, hash = '') {
  await openEmpty(options);
  await page.goto(`${server.url}layers.html${hash}`);
  await page.waitForSelector('#pictures:not([hidden])');
  await settle();
}

/** Until nothing is computed or drawn any more. */
export const settle = () => page.waitForFunction(() => part('#frame')?.getAttribute('aria-busy') === 'false');

/** Walks to a cell of the large picture. */
export async function walk(t, s) {
  await page.evaluate(
    ([t, s]) => {
      for (const key of ['Home', 'PageUp', ...Array(t).fill('ArrowDown'), ...Array(s).fill('ArrowRight')])
        part('#large').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    },
    [t, s],
  );
  await settle();
}

/** A point of an element, as shares of its width and height. */
export async function pointOf(selector = '#large', x = 0.5, y = 0.5) {
  const box = await page.locator(selector).boundingBox();
  return [box.x + box.width * x, box.y + box.height * y];
}

export const shownWeight = async () => Number(await page.locator('#weight').getAttribute('data-value'));
export const textOf = (selector) => page.locator(selector).textContent();
export const tokensRead = () => page.locator('#reading .token').allTextContents();
/** The address follows the state after a while. */
export const addressHas = (pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source);
export const setFiles = (selector, ...files) =>
  page.setInputFiles(
    selector,
    files.map(([name, bytes]) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) })),
  );

/** What axe finds to mend on the page as it is. */
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
