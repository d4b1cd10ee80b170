// Provides a Chromium, a server and a page for a test file. A wait ends when its condition holds. The time limit is so
// long that only a page that hangs reaches it, even on a slow machine.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../src/build/server.ts';
import { launch } from './chromium.js';
import { isFullTier } from './tier.js';

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

/** Time limit of a wait in milliseconds. Programs that expect tests to fail set a shorter one. */
const WAIT = Number(process.env.HEADLIGHT_WAIT ?? 120_000);

/**
 * Options of the open page, if openAt may reuse it. null if a test has changed state that opening an address does not
 * reset.
 */
let reusable = null;
/** Marks the page as not reusable, because files were opened or something was stored. */
export const spoil = () => {
  reusable = null;
};

/**
 * Replaces the page by an empty one. `part` finds elements in the shadow root of Headlight.
 * @param {any} options of a page; firstVisit: true if the page must behave as on the first visit
 */
export async function openEmpty({ firstVisit = false, ...options } = {}) {
  spoil();
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(WAIT);
  faults = [];
  page.on('console', (message) => {
    // Ignores a warning about reading pixels, which only the tests do.
    if (/^(error|warning)$/.test(message.type()) && !message.text().includes('willReadFrequently'))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  if (!firstVisit)
    await page.addInitScript(() => {
      try {
        localStorage.setItem('first', 'seen');
      } catch {
        // An empty page has no storage.
      }
    });
  await page.addInitScript(() => {
    globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  });
  return page;
}

/** Waits until the response to the last action is displayed. */
export const settle = () =>
  page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.prediction .tick') !== null);

/** Default preferences of a visitor. They can be changed while a page is open. */
const PREFERENCES = { colorScheme: 'light', reducedMotion: 'no-preference', forcedColors: 'none' };

/**
 * Opens the page at an address. If a page with the same options is open, only the address, size and preferences are
 * changed, because loading the page takes five times as long. With `fresh` the page is always loaded, for tests of the
 * initial state.
 */
export async function openAt(hash = '', { viewport = { width: 1440, height: 900 }, fresh = false, ...more } = {}) {
  const { colorScheme, reducedMotion, forcedColors, ...options } = { ...PREFERENCES, locale: 'en-GB', ...more };
  const preferences = { colorScheme, reducedMotion, forcedColors };
  const key = JSON.stringify(Object.entries(options).sort());
  if (reusable === key && !fresh) await goTo(hash, viewport, preferences);
  else {
    await openEmpty({ viewport, ...preferences, ...options });
    await page.goto(`${server.url}#${hash}`);
    reusable = key;
  }
  await page.waitForFunction(
    () =>
      part('.page')?.dataset.busy === 'false' &&
      part('.thumbnail, .first-sentence, .trace, .inside, .circuit, .text-view'),
  );
}

/** Waits until the layout of the page is updated after a change of its size. */
export const drawn = () =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Closes open dialogs and menus, and changes the preferences, size and address of the page. */
async function goTo(hash, viewport, preferences) {
  faults = [];
  await page.emulateMedia({ media: null, ...preferences });
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  await page.mouse.move(1, 1);
  await page.setViewportSize(viewport);
  await page.evaluate((hash) => {
    scrollTo(0, 0);
    // The state may have changed since the address was set, so an event makes the page read the address even if the
    // address does not change.
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname);
    dispatchEvent(new PopStateEvent('popstate', { state: null }));
  }, hash);
  await drawn();
}

/** Opens the page with the demo model at an address, and waits until its prediction is shown. */
export async function openPage(options = {}, hash = '') {
  await openAt(hash.replace(/^#/, ''), options);
  await settle();
}

/** Opens the panel that opens models. */
export async function openChooser() {
  await page.locator('.model-menu > button').click();
  await page.locator('.model-menu [data-key=open]').click();
}

/** Opens the panel of training. */
export const openTraining = () => page.locator('.train-word').click();

/**
 * Chooses an item of the menu of the heatmap: another picture of the head, the colours, or several heads.
 * @param {string} key of the item
 */
export async function chooseKind(key) {
  await page.locator('.legend .menu > button').click();
  await page.locator(`.legend [data-key=${key}]`).click();
}

/** Chooses an item of the menu More. @param {string} key of the item */
export async function chooseMore(key) {
  await page.locator('.more-menu button').first().click();
  await page.locator(`.more-menu [data-key=${key}]`).click();
}

/** Opens the menu Share, and chooses the item with the given name, if there is one. @param {string | RegExp} [name] */
export async function share(name) {
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  if (name) await page.getByRole('menuitem', { name }).click();
}

/** Returns the switch of the head that is shown. */
export const headSwitch = () => page.getByRole('switch', { name: 'this attention head' });

/** Returns the name and bytes of the file that the page saves during `act`. */
export async function download(act) {
  const [file] = await Promise.all([page.waitForEvent('download'), act()]);
  const bytes = Buffer.concat(await (await file.createReadStream()).toArray());
  return { name: file.suggestedFilename(), bytes };
}

/** Waits until nothing fades or moves, because axe measures the colours that are drawn. */
const still = () =>
  page.evaluate(async () => {
    const roots = [document, ...[...document.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
    const ending = roots
      .flatMap((root) => root.getAnimations())
      .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime < Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });

/**
 * Fails if axe finds a fault in the current state of the page. The other results of axe, which are large, remain in the
 * page.
 */
export async function assertAccessible() {
  if (!(await page.evaluate(() => 'axe' in globalThis)))
    await page.evaluate(`(() => { const module = undefined, define = undefined; ${axe} })()`);
  await still();
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run({ resultTypes: ['violations'] });
    // A canvas has no text, so it must be hidden from screen readers, or an element around it must have a name.
    const named = '[aria-hidden=true], [role=img], [role=radio], button';
    const canvases = [...(document.querySelector('body > div')?.shadowRoot?.querySelectorAll('canvas') ?? [])].filter(
      (canvas) => !canvas.closest(named),
    );
    return [
      ...violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      ...canvases.map((canvas) => ['canvas without a name', canvas.parentElement.outerHTML.slice(0, 200)]),
    ];
  });
  assert.deepEqual(found, []);
}

/**
 * Calls assertAccessible in the full tier only, for tests with another subject. In the default tier axe inspects the
 * states that tests/web/states.test.js opens, because one inspection takes half a second.
 */
export const assertAccessibleInFullTier = async () => {
  if (isFullTier) await assertAccessible();
};

export async function assertNoSidewaysScroll(what) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${what}: ${content} px in ${window} px`);
}

/** Drops a file on the page. @param {string} name @param {Buffer} bytes */
export const dropFile = (name, bytes) =>
  page.evaluate(
    ([name, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
      for (const type of ['dragenter', 'dragover', 'drop'])
        part('.page').dispatchEvent(
          new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true, composed: true }),
        );
    },
    [name, bytes.toString('base64')],
  );
