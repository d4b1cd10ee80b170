// How quickly the page answers, in Chromium, through the mouse: prints a table.

import { fileURLToPath } from 'node:url';
import { writeSafetensors } from '../../src/js/io/formats.js';
import { serve } from '../../web/host/serve.js';
import { launch } from '../support/chromium.js';

const server = await serve({ root: fileURLToPath(new URL('../../dist/site', import.meta.url)) });
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });

/** In the page: a record of each picture that is painted, and of how long the page's thread was busy with it. */
await page.addInitScript(() => {
  globalThis.part = (selector) => document.querySelector('body > div').shadowRoot.querySelector(selector);
  globalThis.painted = { large: [], count: 0 };
  const { putImageData } = OffscreenCanvasRenderingContext2D.prototype;
  OffscreenCanvasRenderingContext2D.prototype.putImageData = function (image, x, y) {
    putImageData.call(this, image, x, y);
    painted.count++;
    if (image.width < 150) return;
    const numbers = new Uint32Array(image.data.buffer);
    let hash = 0;
    for (let i = 0; i < numbers.length; i += 7) hash = (Math.imul(hash, 31) + numbers[i]) | 0;
    if (painted.large.at(-1)?.hash !== hash) painted.large.push({ hash, at: performance.now() });
  };
  // The time from an animation frame's start to the end of its callbacks is what the page's thread does for it.
  globalThis.frames = [];
  const ask = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = (callback) =>
    ask((time) => {
      const start = performance.now();
      callback(time);
      frames.push({ at: start, busy: performance.now() - start });
    });
});
const settled = () => page.waitForFunction(() => part('#frame').getAttribute('aria-busy') === 'false');
const choose = async (id, value) => {
  await page.selectOption(id, value);
  await settled();
};
const share = (numbers, at) =>
  numbers.toSorted((a, b) => a - b)[Math.min(Math.floor(at * numbers.length), numbers.length - 1)];
const rows = [];
const report = (what, figures) => {
  rows.push([what, figures]);
  console.log(`${what}: ${figures}`);
};

/** The pointer wanders over the picture; each move is measured from the event to the drawing that answers it. */
async function hover(moves = 120) {
  const box = await page.locator('#large').boundingBox();
  await page.evaluate(() => {
    globalThis.answers = [];
    globalThis.moved = [];
    frames.length = 0;
    let since = 0;
    part('#large').addEventListener('pointermove', () => moved.push((since = performance.now())), { capture: true });
    globalThis.watch = new MutationObserver(() => {
      if (since === 0 || part('#frame').getAttribute('aria-busy') === 'true') return;
      answers.push(performance.now() - since);
      since = 0;
    });
    watch.observe(part('#frame'), { attributeFilter: ['aria-busy'] });
  });
  for (let i = 0; i < moves; i++) {
    await page.mouse.move(
      box.x + box.width * (0.2 + (0.7 * ((i * 37) % moves)) / moves),
      box.y + box.height * (0.3 + (0.6 * i) / moves),
    );
    await settled();
  }
  return page.evaluate(() => {
    watch.disconnect();
    // The rows of every head are marked by the first drawing after the event.
    const marked = moved
      .map((at) => frames.find((frame) => frame.at >= at))
      .map((frame, i) => frame && frame.at + frame.busy - moved[i])
      .filter((time) => time !== undefined);
    return { answers, marked, busy: frames.map(({ busy }) => busy) };
  });
}

/**
 * The temperature is dragged to and fro for two seconds, further in every frame than a step of the slider; pictures
 * that differ are counted.
 */
async function drag() {
  return page.evaluate(async () => {
    painted.large.length = 0;
    const start = performance.now();
    while (performance.now() - start < 2000) {
      const slider = part('#temperature');
      slider.value = String(Math.abs((((performance.now() - start) / 500) % 2) - 1) * 1.6 - 0.8);
      slider.dispatchEvent(new Event('input'));
      await new Promise((done) => requestAnimationFrame(done));
    }
    const { large } = painted;
    const gaps = large.slice(1).map(({ at }, i) => at - large[i].at);
    return { perSecond: (large.length / (performance.now() - start)) * 1000, gaps };
  });
}

try {
  await page.goto(`${server.url}layers.html`);
  await settled();
  await choose('#example', 'long');
  for (let i = 0; i < 3; i++) await hover(40);
  const { answers, marked, busy } = await hover();
  report(
    '12 heads × 512 tokens, hover, page busy per frame',
    `p50 ${share(busy, 0.5).toFixed(1)} ms, p95 ${share(busy, 0.95).toFixed(1)} ms`,
  );
  report(
    "the same, from the pointer's event until the row is lit in every head",
    `p50 ${share(marked, 0.5).toFixed(1)} ms, p95 ${share(marked, 0.95).toFixed(1)} ms`,
  );
  report(
    "the same, from the pointer's event to the drawn answer (waits for the screen included)",
    `p50 ${share(answers, 0.5).toFixed(1)} ms, p95 ${share(answers, 0.95).toFixed(1)} ms`,
  );
  await drag();
  const dragged = await drag();
  report(
    '12 heads × 512 tokens, temperature dragged',
    `${dragged.perSecond.toFixed(0)} pictures/s, 95% of them within ${share(dragged.gaps, 0.95).toFixed(0)} ms`,
  );

  await choose('#tokens', '4096');
  const start = Date.now();
  await page.locator('#temperature').fill('0.1');
  await settled();
  report(
    '1 head × 4096 tokens, computed and drawn',
    `${Date.now() - start} ms (${await page.locator('#facts').textContent()})`,
  );
  const tiles = await hover(60);
  report(
    'the same, hover, page busy per frame',
    `p95 ${share(tiles.busy, 0.95).toFixed(1)} ms; event to answer p95 ${share(tiles.answers, 0.95).toFixed(1)} ms`,
  );

  const [H, T, D] = [144, 512, 16];
  const q = { data: Float32Array.from({ length: H * T * D }, (_, i) => Math.sin(i * 0.37) * 2), shape: [1, H, T, D] };
  await page.selectOption('#example', 'file');
  const buffer = Buffer.from(writeSafetensors({ q }));
  await page.setInputFiles('#file', { name: 'q.safetensors', mimeType: 'application/octet-stream', buffer });
  await page.waitForFunction(() => part('#grid').children.length === 144);
  await settled();
  for (const scale of ['log', 'sqrt', 'linear']) {
    const busyFor = await page.evaluate(async (scale) => {
      frames.length = 0;
      const select = part('#scale');
      select.value = scale;
      const before = performance.now();
      select.dispatchEvent(new Event('change'));
      while (part('#frame').getAttribute('aria-busy') === 'true')
        await new Promise((done) => requestAnimationFrame(done));
      return { whole: performance.now() - before, busy: Math.max(...frames.map(({ busy }) => busy)) };
    }, scale);
    report(`144 thumbnails of 512 × 512, painted, ${scale}`, `${busyFor.busy.toFixed(0)} ms`);
  }
  const whole = await page.evaluate(async () => {
    const before = performance.now();
    part('#temperature').value = '0.2';
    part('#temperature').dispatchEvent(new Event('input'));
    while (part('#frame').getAttribute('aria-busy') === 'true')
      await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - before;
  });
  const computed = Number((await page.locator('#facts').textContent()).match(/([\d.]+) ms/)[1]);
  report(
    '144 heads × 512 tokens, from a change to the last thumbnail',
    [
      `${whole.toFixed(0)} ms, of which the weights took ${computed.toFixed(0)}:`,
      `${(whole - computed).toFixed(0)} ms to pool, send and paint`,
    ].join(' '),
  );

  await page.goto('about:blank');
  await page.goto(`${server.url}layers.html#page=train`);
  await page.waitForFunction(() => part('#train-grid')?.children.length === 8);
  const learned = await page.evaluate(async () => {
    part('#play').click();
    const start = performance.now();
    const result = { frames: 0, gaps: [] };
    let last = start;
    const scores = () =>
      Math.max(
        0,
        ...(
          part('#score-curve')
            .getAttribute('aria-label')
            ?.match(/ 0\.\d+/g) ?? []
        ).map(Number),
      );
    const accuracy = () => Number(part('#train-status').textContent.match(/([\d.]+) % right/)?.[1] ?? 0);
    while (
      performance.now() - start < 60_000 &&
      !(result.induction && result.accuracy && performance.now() - start > 15_000)
    ) {
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      result.frames++;
      result.gaps.push(now - last);
      last = now;
      if (!result.induction && scores() > 0.5) result.induction = now - start;
      if (!result.accuracy && accuracy() > 90) result.accuracy = now - start;
    }
    return { ...result, seconds: (performance.now() - start) / 1000, status: part('#train-status').textContent };
  });
  report(
    'training, repeated sequences: frames a second on the page',
    `${(learned.frames / learned.seconds).toFixed(1)}, 99% of them within ${share(learned.gaps, 0.99).toFixed(0)} ms`,
  );
  report(
    "the same: a head's induction score above 0.5, accuracy above 90%",
    [
      `after ${(learned.induction / 1000).toFixed(1)} s, after ${(learned.accuracy / 1000).toFixed(1)} s`,
      `(${learned.status})`,
    ].join(' '),
  );
} finally {
  await browser.close();
  await server.close();
}
