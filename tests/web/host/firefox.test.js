// The main things a visitor does, once more in Firefox.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../web/host/serve.js';
import { launchFirefox } from '../../support/firefox.js';
import { until } from '../../support/wait.js';

let server, browser, page;

const inPage = (fn, ...args) =>
  page.evaluate(`((...args) => {
  const part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  return (${fn})(...args);
})(...${JSON.stringify(args)})`);
const settle = () =>
  until(() => inPage(() => part('.page')?.dataset.busy === 'false' && part('.prediction .tick') !== null), 120_000);
const text = (selector) => inPage((selector) => part(selector)?.textContent ?? '', selector);
const click = (selector) => inPage((selector) => part(selector).click(), selector);

before(async () => {
  server = await serve({ root: fileURLToPath(new URL('../../../dist/site', import.meta.url)) });
  browser = await launchFirefox();
  page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(server.url);
  await settle();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('opens with the whale, its heads painted and its guess', async () => {
  assert.equal(await inPage(() => part('.model').querySelectorAll('.thumbnail').length), 20);
  assert.match(await text('.corner h2'), /^Layer 5, head 3/);
  const colours = await inPage(() => {
    const canvas = part('.matrix canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 20, `${colours}`);
});

test('a head is switched off: the guess falls; undo brings it back', async () => {
  const before = await text('.prediction li b');
  await inPage(() => [...part('.whatif').querySelectorAll('button')].find((b) => b.textContent === 'off').click());
  await until(async () => (await text('.corner h2')).includes('is off'), 120_000);
  await settle();
  assert.notEqual(await text('.prediction li b'), before);
  await page.keyboard.down('Control');
  await page.keyboard.press('z');
  await page.keyboard.up('Control');
  await until(async () => !(await text('.corner h2')).includes('is off'), 120_000);
});

test('a mask is painted, and the address keeps it', async () => {
  await click('.whatif .menu button');
  await until(() => inPage(() => part('[data-key=brush]') !== null));
  await click('[data-key=brush]');
  await until(() => inPage(() => part('canvas.brush') !== null), 120_000);
  const box = await inPage(() => {
    const { left, top, width, height } = part('.matrix').getBoundingClientRect();
    return { left, top, width, height };
  });
  const at = (t, s) => [box.left + ((s + 0.5) * box.width) / 17, box.top + ((t + 0.5) * box.height) / 17];
  await page.mouse.move(...at(16, 0));
  await page.mouse.down();
  await page.mouse.move(...at(16, 5));
  await page.mouse.up();
  await until(() => inPage(() => location.hash.includes('painted=all%3A17.1-6')), 120_000);
  await inPage(() => [...part('.brushing').querySelectorAll('button')].at(-1).click());
});

test('heads made by hand, and Chinese without a reload', async () => {
  await click('.model-menu button');
  await until(() => inPage(() => part('[data-key=constructed]') !== null));
  await click('[data-key=constructed]');
  await until(() => inPage(() => part('.model')?.querySelectorAll('.trade').length === 8), 120_000);
  await inPage(() => part('.header .language').click());
  await until(async () => (await text('.header .language')) === 'English');
  assert.equal(await inPage(() => document.documentElement.lang), 'zh-Hans');
});
