// Pictures of the page, to be looked at: every view at three widths in both themes, into dist/screenshots.
//   --readme   the two that the README shows, into web/pictures/

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { serve } from '../../../web/host/serve.js';
import { launch } from '../../support/chromium.js';

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
const server = await serve({ root: folder('../../../dist/site') });
const browser = await launch();

/** A page at an address, and how it is used: `part` finds what lies in its shadow root. */
async function open(hash, options) {
  const page = await browser.newPage(options);
  await page.addInitScript(
    () => (globalThis.part = (selector) => document.querySelector('body > div').shadowRoot.querySelector(selector)),
  );
  await page.goto(`${server.url}layers.html#${hash}`);
  await page.waitForFunction(() => globalThis.part('#frame')?.getAttribute('aria-busy') === 'false');
  return page;
}
const settle = (page) => page.waitForFunction(() => part('#frame').getAttribute('aria-busy') === 'false');

const VIEWS = {
  start: { hash: '' },
  steps: { hash: 'mask=causal&locked=true' },
  lines: { hash: 'view=lines&also=[15]' },
  patches: { hash: 'example=patches&cell={"query":95,"key":92}&head=4' },
  long: { hash: 'example=long&cell={"query":300,"key":236}&head=6&scale=row' },
  cross: { hash: 'example=cross&cell={"query":4,"key":7}&temperature=0.2' },
  padded: { hash: 'example=padded&batch=1&cell={"query":1,"key":1}' },
  difference: {
    hash: 'head=6&cell={"query":7,"key":5}',
    async act(page) {
      await page.click('#more summary');
      await page.click('#pin');
      await page.locator('#temperature').fill('0.4');
    },
  },
  side: {
    hash: 'example=own',
    async act(page) {
      await page.click('#more summary');
      await page.click('#pin');
      await page.fill('#text', 'nobody knows what the little cat saw');
      await page.selectOption('#view', 'side');
    },
  },
  numbers: {
    hash: '',
    async act(page) {
      await page.click('#statistics-box summary');
      await page.click('#table-box summary');
      await page.click('#share summary');
    },
  },
  learned: { hash: 'example=learned&head=6&cell={"query":10,"key":7}' },
  train: {
    hash: 'page=train',
    async act(page) {
      await page.click('#play');
      await page.waitForTimeout(7000);
      await page.click('#play');
      await page.waitForFunction(() => part('#train-status').getAttribute('aria-busy') === 'false');
    },
  },
  file: { hash: 'example=file' },
  chinese: { hash: '', act: (page) => page.selectOption('#language', 'zh') },
};

async function takeAll() {
  const target = folder('../../../dist/screenshots');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1440, 1024, 360]) {
      for (const [name, { hash, act }] of Object.entries(VIEWS)) {
        const page = await open(hash, { viewport: { width, height: width === 360 ? 740 : 900 }, colorScheme });
        await act?.(page);
        await settle(page);
        await page.waitForTimeout(100);
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

async function takeForReadme() {
  await takeInstrument();
  const patches = await open('example=patches', {
    viewport: { width: 1240, height: 1100 },
    colorScheme: 'dark',
    deviceScaleFactor: 0.7,
  });
  const frames = [];
  const take = async (x, y) => {
    const box = await patches.locator('#large').boundingBox();
    await patches.mouse.move(box.x + box.width * x, box.y + box.height * y);
    await settle(patches);
    const above = await patches.locator('#explore .caption').boundingBox();
    frames.push(
      await patches.screenshot({
        clip: { x: box.x - 8, y: above.y, width: box.width + 16, height: box.y + box.height - above.y + 8 },
      }),
    );
  };
  for (const [head, ...points] of [
    [1, [0.74, 0.24], [0.2, 0.45], [0.5, 0.9]],
    [2, [0.5, 0.9], [0.2, 0.35]],
    [5, [0.2, 0.35], [0.3, 0.6]],
    [6, [0.3, 0.6]],
  ]) {
    await patches.click(`#grid button:nth-child(${head})`);
    await settle(patches);
    for (const point of points) await take(...point);
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
