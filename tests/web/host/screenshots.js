// Pictures of the page, to be looked at: every view at six widths in both themes, into dist/screenshots.
//   --readme   those that README and guide show, into web/pictures/

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { serve } from '../../../web/host/serve.js';
import { launch } from '../../support/chromium.js';

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
const server = await serve({ root: folder('../../../dist/site') });
const browser = await launch();

/** A page at an address: `part` finds what lies in its shadow root. */
async function open(hash, options) {
  const page = await browser.newPage(options);
  await page.addInitScript(
    () => (globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector)),
  );
  await page.goto(`${server.url}#${hash}`);
  await settle(page);
  return page;
}
const settle = (page) => page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));

const VIEWS = {
  start: { hash: '' },
  off: { hash: 'scale=5.3%3A0' },
  painted: { hash: 'painted=all%3A17.1-4' },
  lines: { hash: 'view=lines' },
  flow: { hash: 'view=flow' },
  story: { hash: 'panel=story&step=4' },
  train: { hash: 'model=trained&panel=train' },
  table: { hash: 'panel=table' },
  constructed: { hash: 'model=constructed&text=The+cat+sat+on+the+mat+because+it+was+tired.&layer=1&head=6&cell=8.6' },
  patches: { hash: 'model=patches&text=&layer=1&head=5&cell=39.25' },
  sentence: { hash: 'model=sentence&text=How+do+whales+sleep%3F&second=When+does+a+whale+rest%3F&layer=2&head=1' },
  open: { hash: '', act: (page) => page.locator('.menu.open button').first().click() },
  chinese: { hash: '', locale: 'zh-CN' },
};

async function takeAll() {
  const target = folder('../../../dist/screenshots');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [2560, 1920, 1440, 1024, 768, 360]) {
      for (const [name, { hash, act, locale = 'en-GB' }] of Object.entries(VIEWS)) {
        const height = { 2560: 1440, 1920: 1080, 360: 740 }[width] ?? 900;
        const page = await open(hash, { viewport: { width, height }, colorScheme, locale });
        await act?.(page);
        await settle(page);
        // Cells fade over into each other.
        await page.waitForTimeout(400);
        await page.screenshot({ path: `${target}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        await page.close();
      }
    }
  }
  console.log(`pictures are in dist/screenshots`);
}

/** PNGs of one size as an animation: each frame's data behind a number and how long it stands. */
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

/** The instrument with its model. */
async function takeInstrument() {
  const still = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
  await still.goto(server.url);
  await still.getByText('induction', { exact: true }).first().waitFor();
  await still.screenshot({ path: folder('../../../web/pictures/picture.png') });
  await still.close();
}

/** What there is to do, in a minute: [act, milliseconds that its picture stands]. */
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
    await page.mouse.move(x + ((s + 0.5) * width) / 17, y + ((t + 0.5) * height) / 17);
  };
  const word = (name) => page.getByRole('button', { name, exact: true }).first().click();
  const head = (name) => page.locator(`[data-head='${name}']`).first().click();
  const away = () => page.mouse.move(5, 795);
  const training = [12, 60, 120, 200, 300].map(
    (step) => () => page.waitForFunction((step) => Number(part('.time input')?.value) >= step, step),
  );
  const acts = [
    [away, 2000],
    [() => cell(14, 11), 1200],
    [() => cell(15, 3), 1200],
    [() => away().then(() => head('3.1')), 1400],
    [() => head('4.2'), 900],
    [() => word('off'), 2000],
    [() => word('on'), 900],
    [() => word('Flow'), 2000],
    [() => word('Lines'), 1400],
    [
      () =>
        word('Heatmap')
          .then(() => word('write on'))
          .then(() => page.waitForTimeout(1500)),
      1600,
    ],
    [() => word('Train'), 700],
    ...training.map((wait) => [wait, 800]),
  ];
  const frames = [];
  for (const [act] of acts) {
    await act();
    await page.waitForTimeout(500);
    frames.push(await page.screenshot());
  }
  const times = acts.map(([, milliseconds]) => milliseconds);
  writeFileSync(folder('../../../web/pictures/film.png'), animate(frames, times));
  await page.close();
}

async function takeForReadme() {
  await takeInstrument();
  await takeFilm();
  const patches = await open('model=patches&text=&layer=1&head=1', {
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
    await patches
      .locator('.thumbnail')
      .nth(head - 1)
      .click();
    await settle(patches);
    const box = await patches.locator('.patches canvas').boundingBox();
    for (const [x, y] of points) {
      await patches.mouse.move(box.x + (box.width / 2) * x, box.y + box.height * y);
      await patches.waitForTimeout(300);
      frames.push(await patches.screenshot());
    }
  }
  writeFileSync(
    folder('../../../web/pictures/patches.png'),
    animate(
      frames,
      frames.map(() => 1100),
    ),
  );
  console.log('written: web/pictures/');
}

try {
  await (process.argv.includes('--readme') ? takeForReadme() : takeAll());
} finally {
  await browser.close();
  await server.close();
}
