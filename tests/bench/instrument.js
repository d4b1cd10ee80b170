// Measures the response times of the page in Chromium, and prints a table. Times are from the event in the page to the
// resulting change of the page.

import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from '../../dist/headlight.node.js';
import { serve } from '../../src/build/server.ts';
import { writeNpy } from '../../src/js/io/formats.ts';
import { settingsOf, usualTraining } from '../../web/model/training/settings.ts';
import { Trainer } from '../../web/worker/trainer/trainer.ts';
import { launch } from '../support/chromium.js';
import { median } from './measure.js';

const ROUNDS = 5;
const MOVES = 120;
const LENGTHS = [64, 512, 4096];
/** Milliseconds for which training is measured. */
const TRAINED = 6000;
/** A text of 64 tokens, like the initial one. */
const WORDS =
  'To the last I grapple with thee, Moby Dick. To the last I grapple with thee, said the old man to the sea';

const share = (numbers, at) => numbers.toSorted((a, b) => a - b)[Math.floor(at * (numbers.length - 1))];
const ms = (time) => `${time.toFixed(1)} ms`;
const report = (what, figures) => console.log(`${what}: ${figures}`);

/**
 * Runs in the page: records the time at which the first heatmap is drawn, and the time from an event to the change of
 * an element.
 */
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

/** Opens the page in a new browser context, which has an empty cache. */
async function open(hash = '') {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  // Marks the visitor as returning, because the first visit shows only an introduction.
  await page.addInitScript(() => localStorage.setItem('first', 'seen'));
  await page.addInitScript(watch);
  // Waits outside the page, because waiting in it would take processor time.
  const seen = page.waitForEvent('console', (message) => message.text() === 'the first picture');
  await page.goto(`${server.url}${hash}`);
  await seen;
  return page;
}

/** Opens a file with the attention weights of two heads with this many tokens. */
async function openWeights(tokens) {
  const page = await open();
  const data = new Float32Array(2 * tokens * tokens);
  for (let row = 0; row < 2 * tokens; row++) {
    const keys = (row % tokens) + 1;
    for (let s = 0; s < keys; s++) data[row * tokens + s] = 1 / keys;
  }
  const path = join(tmpdir(), `weights-${tokens}.npy`);
  await writeFile(path, writeNpy({ data, shape: [2, tokens, tokens] }));
  await page.evaluate(() => part('.model-menu > button').click());
  await page.evaluate(() => part('.model-menu [data-key=open]').click());
  await page.locator('input[data-name=files]').setInputFiles(path);
  await page.waitForFunction(
    () => /weights/.test(part('.model-menu').textContent) && part('.page').dataset.busy === 'false' && part('#picture'),
    null,
    { timeout: 120_000 },
  );
  await rm(path);
  return page;
}

async function reportHover(page, what) {
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
  report(
    `hover to reading, ${what}`,
    `median ${ms(share(hovered, 0.5))}, p95 ${ms(share(hovered, 0.95))}, ${hovered.length} of ${MOVES} answered`,
  );
}

/** Measures training steps and frames per second in the page, and the same steps without a page. */
async function reportTraining() {
  const page = await open('#panel=train');
  await page.waitForFunction(() => part('.speed button'));
  await page.locator('.speed button').click();
  await page.getByRole('menuitemradio', { name: 'as fast as it can' }).click();
  await page.locator('.play').click();
  const stepsAt = () => Number(part('.time input').value);
  await page.waitForFunction(() => Number(part('.time input').value) >= 50);
  const [from, began] = [await page.evaluate(stepsAt), performance.now()];
  const frames = await page.evaluate(
    (milliseconds) =>
      new Promise((resolve) => {
        const times = [];
        const start = performance.now();
        const frame = (now) => {
          times.push(now);
          if (now - start < milliseconds) requestAnimationFrame(frame);
          else resolve(times);
        };
        requestAnimationFrame(frame);
      }),
    TRAINED,
  );
  const perSecond = (1000 * ((await page.evaluate(stepsAt)) - from)) / (performance.now() - began);
  await page.context().close();
  const gaps = frames.slice(1).map((time, i) => time - frames[i]);
  report('training, frames', `${(1000 / median(gaps)).toFixed(0)} a second, longest gap ${ms(Math.max(...gaps))}`);
  const hl = await load();
  const trainer = new Trainer(hl, settingsOf(usualTraining('repeat'), ''));
  for (let i = 0; i < 50; i++) trainer.step();
  const start = performance.now();
  let steps = 0;
  for (; performance.now() - start < TRAINED; steps++) trainer.step();
  const alone = (1000 * steps) / (performance.now() - start);
  const where = `Node ${process.versions.node}, ${hl.info.simd}`;
  report('training, steps', `${perSecond.toFixed(0)} a second; ${alone.toFixed(0)} without a page (${where})`);
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
  report('first picture, cold', `median ${ms(median(first))}, minimum ${ms(Math.min(...first))}`);
  report('what the page loads, compressed', `${(bytes.page / 1000).toFixed(0)} kB`);

  for (const tokens of LENGTHS) {
    const page = await openWeights(tokens);
    await reportHover(page, `${tokens} tokens`);
    await page.context().close();
  }
  const page = await open(`#text=${encodeURIComponent(WORDS)}`);
  await page.waitForFunction(() => part('.page').dataset.busy === 'false');
  await reportHover(page, 'the whale');

  const switched = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    switched.push(await page.evaluate(() => answerOf('.prediction', () => part('[role=switch]').click())));
    await page.waitForFunction(() => part('.page').dataset.busy === 'false');
  }
  report(
    'a head switched off to the new prediction',
    `median ${ms(share(switched, 0.5))}, p95 ${ms(share(switched, 0.95))}`,
  );
  await page.context().close();
  await reportTraining();
} finally {
  await browser.close();
  await server.close();
}
