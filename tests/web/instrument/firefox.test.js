// The main things a visitor does with the instrument, once more in Firefox.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../web/host/serve.js';
import { launchFirefox } from '../../support/firefox.js';
import { until } from '../../support/wait.js';

let server, browser, page;
before(async () => {
  server = await serve({ root: fileURLToPath(new URL('../../../dist/site', import.meta.url)) });
  browser = await launchFirefox();
  page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(server.url);
  await until(() => inPage(() => part('.page')?.dataset.busy === 'false' && part('.adds') !== null));
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const inPage = (fn, ...args) =>
  page.evaluate(`((...args) => {
  const part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  return (${fn})(...args);
})(...${JSON.stringify(args)})`);
const shows = (selector, text) =>
  until(() => inPage((selector, text) => part(selector)?.textContent.includes(text) === true, selector, text));
const press = (selector, name) =>
  inPage(
    (selector, name) => {
      const all = [...part(selector).querySelectorAll('button')];
      all.find(({ textContent }) => textContent.trim() === name).click();
    },
    selector,
    name,
  );

test('the whale opens with its guess, and a cell is read by pointer and keyboard', async () => {
  assert.match(await inPage(() => part('.guess').textContent), /I/);
  const [x, y] = await inPage(() => {
    const { left, top, width, height } = part('.matrix').getBoundingClientRect();
    return [left + (10.5 * width) / 17, top + (11.5 * height) / 17];
  });
  await page.mouse.move(x, y);
  await shows('.title .key', ',');
  await inPage(() => part('#picture').focus());
  await page.keyboard.press('Home');
  await until(() => inPage(() => part('.spoken').textContent.startsWith('Attention from ')));
});

test('a head is switched off and on again, and the guess falls and comes back', async () => {
  const before = await inPage(() => part('.prediction li b').textContent);
  await press('.whatif', 'off');
  await shows('.corner h2', 'is off');
  await until(() => inPage((before) => part('.prediction li b').textContent !== before, before));
  await inPage(() => part('#picture').focus());
  await page.keyboard.down('Control');
  await page.keyboard.press('z');
  await page.keyboard.up('Control');
  await until(() => inPage((before) => part('.prediction li b').textContent === before, before));
});

test('the model writes on, and two runs stand side by side', async () => {
  await press('.whatif', 'Pin');
  const length = await inPage(() => part('textarea').value.length);
  await press('.sentence', 'write on');
  await until(() => inPage((length) => part('textarea').value.length > length, length));
  await inPage(() => [...part('.sentence').querySelectorAll('button')].find((b) => b.textContent === 'stop')?.click());
  await inPage(() => part('.legend .menu button').click());
  await inPage(() => part('.legend [data-key=beside]').click());
  await until(() => inPage(() => part('.compare')?.querySelectorAll('.matrix').length === 2));
  await press('.legend', 'Heatmap');
});

test('it trains for a moment, and Back leads to what was', async () => {
  await press('.header', 'Train');
  await until(() => inPage(() => part('.play path:not(.full)') !== null));
  await inPage(() => part('.play').click());
  await inPage(() => history.back());
  await until(() => inPage(() => part('.page').classList.contains('training') === false));
});
