// Tests the main actions of a visitor in Firefox.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../src/build/server.ts';
import { makeCheckpoint } from '../support/checkpoint.js';
import { openLesson } from '../support/course.js';
import { launchFirefox } from '../support/firefox.js';
import { GUESS, LAST, NAMES, TOKENS } from '../support/opening.js';
import { until } from '../support/wait.js';

let server, browser, page;
before(async () => {
  server = await serve({ root: fileURLToPath(new URL('../../dist/site', import.meta.url)) });
  browser = await launchFirefox();
  page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  // An address with a state opens the full page, even on a first visit.
  await page.goto(`${server.url}#layer=4&head=2`);
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
const click = (selector) => inPage((selector) => part(selector).click(), selector);
const press = (selector, name) =>
  inPage(
    (selector, name) => {
      const all = [...part(selector).querySelectorAll('button')];
      all.find(({ textContent }) => textContent.trim() === name).click();
    },
    selector,
    name,
  );

/** Waits until a part no longer moves, and returns its position. */
async function standing(selector) {
  const boxOf = () =>
    inPage((selector) => {
      const { left, top, width, height } = part(selector).getBoundingClientRect();
      return new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => resolve({ left, top, width, height }))),
      );
    }, selector);
  let box = await boxOf();
  await until(async () => {
    const before = JSON.stringify(box);
    box = await boxOf();
    return before === JSON.stringify(box) && inPage(() => part('.page').dataset.busy === 'false');
  });
  return box;
}

test('the whale opens with its guess, and a cell is read by pointer and keyboard', async () => {
  assert.equal(await inPage(() => part('.guess').textContent.trim()), GUESS);
  const [x, y] = await inPage((tokens) => {
    const { left, top, width, height } = part('.matrix').getBoundingClientRect();
    return [left + (10.5 * width) / tokens, top + (11.5 * height) / tokens];
  }, TOKENS);
  await page.mouse.move(x, y);
  await shows('.title .key', NAMES[10]);
  await inPage(() => part('#picture').focus());
  await page.keyboard.press('Home');
  await until(() => inPage(() => part('.spoken').textContent.startsWith('Attention from ')));
});

test('a head is switched off and on again, and the guess falls and comes back', async () => {
  const before = await inPage(() => part('.prediction .option b').textContent);
  await click('.corner .switch');
  await shows('.corner h2', 'is off');
  await until(() => inPage((before) => part('.prediction .option b').textContent !== before, before));
  await inPage(() => part('#picture').focus());
  await page.keyboard.down('Control');
  await page.keyboard.press('z');
  await page.keyboard.up('Control');
  await until(() => inPage((before) => part('.prediction .option b').textContent === before, before));
});

test('a mask is painted, and the address keeps it', async () => {
  await click('.changes > button');
  await until(() => inPage(() => part('.settings') !== null));
  await click('.settings .menu button');
  await until(() => inPage(() => part('[data-key=brush]') !== null));
  await click('[data-key=brush]');
  await until(() => inPage(() => part('canvas.brush') !== null));
  const box = await standing('.matrix');
  const at = (t, s) => [box.left + ((s + 0.5) * box.width) / TOKENS, box.top + ((t + 0.5) * box.height) / TOKENS];
  await page.mouse.move(...at(LAST, 0));
  await page.mouse.down();
  await page.mouse.move(...at(LAST, 5));
  await page.mouse.up();
  await until(() => inPage((row) => location.hash.includes(`painted=all%3A${row}.0-5`), LAST));
  await inPage(() => [...part('.brushing').querySelectorAll('button')].at(-1).click());
});

test('the model writes on, and two runs stand side by side', async () => {
  await click('.whatif > .pin');
  const length = await inPage(() => part('textarea').value.length);
  await press('.sentence', 'write on');
  await until(() => inPage((length) => part('textarea').value.length > length, length));
  await inPage(() => [...part('.sentence').querySelectorAll('button')].find((b) => b.textContent === 'stop')?.click());
  await inPage(() => part('.legend .menu button').click());
  await inPage(() => part('.legend [data-key=beside]').click());
  await until(() => inPage(() => part('.compare')?.querySelectorAll('.matrix').length === 2));
  await inPage(() => part('.legend .menu button').click());
  await inPage(() => part('.legend [data-key=heatmap]').click());
});

test('it trains for a moment, and Back leads to what was', async () => {
  await click('.train-word');
  await until(() => inPage(() => part('.play path:not(.full)') !== null));
  await inPage(() => part('.play').click());
  await inPage(() => history.back());
  await until(() => inPage(() => part('.page').classList.contains('training') === false));
});

test('the files of a tiny BERT are opened, and its layer 1, head 0 is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, 'bert');
  await click('.model-menu > button');
  await until(() => inPage(() => part('.model-menu [data-key=open]') !== null));
  await click('.model-menu [data-key=open]');
  await until(() => inPage(() => part('input[data-name=files]') !== null));
  const field = await page.$('>>> input[data-name=files]');
  await field.uploadFile(...(await readdir(folder)).map((name) => join(folder, name)));
  await shows('.told', 'bert: 2 layers × 4 heads');
  await press('.told', 'Close');
  await click('[data-head="1.0"]');
  await shows('.corner h2', 'Layer 1, head 0');
  await until(() => inPage(() => /looks at .+: \d\.\d\d/.test(part('.title').textContent)));
  await rm(folder, { recursive: true });
});

test('heads made by hand, and Chinese without a reload', async () => {
  await click('.model-menu button');
  await until(() => inPage(() => part('[data-key=constructed]') !== null));
  await click('[data-key=constructed]');
  await until(() => inPage(() => part('.model')?.querySelectorAll('.role-name').length === 8));
  await click('.more-menu button');
  await until(() => inPage(() => part('.more-menu [data-key=language]') !== null));
  await click('.more-menu [data-key=language]');
  await shows('.model-menu .under', '手工');
  assert.equal(await inPage(() => document.documentElement.lang), 'zh-Hans');
});

test('one heatmap in a page of one’s own is read by pointer and keyboard', async () => {
  const lesson = await openLesson();
  const course = await browser.newPage();
  await course.goto(lesson.url);
  const at = (selector) => course.$(`>>> ${selector}`);
  const title = async () => (await at('.title'))?.evaluate(({ textContent }) => textContent);
  await until(async () => (await title()) === 'whale looks at white: 0.50');
  const { x, y, width, height } = await (await at('#picture')).boundingBox();
  await course.mouse.move(x + width / 6, y + height / 2);
  await until(async () => (await title()) === 'white looks at The: 0.25');
  await (await at('#picture')).focus();
  await course.keyboard.press('PageUp');
  await until(async () => (await title()) === 'The looks at The: 1.00');
  await course.close();
  await lesson.close();
});
