// The page in real Chromium, through what a visitor does.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attentionOptions, EXAMPLES } from '../../web/examples.js';
import { serve } from '../../web/serve.js';
import { change, initialState } from '../../web/state.js';
import { launch } from '../support/chromium.js';
import { hl } from '../support/headlight.js';

const site = fileURLToPath(new URL('../../dist/site', import.meta.url));
const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** The weights (B,H,T,S) that the core gives here for a state of the page. */
function expectedWeights(patch) {
  const state = change(initialState, patch);
  const problem = EXAMPLES[state.example].problem(state);
  return hl.scope(() => {
    const input = ({ random, seed, data, shape }) => (random ? hl.randn(random, { seed }) : { data, shape });
    const layer = hl.multiHeadAttention(problem.layer);
    for (const [name, data] of Object.entries(problem.weights ?? {})) layer.parameters[name].data.set(data);
    const query = input(problem.query);
    const { weights } = layer.forward(query, problem.key ? input(problem.key) : query, { ...attentionOptions(state, problem), weights: true });
    const [, H, T, S] = weights.shape;
    const data = weights.copy();
    return (b, h, t, s) => data[((b * H + h) * T + t) * S + s];
  });
}

/** The browser's flavour may round otherwise than this Node's. */
const same = (actual, expected, what) => assert.ok(Math.abs(actual - expected) <= 1e-6 * expected, `${what}: ${actual}, the core has ${expected}`);

describe('the page', { timeout: 120_000 }, () => {
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
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(server.url);
    await page.waitForSelector('#large:not([hidden])');
    return page;
  }

  /** Walks to a cell of the large picture. */
  const walk = (t, s) =>
    page.evaluate(async ([t, s]) => {
      const canvas = document.querySelector('#large');
      for (const key of ['Home', 'PageUp', ...Array(t).fill('ArrowDown'), ...Array(s).fill('ArrowRight')]) {
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      }
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }, [t, s]);

  const shown = async () => Number(await page.locator('#weight').getAttribute('data-value'));
  const settle = () => page.waitForTimeout(120);

  test('opens on a sentence with eight heads within a second, and with nothing amiss', async () => {
    const start = Date.now();
    await open();
    assert.ok(Date.now() - start < 3000);
    assert.equal(await page.locator('#grid button').count(), 8);
    assert.match(await page.locator('#about').textContent(), /constructed/);
    assert.match(await page.locator('#facts').textContent(), /8 × 18 × 18 weights in [\d.]+ ms/);
    const painted = await page.evaluate(() => {
      const canvas = document.querySelector('#large');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
      return colours.size;
    });
    assert.ok(painted > 10, 'the picture is painted');
    assert.deepEqual(faults, []);
  });

  test('the number hovered is the core\'s, under the pointer', async () => {
    await open();
    await page.click('#grid button:nth-child(5)');
    const weight = expectedWeights({ head: 4 });
    const box = await page.locator('#large').boundingBox();
    const seen = new Set();
    for (let y = 0.95; y > 0.2; y -= 0.06) {
      await page.mouse.move(box.x + box.width * (1 - y * 0.5), box.y + box.height * y);
      await settle();
      const [query, key] = await page.evaluate(() => [...document.querySelectorAll('#reading .token')].map((token) => token.textContent));
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
    ['fewer heads', { heads: 3, head: 1 }, async () => { await page.selectOption('#heads', '3'); await page.click('#grid button:nth-child(2)'); }],
    ['random cross-attention', { example: 'cross', seed: 7, batch: 1, head: 2 }, async () => {
      await page.selectOption('#example', 'cross');
      await settle();
      await page.fill('#seed', '7');
      await page.selectOption('#batch', '1');
      await page.click('#grid button:nth-child(3)');
    }],
    ['valid lengths', { example: 'lengths', batch: 1 }, async () => { await page.selectOption('#example', 'lengths'); await settle(); await page.selectOption('#batch', '1'); }],
  ]) {
    test(`${name}: every cell walked to shows the core's number`, async () => {
      await open();
      await act();
      await settle();
      const state = change(initialState, patch);
      const weight = expectedWeights(patch);
      for (const [t, s] of [[0, 0], [1, 3], [3, 1], [2, 2]]) {
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

  test('words of one\'s own, in any script, are text and never HTML', async () => {
    await open();
    await page.selectOption('#example', 'own');
    await page.fill('#text', '<img src=x onerror=alert(1)> 注意 שלום 👩‍🚀 &amp;');
    await settle();
    await page.click('#table-box summary');
    await settle();
    const heads = await page.locator('#table thead th').allTextContents();
    assert.deepEqual(heads, ['<', 'img', 'src', '=', 'x', 'onerror', '=', 'alert', '(', '1', ')', '>', '注', '意', 'שלום', '👩‍🚀', '&', 'amp', ';']);
    assert.equal(await page.locator('main img').count(), 0);
    await page.fill('#text', '   ');
    await settle();
    assert.match(await page.locator('#message').textContent(), /Write a few words/);
    await page.fill('#text', 'one two three');
    await settle();
    assert.equal(await page.locator('#message').textContent(), '');
    assert.deepEqual(faults, []);
  });

  test('the legend\'s ends are the scale\'s, and its colours the cells\'', async () => {
    await open();
    await page.selectOption('#example', 'equal');
    await settle();
    assert.deepEqual(await page.locator('#ticks span').allTextContents(), ['0', '0.025', '0.050', '0.075', '0.10']);
    const [cell, end] = await page.evaluate(() => {
      const pixel = (canvas, x, y) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data];
      const [large, legend] = ['#large', '#legend'].map((id) => document.querySelector(id));
      return [pixel(large, large.width - 12, large.height - 12), pixel(legend, legend.width - 1, 4)];
    });
    assert.deepEqual(cell, end);
  });

  test('a binary that cannot be loaded is said plainly', async () => {
    await page?.close();
    page = await browser.newPage();
    await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(server.url);
    await page.waitForFunction(() => /could not compute/.test(document.querySelector('#message').textContent));
    const message = await page.locator('#message').textContent();
    assert.match(message, /headlight\.(relaxed|simd128)\.wasm gave status 404 and type text\/html/);
    page = undefined;
  });

  for (const width of [360, 1024]) {
    test(`at ${width} px nothing scrolls sideways`, async () => {
      await open({ viewport: { width, height: 800 } });
      for (const example of Object.keys(EXAMPLES)) {
        await page.selectOption('#example', example);
        await settle();
        const { scrollWidth, innerWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, innerWidth }));
        assert.ok(scrollWidth <= innerWidth, `${example}: ${scrollWidth}`);
      }
    });
  }

  for (const colorScheme of ['light', 'dark']) {
    test(`axe finds nothing to mend, ${colorScheme}`, async () => {
      await open({ colorScheme });
      for (const example of ['sentence', 'own', 'padded']) {
        await page.selectOption('#example', example);
        await page.selectOption('#mask', 'padding');
        if (example === 'own') await page.click('#table-box summary');
        await settle();
        await page.evaluate(`(() => { const module = undefined, define = undefined; ${axe} })()`);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
      }
    });
  }
});
