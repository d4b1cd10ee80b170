// Takes screenshots of the page: every state at six widths in both themes, into dist/screenshots.
//   --only=flow,story4 --widths=1440,360 --themes=dark --to=FOLDER --from=SITE   only some of them
//   --readme, --readme=picture,patches   the pictures of the README and the guide, into web/pictures/

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { serve } from '../../src/build/server.ts';
import { launch } from '../support/chromium.js';
import { STATES, settle } from './states.js';

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Returns the words after --NAME=, or `all` without this option. */
const chosen = (name, all) => {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  return given ? given.slice(name.length + 3).split(',') : all;
};

const server = await serve({ root: chosen('from', [folder('../../dist/site')])[0] });
const browser = await launch();

/** Opens a page at an address. In the page, `part` finds an element in the shadow root. */
async function open(hash, options) {
  const page = await browser.newPage(options);
  await page.addInitScript(
    () => (globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector)),
  );
  await page.addInitScript(() => localStorage.setItem('first', 'seen'));
  await page.goto(`${server.url}#${hash}`);
  await settle(page);
  return page;
}
const SIZES = { 2560: 1440, 1920: 1080, 1440: 900, 1024: 768, 768: 1024, 360: 740 };

/**
 * Takes one state at all sizes and in both themes. A menu closes when the width changes, so such states are opened
 * again.
 */
async function takeState(name, target) {
  const { hash = '', act, locale = 'en-GB', fresh = false } = STATES[name];
  const widths = chosen('widths', Object.keys(SIZES)).map(Number);
  const themes = chosen('themes', ['light', 'dark']);
  const options = (width) => ({ viewport: { width, height: SIZES[width] }, locale, colorScheme: themes[0] });
  const begin = async (width) => {
    const page = await open(hash, options(width));
    page.setDefaultTimeout(60_000);
    await act?.(page);
    return page;
  };
  let page = fresh ? null : await begin(1440);
  for (const width of widths) {
    if (fresh) page = await begin(width);
    await page.setViewportSize({ width, height: SIZES[width] });
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await settle(page);
      // Waits until the cells have faded.
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${target}/${name}-${width}-${colorScheme}.png` });
      const longer = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight + 1);
      if (longer)
        await page.screenshot({ path: `${target}/${name}-${width}-${colorScheme}.whole.png`, fullPage: true });
    }
    if (fresh) await page.close();
  }
  if (!fresh) await page.close();
}

async function takeAll() {
  const [target] = chosen('to', [folder('../../dist/screenshots')]);
  mkdirSync(target, { recursive: true });
  for (const name of chosen('only', Object.keys(STATES)))
    await takeState(name, target).catch((error) => console.error(`${name}: ${error.message}`));
  console.log(`pictures are in ${target}`);
}

/** Combines PNGs of one size into an animated PNG, whose frames have numbers and durations. */
function animate(pngs, milliseconds) {
  const chunk = (type, ...parts) => {
    const body = Buffer.concat([Buffer.from(type), ...parts]);
    const [size, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(body.length - 4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, check]);
  };
  const chunksOf = (png) => {
    const chunks = [];
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
      chunks.push({
        type: png.toString('latin1', at + 4, at + 8),
        data: png.subarray(at + 8, at + 8 + png.readUInt32BE(at)),
      });
    return chunks;
  };
  const [head] = chunksOf(pngs[0]);
  const numbers = (...values) =>
    Buffer.from(new Uint32Array(values.map((x) => Buffer.from(Uint32Array.of(x).buffer).readUInt32BE())).buffer);
  let sequence = 0;
  const frames = pngs.flatMap((png, i) => {
    const times = Buffer.alloc(6);
    times.writeUInt16BE(milliseconds[i]);
    times.writeUInt16BE(1000, 2);
    const control = chunk(
      'fcTL',
      numbers(sequence++, head.data.readUInt32BE(0), head.data.readUInt32BE(4), 0, 0),
      times,
    );
    const data = chunksOf(png)
      .filter(({ type }) => type === 'IDAT')
      .map(({ data }) => (i === 0 ? chunk('IDAT', data) : chunk('fdAT', numbers(sequence++), data)));
    return [control, ...data];
  });
  return Buffer.concat([
    pngs[0].subarray(0, 8),
    chunk('IHDR', head.data),
    chunk('acTL', numbers(pngs.length, 0)),
    ...frames,
    chunk('IEND'),
  ]);
}

/** Takes the full page with the demo model. */
async function takeInstrument() {
  const still = await open('', { viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-GB' });
  await still.getByText('induction', { exact: true }).first().waitFor();
  await still.screenshot({ path: folder('../../web/pictures/picture.png') });
  await still.close();
}

/** Takes the film. A step is [action, milliseconds that the picture after it is shown]. */
async function takeFilm() {
  const page = await open('', {
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    locale: 'en-GB',
    deviceScaleFactor: 0.6,
  });
  await page.getByText('induction', { exact: true }).first().waitFor();
  const cell = async (t, s) => {
    const { x, y, width, height } = await page.locator('.matrix').boundingBox();
    await page.mouse.move(x + ((s + 0.5) * width) / 14, y + ((t + 0.5) * height) / 14);
  };
  const word = (name) => page.getByRole('button', { name, exact: true }).first().click();
  const head = (name) => page.locator(`[data-head='${name}']`).first().click();
  const away = () => page.mouse.move(5, 795);
  const toggle = () => page.locator('.corner .switch').first().click();
  const kind = async (key) => {
    await page.locator('.legend .menu button').first().click();
    await page.locator(`.legend [data-key=${key}]`).click();
    await away();
  };
  const beside = async () => {
    await kind('beside');
    await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix').length === 2);
  };
  const unchanged = async () => {
    await kind('heatmap');
    await toggle();
    await word('Unpin');
    await head('4.2');
    await word('Flow');
    await away();
  };
  const training = [12, 60, 120, 200, 300].map(
    (step) => () => page.waitForFunction((step) => Number(part('.time input')?.value) >= step, step),
  );
  const acts = [
    [away, 2000],
    [() => cell(13, 4), 1200],
    [() => cell(11, 11), 1200],
    [() => away().then(() => head('3.3')), 1400],
    [() => word('Pin this run').then(toggle), 2000],
    [() => head('4.2').then(beside), 2600],
    [() => head('3.3').then(unchanged), 2000],
    [() => word('Heatmap').then(() => kind('lines')), 1400],
    [
      () =>
        kind('heatmap')
          .then(() => word('write on'))
          .then(() => page.waitForTimeout(1500)),
      1600,
    ],
    [() => page.locator('.train-word').click(), 700],
    ...training.map((wait) => [wait, 800]),
  ];
  const frames = [];
  for (const [act] of acts) {
    await act();
    await page.waitForTimeout(500);
    frames.push(await page.screenshot());
  }
  const times = acts.map(([, milliseconds]) => milliseconds);
  writeFileSync(folder('../../web/pictures/film.png'), animate(frames, times));
  await page.close();
}

/** Takes the film of a picture in patches. A step is [head, points of the queries]. */
async function takePatches() {
  const page = await open('model=patches&text=&layer=0&head=0', {
    viewport: { width: 1440, height: 900 },
    colorScheme: 'dark',
    deviceScaleFactor: 0.5,
  });
  const frames = [];
  for (const [head, ...points] of [
    [1, [0.74, 0.24], [0.2, 0.45], [0.5, 0.9]],
    [2, [0.5, 0.9], [0.2, 0.35]],
    [5, [0.2, 0.35], [0.3, 0.6]],
    [6, [0.3, 0.6]],
  ]) {
    await page
      .locator('.thumbnail')
      .nth(head - 1)
      .click();
    await settle(page);
    const box = await page.locator('.pane').first().boundingBox();
    for (const [x, y] of points) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      await page.waitForTimeout(300);
      frames.push(await page.screenshot());
    }
  }
  const times = frames.map(() => 1100);
  writeFileSync(folder('../../web/pictures/patches.png'), animate(frames, times));
  await page.close();
}

async function takeForReadme() {
  const pictures = { picture: takeInstrument, film: takeFilm, patches: takePatches };
  for (const name of chosen('readme', Object.keys(pictures))) await pictures[name]();
  console.log('written: web/pictures/');
}

try {
  await (process.argv.some((word) => word.startsWith('--readme')) ? takeForReadme() : takeAll());
} finally {
  await browser.close();
  await server.close();
}
