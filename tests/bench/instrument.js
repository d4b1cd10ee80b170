// How quickly the instrument answers, in Chromium: prints a table. Times are from the event in the page to the change
// of the page that answers it.

import { fileURLToPath } from 'node:url';
import { serve } from '../../web/host/serve.js';
import { launch } from '../support/chromium.js';
import { median } from './measure.js';

const ROUNDS = 5;
const MOVES = 120;
/** 64 tokens of the opening's kind. */
const WORDS =
  'To the last I grapple with thee, Moby Dick. To the last I grapple with thee, said the old man to the sea';

const share = (numbers, at) => numbers.toSorted((a, b) => a - b)[Math.floor(at * (numbers.length - 1))];
const ms = (time) => `${time.toFixed(1)} ms`;
const report = (what, figures) => console.log(`${what}: ${figures}`);

/** In the page: when the first picture stood, and the time from an event to the change of what is named. */
function watch() {
  const find = (selector) => document.querySelector('body > div')?.shadowRoot?.querySelector(selector);
  globalThis.part = find;
  const look = () => {
    if (!find('#picture')) return requestAnimationFrame(look);
    globalThis.firstPicture = performance.now();
    console.log('the first picture');
  };
  requestAnimationFrame(look);
  globalThis.answerOf = (selector, act) =>
    new Promise((resolve) => {
      const before = find(selector).textContent;
      const start = performance.now();
      const seen = new MutationObserver(() => {
        if (find(selector).textContent === before) return;
        seen.disconnect();
        resolve(performance.now() - start);
      });
      seen.observe(find('.page'), { subtree: true, childList: true, characterData: true });
      act();
    });
}

const server = await serve({ root: fileURLToPath(new URL('../../dist/site', import.meta.url)) });
const browser = await launch();

/** A page as of a browser that was never here. */
async function open(hash = '') {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  // To wait in the page would take time of it.
  const seen = page.waitForEvent('console', (message) => message.text() === 'the first picture');
  await page.goto(`${server.url}${hash}`);
  await seen;
  return page;
}

try {
  const first = [];
  let bytes = { page: 0, models: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const page = await open();
    first.push(await page.evaluate(() => globalThis.firstPicture));
    bytes = await page.evaluate(() => {
      const sum = { page: performance.getEntriesByType('navigation')[0].encodedBodySize, models: 0 };
      for (const { name, encodedBodySize } of performance.getEntriesByType('resource'))
        sum[name.includes('whale') ? 'models' : 'page'] += encodedBodySize;
      return sum;
    });
    await page.context().close();
  }
  report('first picture, cold', `median ${ms(median(first))}, least ${ms(Math.min(...first))}`);
  report('what the page loads, compressed', `${(bytes.page / 1000).toFixed(0)} kB`);

  const page = await open(`#text=${encodeURIComponent(WORDS)}`);
  await page.waitForFunction(() => part('.page').dataset.busy === 'false');
  const box = await page.locator('#picture').boundingBox();
  const hovered = [];
  for (let i = 0; i < MOVES; i++) {
    const [down, along] = [0.3 + (0.65 * i) / MOVES, ((i * 37) % MOVES) / MOVES];
    const at = { x: box.x + box.width * down * along * 0.95, y: box.y + box.height * down };
    const time = await page.evaluate(({ x, y }) => {
      const move = () =>
        part('#picture').dispatchEvent(
          new PointerEvent('pointermove', { clientX: x, clientY: y, pointerType: 'mouse', bubbles: true }),
        );
      const waited = new Promise((resolve) => setTimeout(() => resolve(null), 200));
      return Promise.race([answerOf('.reading', move), waited]);
    }, at);
    if (time !== null) hovered.push(time);
  }
  report('hover to reading', `median ${ms(share(hovered, 0.5))}, p95 ${ms(share(hovered, 0.95))}`);

  const switched = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const name = round % 2 === 0 ? 'off' : 'on';
    switched.push(
      await page.evaluate(
        (name) =>
          answerOf('.prediction', () =>
            [...part('.whatif').querySelectorAll('button')].find((b) => b.textContent === name).click(),
          ),
        name,
      ),
    );
    await page.waitForFunction(() => part('.page').dataset.busy === 'false');
  }
  report(
    'a head switched off to the new prediction',
    `median ${ms(share(switched, 0.5))}, p95 ${ms(share(switched, 0.95))}`,
  );
} finally {
  await browser.close();
  await server.close();
}
