// The page in real Chromium, through what a visitor does.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readNpy, readSafetensors, writeNpy, writeSafetensors } from 'headlight/formats';
import { attentionOptions, EXAMPLES } from '../../../web/model/examples.js';
import { serve } from '../../../web/host/serve.js';
import { change, initialState } from '../../../web/model/state.js';
import { launch } from '../../support/chromium.js';
import { hl } from '../../support/headlight.js';

const site = fileURLToPath(new URL('../../../dist/site', import.meta.url));
const axe = await readFile(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** The weights (B,H,T,S) that the core gives here for a state of the page. */
function expectedWeights(patch) {
  const state = change(initialState, patch);
  const problem = EXAMPLES[state.example].problem(state);
  return hl.scope(() => {
    if (!problem.layer) {
      const N = problem.keys.length;
      const data = hl
        .attention(problem.query, problem.key, problem.key, { ...attentionOptions(state, problem), weights: true })
        .weights.copy();
      return (_b, h, t, s) => data[(h * N + t) * N + s];
    }
    const input = ({ random, seed, data, shape }) => (random ? hl.randn(random, { seed }) : { data, shape });
    const layer = hl.multiHeadAttention(problem.layer);
    for (const [name, data] of Object.entries(problem.weights ?? {})) layer.parameters[name].data.set(data);
    const query = input(problem.query);
    const { weights } = layer.forward(query, problem.key ? input(problem.key) : query, {
      ...attentionOptions(state, problem),
      weights: true,
    });
    const [, H, T, S] = weights.shape;
    const data = weights.copy();
    return (b, h, t, s) => data[((b * H + h) * T + t) * S + s];
  });
}

/** The browser's flavour may round otherwise than this Node's. */
const same = (actual, expected, what) =>
  assert.ok(Math.abs(actual - expected) <= 5e-6 * expected, `${what}: ${actual}, the core has ${expected}`);

describe('the page', { timeout: 240_000 }, () => {
  let server, browser, page, faults;

  before(async () => {
    server = await serve({ root: site });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  async function open(options = {}) {
    await page?.close();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    faults = [];
    // Reading pixels back is the tests' doing.
    page.on(
      'console',
      (message) =>
        ['error', 'warning'].includes(message.type()) &&
        !message.text().includes('willReadFrequently') &&
        faults.push(message.text()),
    );
    page.on('pageerror', (error) => faults.push(error.message));
    await ready();
    await page.goto(server.url);
    await page.waitForSelector('#pictures:not([hidden])');
    await settle();
    return page;
  }

  /** `part` finds what lies in the shadow root of the page. */
  const ready = () =>
    page.addInitScript(
      () => (globalThis.part = (selector) => document.querySelector('body > div').shadowRoot.querySelector(selector)),
    );

  /** Walks to a cell of the large picture. */
  const walk = (t, s) =>
    page
      .evaluate(
        async ([t, s]) => {
          const canvas = part('#large');
          for (const key of ['Home', 'PageUp', ...Array(t).fill('ArrowDown'), ...Array(s).fill('ArrowRight')]) {
            canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
          }
        },
        [t, s],
      )
      .then(settle);

  const shown = async () => Number(await page.locator('#weight').getAttribute('data-value'));
  /** Until nothing is computed or drawn any more. */
  const settle = () => page.waitForFunction(() => part('#frame').getAttribute('aria-busy') === 'false');

  test('opens on a sentence with eight heads within a second, and with nothing amiss', async () => {
    const start = Date.now();
    await open();
    assert.ok(Date.now() - start < 3000);
    assert.equal(await page.locator('#grid button').count(), 8);
    assert.match(await page.locator('#about').textContent(), /constructed/);
    assert.match(await page.locator('#facts').textContent(), /8 × 18 × 18 weights in [\d.]+ ms/);
    const painted = await page.evaluate(() => {
      const canvas = part('#large');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return colours.size;
    });
    assert.ok(painted > 10, 'the picture is painted');
    assert.deepEqual(faults, []);
  });

  test("the number hovered is the core's, under the pointer", async () => {
    await open();
    await page.click('#grid button:nth-child(5)');
    const weight = expectedWeights({ head: 4 });
    const box = await page.locator('#large').boundingBox();
    const seen = new Set();
    for (let y = 0.95; y > 0.2; y -= 0.06) {
      await page.mouse.move(box.x + box.width * (1 - y * 0.5), box.y + box.height * y);
      await settle();
      const [query, key] = await page.evaluate(() =>
        [...part('#reading').querySelectorAll('.token')].map((token) => token.textContent),
      );
      const value = await shown();
      const tokens = EXAMPLES.sentence.problem(initialState).queries;
      const places = [];
      tokens.forEach((q, t) => tokens.forEach((k, s) => q === query && k === key && places.push(weight(0, 4, t, s))));
      same(value, places[0], `${query} → ${key}`);
      seen.add(`${query} ${key}`);
    }
    assert.ok(seen.size > 5);
  });

  for (const [name, patch, act] of [
    ['temperature', { temperature: 10 ** 0.5 }, () => page.locator('#temperature').fill('0.5')],
    ['a causal mask', { mask: 'causal' }, () => page.selectOption('#mask', 'causal')],
    [
      'fewer heads',
      { heads: 3, head: 1 },
      async () => {
        await page.selectOption('#heads', '3');
        await page.click('#grid button:nth-child(2)');
      },
    ],
    [
      'random cross-attention',
      { example: 'cross', seed: 7, batch: 1, head: 2 },
      async () => {
        await page.selectOption('#example', 'cross');
        await settle();
        await page.fill('#seed', '7');
        await page.selectOption('#batch', '1');
        await page.click('#grid button:nth-child(3)');
      },
    ],
    [
      'valid lengths',
      { example: 'lengths', batch: 1 },
      async () => {
        await page.selectOption('#example', 'lengths');
        await settle();
        await page.selectOption('#batch', '1');
      },
    ],
  ]) {
    test(`${name}: every cell walked to shows the core's number`, async () => {
      await open();
      await act();
      await settle();
      const state = change(initialState, patch);
      const weight = expectedWeights(patch);
      for (const [t, s] of [
        [0, 0],
        [1, 3],
        [3, 1],
        [2, 2],
      ]) {
        await walk(t, s);
        same(await shown(), weight(state.batch, state.head, t, s), `query ${t}, key ${s}`);
      }
      assert.deepEqual(faults, []);
    });
  }

  test('ten equal keys weigh a tenth each; padding beyond two keys leaves a half', async () => {
    await open();
    await page.selectOption('#example', 'equal');
    await settle();
    await walk(0, 4);
    assert.ok(Math.abs((await shown()) - 0.1) < 1e-7);
    await page.selectOption('#mask', 'padding');
    await page.locator('#keys').fill('2');
    await settle();
    await walk(0, 1);
    assert.equal(await shown(), 0.5);
    await walk(0, 2);
    assert.equal(await shown(), 0);
    assert.match(await page.locator('#reading').textContent(), /hidden by the mask/);
  });

  test('the keyboard walks the cells and a live sentence says each', async () => {
    await open();
    await page.focus('#large');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await settle();
    assert.match(await page.locator('#announce').textContent(), /^query “it” → key “cat”: 0\.127, rank \d+ of 18$/);
  });

  test("words of one's own, in any script, are text and never HTML", async () => {
    await open();
    await page.selectOption('#example', 'own');
    await page.fill('#text', '<img src=x onerror=alert(1)> 注意 שלום 👩‍🚀 &amp;');
    await settle();
    await page.click('#table-box summary');
    await page.waitForSelector('#table thead');
    const heads = await page.locator('#table thead th').allTextContents();
    assert.deepEqual(heads, [
      '<',
      'img',
      'src',
      '=',
      'x',
      'onerror',
      '=',
      'alert',
      '(',
      '1',
      ')',
      '>',
      '注',
      '意',
      'שלום',
      '👩‍🚀',
      '&',
      'amp',
      ';',
    ]);
    assert.equal(await page.locator('main img').count(), 0);
    await page.fill('#text', '   ');
    await settle();
    assert.match(await page.locator('#message').textContent(), /Write a few words/);
    await page.evaluate(() =>
      part('.controls')
        .querySelectorAll('button')
        .forEach((button) => button.id !== 'reset' && button.click()),
    );
    await settle();
    await page.fill('#text', 'one two three');
    await settle();
    assert.equal(await page.locator('#message').textContent(), '');
    assert.deepEqual(faults, []);
  });

  test("the legend's ends are the scale's, and its colours the cells'", async () => {
    await open();
    await page.selectOption('#example', 'equal');
    await settle();
    assert.deepEqual(await page.locator('#ticks span').allTextContents(), ['0', '0.025', '0.05', '0.075', '0.1']);
    const [cell, end] = await page.evaluate(() => {
      const pixel = (canvas, x, y) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data];
      const [large, legend] = ['#large', '#legend'].map(part);
      return [pixel(large, large.width - 12, large.height - 12), pixel(legend, legend.width - 1, 4)];
    });
    assert.deepEqual(cell, end);
  });

  test('a binary that cannot be loaded is said plainly', async () => {
    await page?.close();
    page = await browser.newPage();
    await page.route('**/*.wasm', (route) =>
      route.fulfill({ status: 404, contentType: 'text/html', body: '<!doctype html>' }),
    );
    await page.goto(server.url);
    await page.locator('#message', { hasText: 'could not compute' }).waitFor();
    const message = await page.locator('#message').textContent();
    assert.match(message, /headlight\.(relaxed|simd128)\.wasm gave status 404 and type text\/html/);
    page = undefined;
  });

  test('the page that is one file works from a disk, with no network', async () => {
    await page?.close();
    const context = await browser.newContext({ offline: true });
    page = await context.newPage();
    const asked = [];
    page.on('request', (request) => asked.push(request.url().split(':')[0]));
    faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${new URL('../../../dist/headlight.html', import.meta.url)}#cell={"query":7,"key":4}`);
    await page.waitForSelector('#weight');
    same(await shown(), expectedWeights({})(0, 5, 7, 4), 'from a file');
    assert.deepEqual(
      asked.filter((scheme) => !['file', 'blob', 'data'].includes(scheme)),
      [],
    );
    assert.deepEqual(faults, []);
    await context.close();
    page = undefined;
  });

  test('the site works below a path, and is light', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'headlight-'));
    await cp(site, join(folder, 'a', 'b'), { recursive: true });
    const below = await serve({ root: folder });
    await page?.close();
    page = await browser.newPage();
    await page.goto(`${below.url}a/b/index.html`);
    await page.waitForSelector('#weight');
    await below.close();
    await rm(folder, { recursive: true });
    const first = ['index.html', 'main.js', 'mount.js', 'worker.js', 'headlight.relaxed.wasm'];
    const bytes = await Promise.all(first.map(async (name) => gzipSync(await readFile(join(site, name))).length));
    assert.ok(bytes.reduce((a, b) => a + b) < 130_000, `${bytes} bytes`);
  });

  for (const width of [360, 500, 720, 1024]) {
    test(`at ${width} px nothing scrolls sideways`, async () => {
      await open({ viewport: { width, height: 800 } });
      for (const example of Object.keys(EXAMPLES)) {
        await page.selectOption('#example', example);
        await settle();
        const { scrollWidth, innerWidth } = await page.evaluate(() => ({
          scrollWidth: document.documentElement.scrollWidth,
          innerWidth,
        }));
        assert.ok(scrollWidth <= innerWidth, `${example}: ${scrollWidth}`);
      }
    });
  }

  const reading = () => page.locator('#reading').textContent();
  const stepText = () => page.locator('#steps').textContent();

  test('a click holds a cell whatever the pointer does, Escape lets it go', async () => {
    await open();
    const box = await page.locator('#large').boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5);
    await settle();
    const held = await reading();
    assert.match(held, /Locked/);
    await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 0.9);
    await settle();
    assert.equal(await reading(), held);
    await page.focus('#large');
    await page.keyboard.press('Escape');
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.9);
    await settle();
    assert.notEqual(await reading(), held);
  });

  test('the steps behind a cell are written out with its numbers', async () => {
    await open();
    await walk(7, 5);
    const text = await stepText();
    for (const part of [
      'q · k = 31.2',
      'score = 31.2 × 0.1667 = 5.2',
      /weight = exp\(5\.2 − 5\.2\) \/ 1\.586 = 1 \/ 1\.586 = 0\.630/,
      'q of “it”',
      'k of “mat”',
      '288 numbers',
    ])
      assert.ok(part.test?.(text) ?? text.includes(part), String(part));
    await page.selectOption('#mask', 'causal');
    await walk(2, 9);
    assert.match(await stepText(), /hidden: −∞/);
    await page.selectOption('#example', 'wide');
    await settle();
    await walk(1, 1);
    assert.match(await stepText(), /q · k = −?[\d.]+( [−+] [\d.]+){3} \+ … = /);
    assert.match(await stepText(), /128 numbers, times Wo, give 128/);
    assert.deepEqual(faults, []);
  });

  test("scale, soft cap and window: every cell walked to shows the core's number", async () => {
    await open();
    await page.selectOption('#example', 'cross');
    await page.click('#more summary');
    await page.uncheck('#scaled');
    await page.locator('#softcap').fill('2');
    await page.selectOption('#mask', 'window');
    await page.locator('#window').fill('3');
    await settle();
    const weight = expectedWeights({ example: 'cross', scaled: false, softcap: 2, mask: 'window', window: 3 });
    for (const [t, s] of [
      [0, 0],
      [4, 6],
      [9, 12],
      [3, 9],
    ]) {
      await walk(t, s);
      same(await shown(), weight(0, 0, t, s), `query ${t}, key ${s}`);
    }
  });

  test('a mask painted by hand hides keys, the rest sums to 1 again, and what was painted is painted over', async () => {
    await open();
    await page.selectOption('#example', 'equal');
    await page.click('#more summary');
    await page.check('#paint');
    await settle();
    const canvas = await page.locator('#large').boundingBox();
    const at = (s) => [canvas.x + canvas.width - 24 - 48 * (9 - s), canvas.y + canvas.height - 20];
    await page.mouse.move(...at(9));
    await page.mouse.down();
    for (const s of [8, 7, 6, 5]) await page.mouse.move(...at(s), { steps: 3 });
    await page.mouse.up();
    await settle();
    await walk(0, 2);
    assert.ok(Math.abs((await shown()) - 0.2) < 1e-7);
    await walk(0, 7);
    assert.match(await reading(), /hidden by the mask/);
    await page.focus('#large');
    await page.keyboard.press('Space');
    await settle();
    assert.ok(Math.abs((await shown()) - 1 / 6) < 1e-7);
    await page.click('#unpaint');
    await settle();
    assert.ok(Math.abs((await shown()) - 0.1) < 1e-7);
  });

  test('a head that is switched off counts as 0 where the heads are joined', async () => {
    await open();
    await page.click('#more summary');
    await page.click('#off');
    await settle();
    assert.match(await page.locator('#head-about').textContent(), /switched off/);
    const heads = await page.locator('#steps canvas[aria-label^="output of this head"]').getAttribute('aria-label');
    assert.match(heads, /^output of this head: 0(, 0)+(, …)?$/);
    await page.click('#off');
    await settle();
    assert.doesNotMatch(await page.locator('#head-about').textContent(), /switched off/);
    await page.dblclick('#grid button:nth-child(2)');
    await settle();
    assert.equal(await page.locator('#grid button.off').count(), 7);
    await page.focus('#grid button:nth-child(2)');
    await page.keyboard.press('Shift+Enter');
    await settle();
    assert.equal(await page.locator('#grid button.off').count(), 0);
  });

  test('a finger reads a cell and holds it; the page scrolls beneath it as ever', async () => {
    await open({ viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true });
    await page.locator('#legend').scrollIntoViewIfNeeded();
    const box = await page.locator('#large').boundingBox();
    await page.touchscreen.tap(box.x + box.width * 0.7, box.y + box.height * 0.7);
    await settle();
    assert.match(await reading(), /Locked/);
    assert.equal(await page.evaluate(() => getComputedStyle(part('#large')).touchAction), 'manipulation');
    await page.tap('#grid button:nth-child(3)');
    await settle();
    assert.match(await page.locator('#head-name').textContent(), /itself/);
    assert.deepEqual(faults, []);
  });

  test('nothing moves by itself', async () => {
    await open();
    await page.selectOption('#example', 'patches');
    await settle();
    assert.equal(
      await page.evaluate(() => document.getAnimations().length + part('main').getRootNode().getAnimations().length),
      0,
    );
    assert.equal(
      await page.evaluate(
        () =>
          [...part('main').querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s')
            .length,
      ),
      0,
    );
  });

  test('while one drags the large picture follows; when one stops every head has, statistics too', async () => {
    const pictures = () =>
      page.evaluate(() => [...part('#grid').querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()));
    await open();
    await page.selectOption('#example', 'long');
    await settle();
    await page.evaluate(() => (part('#statistics-box').open = true));
    await settle();
    const before = await pictures();
    const followed = await page.evaluate(async () => {
      const seen = new Set();
      const dragTo = (value) => {
        part('#temperature').value = String(value);
        part('#temperature').dispatchEvent(new Event('input'));
      };
      for (let i = 0; i < 300 && seen.size < 6; i++) {
        dragTo((i % 50) / 100);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        seen.add(part('#large').toDataURL());
      }
      dragTo(0.6);
      return seen.size;
    });
    await settle();
    const [after, statistics] = [await pictures(), await page.locator('#statistics').textContent()];
    assert.equal(followed, 6);
    assert.equal(after.length, before.length);
    assert.ok(after.every((picture, h) => picture !== before[h]));
    await page.reload();
    await settle();
    await page.evaluate(() => (part('#statistics-box').open = true));
    await settle();
    assert.equal(await page.locator('#temperature').inputValue(), '0.6');
    assert.deepEqual(await pictures(), after);
    assert.equal(await page.locator('#statistics').textContent(), statistics);
    assert.deepEqual(faults, []);
  });

  test('lines: the token under the pointer is the query that is read', async () => {
    await open();
    await page.selectOption('#view', 'lines');
    await settle();
    const box = await page.locator('#large').boundingBox();
    const queries = new Set();
    for (let row = 0; row < 18; row += 4) {
      await page.mouse.move(box.x + 20, box.y + 6 + 24 * (row + 0.5));
      await settle();
      const [query, key] = await page.locator('#reading .token').allTextContents();
      assert.equal(query, EXAMPLES.sentence.problem(initialState).queries[row]);
      assert.ok(key.length > 0);
      queries.add(row);
    }
    assert.equal(queries.size, 5);
    assert.deepEqual(faults, []);
  });

  test('what is held is compared: differences are signed, and none where nothing has changed', async () => {
    await open();
    const colours = () =>
      page.evaluate(() => {
        const canvas = part('#large');
        const { data } = canvas
          .getContext('2d')
          .getImageData(canvas.width / 2, canvas.height / 2, canvas.width / 2 - 4, canvas.height / 2 - 4);
        return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size;
      });
    await page.click('#grid button:nth-child(7)');
    await page.click('#more summary');
    await page.click('#hold');
    await settle();
    assert.match(await page.locator('#head-name').textContent(), /now minus held/);
    const same = await colours();
    await page.locator('#temperature').fill('0.4');
    await settle();
    assert.ok((await colours()) > same + 3);
    const ticks = (await page.locator('#ticks span').allTextContents()).map((text) => Number(text.replace('−', '-')));
    assert.ok(ticks[0] < 0 && ticks[2] === 0 && ticks[4] === -ticks[0], ticks.join());
    await page.selectOption('#example', 'wide');
    await settle();
    assert.match(await page.locator('#held').textContent(), /another shape/);
    assert.deepEqual(faults, []);
  });

  test('the address keeps the whole view, any text included', async () => {
    await open();
    const text = '100 % & #1 = שלום 你好? +';
    await page.selectOption('#example', 'own');
    await page.fill('#text', text);
    await page.locator('#temperature').fill('-0.3');
    await page.selectOption('#mask', 'causal');
    await page.selectOption('#scale', 'log');
    await page.click('#grid button:nth-child(3)');
    await walk(2, 1);
    await page.waitForTimeout(400);
    const before = await reading();
    const address = page.url();
    await open();
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForSelector('#weight');
    await settle();
    assert.equal(await reading(), before);
    assert.equal(await page.inputValue('#text'), text);
    assert.deepEqual(await Promise.all(['#mask', '#scale', '#example'].map((id) => page.inputValue(id))), [
      'causal',
      'log',
      'own',
    ]);
  });

  test('files hold what is shown: CSV, npy, safetensors, SVG, PNG', async () => {
    await open();
    await page.click('#share summary');
    const weight = expectedWeights({});
    const saved = async (id) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(id)]);
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    const npy = await saved('#npy');
    assert.match(npy.name, /^headlight-A-sentence-.*\.npy$/);
    const { shape, data } = readNpy(npy.bytes);
    assert.deepEqual(shape, [1, 8, 18, 18]);
    data.forEach((w, i) => same(w, weight(0, Math.floor(i / 324), Math.floor(i / 18) % 18, i % 18), `weight ${i}`));
    const csv = (await saved('#csv')).bytes.toString().split('\r\n');
    assert.equal(csv.length, 20);
    await walk(7, 5);
    assert.equal(Math.fround(Number(csv[8].split(',').at(-13))), await shown());
    assert.deepEqual(Object.keys(readSafetensors((await saved('#safetensors')).bytes).tensors).sort(), [
      'scores',
      'weights',
    ]);
    assert.match((await saved('#svg')).bytes.toString(), /^<svg .*pronoun/s);
    assert.equal((await saved('#png')).bytes.subarray(1, 4).toString(), 'PNG');
  });

  test('a link and a program are copied; where that is not allowed the text stands ready', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.click('#share summary');
    await page.click('#code');
    await page.locator('#shared', { hasText: 'Program copied' }).waitFor();
    assert.match(
      await page.evaluate(() => navigator.clipboard.readText()),
      /hl\.attention\(\[query\], \[key\], \[value\]/,
    );
    await page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error()) } }),
    );
    await page.click('#link');
    await page.locator('#copy:not([hidden])').waitFor();
    assert.match(await page.inputValue('#copy'), /#/);
  });

  test('statistics sort the heads, and say how they are made', async () => {
    await open();
    await page.click('#statistics-box summary');
    await page.waitForSelector('#statistics thead');
    const column = async () => (await page.locator('#statistics tbody td:nth-child(2)').allTextContents()).slice(0, -1);
    assert.match(await page.locator('#statistics thead button').first().getAttribute('title'), /log₂ w/);
    await page.locator('#statistics thead button').first().click();
    await settle();
    const falling = (await column()).map(Number);
    assert.deepEqual(
      falling,
      falling.toSorted((a, b) => b - a),
    );
    assert.ok(Math.abs(falling[0] - Math.log2(18)) < 0.01);
    await page.locator('#statistics thead button').first().click();
    await settle();
    assert.deepEqual((await column()).map(Number), falling.toReversed());
    const mean = Number(await page.locator('#statistics tbody tr:last-child td').first().textContent());
    assert.ok(Math.abs(mean - falling.reduce((a, b) => a + b) / 8) < 0.01);
  });

  test("a file of one's own: chosen or dropped, attended, and said plainly where it does not fit", async () => {
    await open();
    await page.selectOption('#example', 'file');
    await settle();
    assert.match(await page.locator('#message').textContent(), /No file yet/);
    const q = { data: Float32Array.from({ length: 2 * 3 * 4 * 5 }, (_, i) => Math.sin(i)), shape: [2, 3, 4, 5] };
    await page.setInputFiles('#file', {
      name: 'q.npy',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(writeNpy(q)),
    });
    await settle();
    assert.equal(await page.locator('#grid button').count(), 3);
    await page.selectOption('#batch', '1');
    await page.click('#grid button:nth-child(2)');
    await walk(3, 1);
    const expected = hl.scope(() => hl.attention(q, q, q, { weights: true }).weights.copy());
    same(await shown(), expected[((1 * 3 + 1) * 4 + 3) * 4 + 1], 'own tensor');
    const drop = (name, bytes) =>
      page.evaluate(
        ([name, bytes]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
          part('main').dispatchEvent(
            new DragEvent('drop', { dataTransfer, cancelable: true, bubbles: true, composed: true }),
          );
        },
        [name, [...bytes]],
      );
    await drop('x.json', new TextEncoder().encode('{"q": [[1,2],[3,4]], "k": [[1,2,3]]}'));
    await settle();
    assert.match(
      await page.locator('#message').textContent(),
      /“k” has shape \[1,1,3\], expected \[1,1,2\] to fit the query/,
    );
    await drop('x.json', new TextEncoder().encode('[[1,0],[0,1],[1,1]]'));
    await settle();
    await walk(2, 2);
    assert.equal(await page.locator('#message').textContent(), '');
    assert.equal(await page.locator('#grid button').count(), 1);
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', ' {"q": [[1, 0], [0, 1]], "k": [[2, 0], [0, 2], [1, 1]]} ');
      part('#large').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, composed: true }));
    });
    await settle();
    await walk(0, 0);
    const pasted = Math.exp(2 / Math.SQRT2);
    same(await shown(), pasted / (pasted + 1 + Math.exp(1 / Math.SQRT2)), 'pasted');
    assert.deepEqual(faults, []);
  });

  test('the language changes without a reload and is remembered; no English is left', async () => {
    await open();
    await page.locator('#temperature').fill('0.3');
    await page.selectOption('#language', 'zh');
    await settle();
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    assert.equal(await page.locator('#temperature-value').textContent(), '2.00');
    await page.click('#table-box summary');
    await page.click('#statistics-box summary');
    await page.waitForSelector('#statistics thead');
    const text = await page.evaluate(() => {
      const clone = document.createElement('div');
      clone.append(...[...part('main').getRootNode().children].map((child) => child.cloneNode(true)));
      for (const found of clone.querySelectorAll('#language, #table, .token, h1, [hidden]')) found.remove();
      return clone.textContent;
    });
    const words = (text.match(/[A-Za-z]{4,}/g) ?? []).filter(
      (word) => !/^(SIMD|Headlight|softmax|Softmax|safetensors|JavaScript|the|mat|because|Q|Shift)$/i.test(word),
    );
    assert.deepEqual(words, []);
    await page.reload();
    await page.waitForSelector('#weight');
    assert.equal(await page.inputValue('#language'), 'zh');
    assert.deepEqual(faults, []);
  });

  const middle = async (selector = '#large', x = 0.5, y = 0.5) => {
    const box = await page.locator(selector).boundingBox();
    return [box.x + box.width * x, box.y + box.height * y];
  };
  const words = () => page.locator('#reading .token').allTextContents();

  test('shift and a click mark more rows, in lines and in every head; Escape lets them go', async () => {
    await open();
    await page.selectOption('#view', 'lines');
    await page.selectOption('#lines', 'one');
    await settle();
    const box = await page.locator('#large').boundingBox();
    const coloured = () =>
      page.evaluate(() => {
        const canvas = part('#large');
        const { data } = canvas.getContext('2d').getImageData(90, 0, 300, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 40 && data[i + 2] > data[i] + 40) count++;
        return count;
      });
    const one = await coloured();
    await page.keyboard.down('Shift');
    for (const row of [2, 9, 14]) await page.mouse.click(box.x + 20, box.y + 6 + 24 * (row + 0.5));
    await page.keyboard.up('Shift');
    await settle();
    assert.ok((await coloured()) > 1.5 * one);
    assert.match(
      await page.evaluate(() => new Promise((done) => setTimeout(() => done(location.hash), 400))),
      /also=%5B2%2C9%2C14%5D/,
    );
    await page.focus('#large');
    await page.keyboard.press('Escape');
    await settle();
    assert.ok((await coloured()) < 1.5 * one);
    await page.keyboard.press('Shift+Enter');
    await settle();
    assert.match(
      await page.evaluate(() => new Promise((done) => setTimeout(() => done(location.hash), 400))),
      /also=%5B\d+%5D/,
    );
  });

  test('patches: the patch under the pointer asks, a click holds it, then others are read; arrows walk the picture', async () => {
    await open();
    await page.selectOption('#example', 'patches');
    await settle();
    assert.equal(await page.inputValue('#view'), 'grid');
    await page.click('#grid button:nth-child(5)');
    await page.mouse.move(...(await middle('#large', 0.5 / 14, 0.25)));
    await settle();
    assert.deepEqual(await words(), ['3·1', '3·14']);
    const weight = expectedWeights({ example: 'patches', head: 4 });
    same(await shown(), weight(0, 4, 2 * 14, 2 * 14 + 13), 'mirror');
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.move(...(await middle('#large', 3.5 / 14, 0.75)));
    await settle();
    assert.deepEqual(await words(), ['3·1', '8·4']);
    same(await shown(), weight(0, 4, 2 * 14, 7 * 14 + 3), 'another patch');
    await page.focus('#large');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    await settle();
    assert.deepEqual(await words(), ['4·1', '4·14']);
    await page.selectOption('#view', 'cells');
    await walk(20, 21);
    same(await shown(), weight(0, 4, 20, 21), 'the same as cells');
    assert.deepEqual(faults, []);
  });

  test('a long sequence is enlarged by key, button and wheel; the cell walked to stays in sight', async () => {
    await open();
    await page.selectOption('#example', 'long');
    await settle();
    const weight = expectedWeights({ example: 'long', tokens: 512 });
    await page.click('#grid button:nth-child(4)');
    await page.mouse.move(...(await middle()));
    await settle();
    await page.focus('#large');
    for (let i = 0; i < 5; i++) await page.keyboard.press('+');
    await settle();
    assert.match(await page.locator('#zoom-text').textContent(), /queries \d+–\d+, keys \d+–\d+/);
    const [query, key] = (await words()).map(Number);
    same(await shown(), weight(0, 3, query - 1, key - 1), 'enlarged');
    for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
    await settle();
    const [, from, to] = (await page.locator('#zoom-text').textContent()).match(/keys (\d+)–(\d+)/).map(Number);
    assert.ok(from <= key + 20 && key + 20 <= to);
    same(await shown(), weight(0, 3, query - 1, key + 19), 'walked');
    await page.click('#zoom-all');
    await settle();
    assert.equal(await page.locator('#zoom-text').textContent(), '');
    await page.mouse.move(...(await middle()));
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await settle();
    assert.notEqual(await page.locator('#zoom-text').textContent(), '');
    assert.deepEqual(faults, []);
  });

  test('the page has as many elements for 4096 tokens as for 128, the table a part', async () => {
    await open();
    await page.selectOption('#example', 'long');
    await page.click('#table-box summary');
    const count = async (tokens) => {
      await page.selectOption('#tokens', String(tokens));
      await settle();
      if (await page.locator('#heads').isVisible()) await page.selectOption('#heads', '1');
      await settle();
      return page.evaluate(() => part('main').querySelectorAll('*').length);
    };
    const small = await count(128);
    const large = await count(4096);
    assert.ok(Math.abs(large - small) < 20, `${small}, ${large}`);
    assert.match(await page.locator('#facts').textContent(), /1 × 4096 × 4096 weights/);
    assert.match(await page.locator('#table caption').textContent(), /64 × 64/);
    await walk(0, 0);
    same(await shown(), await page.evaluate(() => Number(part('#weight').dataset.value)), 'shown');
    assert.deepEqual(faults, []);
  });

  test('two texts side by side: what is held stands beside what is now', async () => {
    await open();
    await page.selectOption('#example', 'own');
    await page.fill('#text', 'the cat saw the dog');
    await settle();
    await page.click('#more summary');
    await page.click('#hold');
    await page.fill('#text', 'nobody knows what the little cat saw');
    await page.selectOption('#view', 'side');
    await settle();
    const [held, now] = await Promise.all(['#held-picture', '#large'].map((id) => page.locator(id).boundingBox()));
    assert.ok(held.x + held.width <= now.x && Math.abs(held.y - now.y) < 60, JSON.stringify([held, now]));
    assert.match(await page.locator('#before-name').textContent(), /Held: Your own sentence/);
    await page.selectOption('#example', 'wide');
    await settle();
    assert.ok(await page.locator('#held-picture').isVisible());
    assert.deepEqual(faults, []);
  });

  test('what takes long says how far it is, and can be stopped; the page goes on after that', async () => {
    await open();
    const [H, T, D] = [144, 640, 8];
    const q = { data: Float32Array.from({ length: H * T * D }, (_, i) => Math.sin(i * 0.37)), shape: [1, H, T, D] };
    await page.selectOption('#example', 'file');
    await page.setInputFiles('#file', {
      name: 'q.npy',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(writeNpy(q)),
    });
    await page.waitForFunction(() => part('#grid').children.length === 144, undefined, { timeout: 60_000 });
    await settle();
    await page.evaluate(() => {
      globalThis.texts = [];
      new MutationObserver(() => {
        if (part('#progress').hidden) return;
        texts.push(part('#progress-text').textContent);
        part('#cancel').click();
      }).observe(part('#progress'), { attributeFilter: ['hidden'] });
    });
    // A fast machine may be done between the word and the click: then once more.
    let stopped = false;
    for (let i = 1; i <= 8 && !stopped; i++) {
      await page.locator('#temperature').fill(String(0.3 + i / 100));
      await settle();
      stopped = /Stopped/.test(await page.locator('#message').textContent());
    }
    assert.ok(stopped);
    assert.match(await page.evaluate(() => texts[0]), /Computing/);
    await page.evaluate(() => (part('#cancel').click = () => {}));
    await page.locator('#temperature').fill('0.4');
    await page.waitForSelector('#pictures:not([hidden])');
    await settle();
    assert.equal(await page.locator('#message').textContent(), '');
    assert.equal(await page.locator('#progress').isVisible(), false);
    assert.deepEqual(faults, []);
  });

  test('a file that is read slowly says how many bytes it has, and can be stopped; one that is lost says so', async () => {
    await open();
    await page.selectOption('#example', 'file');
    await settle();
    await page.evaluate(() => {
      const { stream } = File.prototype;
      globalThis.fault = null;
      File.prototype.stream = function () {
        const whole = stream.call(this);
        const slowly = new TransformStream({
          async transform(chunk, controller) {
            if (globalThis.fault) throw new Error(globalThis.fault);
            for (let at = 0; at < chunk.length; at += 2 ** 17) {
              await new Promise((resolve) => setTimeout(resolve, 60));
              controller.enqueue(chunk.subarray(at, at + 2 ** 17));
            }
          },
        });
        return whole.pipeThrough(slowly);
      };
      globalThis.restore = () => (File.prototype.stream = stream);
    });
    const x = { data: new Float32Array(2 ** 19), shape: [1, 4096, 128] };
    const file = { name: 'x.npy', mimeType: 'application/octet-stream', buffer: Buffer.from(writeNpy(x)) };
    await page.setInputFiles('#file', file);
    await page.waitForFunction(
      () =>
        /Reading: (0\.[1-9]|1\.\d) of 2\.0 MB/.test(part('#progress-text').textContent) &&
        part('#share-done').value > 0.05,
    );
    assert.equal(await page.locator('#frame').getAttribute('aria-busy'), 'true');
    await page.click('#cancel');
    await settle();
    assert.equal(await page.locator('#progress').isVisible(), false);
    assert.match(await page.locator('#message').textContent(), /No file yet/);
    await page.evaluate(() => (globalThis.fault = 'it is gone'));
    await page.setInputFiles('#file', [file]);
    await page.waitForFunction(() => /“x\.npy” could not be opened: it is gone/.test(part('#message').textContent));
    await page.evaluate(() => globalThis.restore());
    await page.setInputFiles('#file', {
      ...file,
      buffer: Buffer.from(writeNpy({ data: new Float32Array(20), shape: [5, 4] })),
    });
    await page.waitForSelector('#pictures:not([hidden])');
    assert.equal(await page.locator('#message').textContent(), '');
    assert.deepEqual(faults, []);
  });

  test("weights of one's own project inputs of one's own, dropped together", async () => {
    await open();
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, seed: 3 });
    const input = { data: Float32Array.from({ length: 40 }, (_, i) => Math.sin(i)), shape: [1, 5, 8] };
    await page.selectOption('#example', 'file');
    await page.setInputFiles('#file', [
      { name: 'x.npy', mimeType: 'application/octet-stream', buffer: Buffer.from(writeNpy(input)) },
      {
        name: 'layer.safetensors',
        mimeType: 'application/octet-stream',
        buffer: Buffer.from(writeSafetensors(layer.stateDict('torch'))),
      },
    ]);
    await page.waitForSelector('#pictures:not([hidden])');
    await settle();
    await page.selectOption('#heads', '2');
    await page.click('#grid button:nth-child(2)');
    await settle();
    await walk(3, 1);
    const { weights } = layer.forward(input, { weights: true });
    same(await shown(), weights.data[(5 + 3) * 5 + 1], 'own weights');
    assert.deepEqual(faults, []);
  });

  test('two pages in another page do not meet, and leave nothing behind', async () => {
    await page?.close();
    page = await browser.newPage();
    faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    await page.route('**/host.html', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<!doctype html><title>host</title><style>h2 { color: red }</style><div id="a" style="width:420px"></div><div id="b"></div>',
      }),
    );
    await page.goto(`${server.url}host.html`);
    const workers = () => page.workers().length;
    await page.evaluate(async () => {
      const { mount } = await import('./mount.js');
      globalThis.a = mount(document.querySelector('#a'), {
        state: { example: 'wide', head: 2 },
        theme: 'dark',
        language: 'en',
      });
      globalThis.b = mount(document.querySelector('#b'), { state: 'example=cross&head=3', language: 'zh' });
    });
    await page.locator('#a #weight, #a #grid button').first().waitFor();
    await page.locator('#b #grid button').first().waitFor();
    assert.deepEqual(
      [await page.locator('#a #grid button').count(), await page.locator('#b #grid button').count(), workers()],
      [4, 8, 2],
    );
    assert.deepEqual(
      await page.evaluate(() => [document.title, document.documentElement.lang, location.hash, scrollX]),
      ['host', '', '', 0],
    );
    assert.equal(await page.locator('#a header').isVisible(), false);
    await page.locator('#a #temperature').fill('0.5');
    assert.deepEqual(await page.evaluate(() => [a.state.temperature.toFixed(2), b.state.temperature, b.state.head]), [
      '3.16',
      1,
      3,
    ]);
    assert.match(await page.evaluate(() => a.address()), /example=wide&.*temperature=3\.16/);
    await page.evaluate(() => a.update({ example: 'cross', heads: 2 }));
    await page.waitForFunction(
      () => document.querySelector('#a > div').shadowRoot.querySelectorAll('#grid button').length === 2,
    );
    assert.ok((await page.locator('#a #large').boundingBox()).width <= 420);
    await page.evaluate(() => {
      a.destroy();
      b.destroy();
    });
    assert.deepEqual([await page.evaluate(() => document.querySelectorAll('#a *, #b *').length), workers()], [0, 0]);
    assert.deepEqual(faults, []);
    await page.close();
    page = undefined;
  });

  for (const [colorScheme, language] of [
    ['light', 'en'],
    ['dark', 'en'],
    ['light', 'zh'],
    ['dark', 'zh'],
  ]) {
    test(`axe finds nothing to mend, ${colorScheme}, ${language}`, async () => {
      await open({ colorScheme });
      await page.selectOption('#language', language);
      await page.evaluate(() =>
        part('main')
          .querySelectorAll('details')
          .forEach((details) => (details.open = true)),
      );
      for (const [example, view] of [
        ['sentence', 'cells'],
        ['own', 'lines'],
        ['padded', 'cells'],
        ['patches', 'grid'],
        ['wide', 'difference'],
        ['wide', 'side'],
      ]) {
        await page.selectOption('#example', example);
        await page.selectOption('#mask', 'padding');
        if (view === 'difference') await page.click('#hold');
        else await page.selectOption('#view', view);
        await settle();
        await walk(1, 1);
        await page.evaluate(`(() => { const module = undefined, define = undefined; ${axe} })()`);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(
          violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]),
          [],
        );
      }
    });
  }
});
