// The page opens wherever it stands: served, below a path, inside another page.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { serve } from '../../../web/host/serve.js';
import { faults, open, openEmpty, page, server, site, textOf } from '../../support/page.js';
import { until } from '../../support/wait.js';

test('opens on a sentence with eight heads, and with nothing amiss', async () => {
  await open();
  assert.equal(await page.locator('#grid button').count(), 8);
  assert.match(await textOf('#about'), /constructed/);
  assert.match(await textOf('#facts'), /8 × 18 × 18 weights in [\d.]+ ms/);
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

test('a binary that cannot be loaded is said plainly', async () => {
  await openEmpty();
  await page.route('**/*.wasm', (route) =>
    route.fulfill({ status: 404, contentType: 'text/html', body: '<!doctype html>' }),
  );
  await page.goto(`${server.url}layers.html`);
  await page.locator('#message', { hasText: 'could not compute' }).waitFor();
  const message = await textOf('#message');
  assert.match(message, /headlight\.(relaxed|simd128)\.wasm gave status 404 and type text\/html/);
});

test('the site works below a path, and is light', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headlight-'));
  await cp(site, join(folder, 'a', 'b'), { recursive: true });
  const below = await serve({ root: folder });
  await openEmpty();
  await page.goto(`${below.url}a/b/layers.html`);
  await page.waitForSelector('#weight');
  await below.close();
  await rm(folder, { recursive: true });
  const first = ['layers.html', 'main.js', 'mount.js', 'worker.js', 'headlight.relaxed.wasm'];
  const bytes = await Promise.all(first.map(async (name) => gzipSync(await readFile(join(site, name))).length));
  assert.ok(bytes.reduce((a, b) => a + b) < 200_000, `${bytes} bytes`);
});

test('two pages in another page do not meet, and leave nothing behind', async () => {
  await openEmpty();
  await page.route('**/host.html', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><title>host</title><style>h2 { color: red }</style>
        <div id="a" style="width:420px"></div><div id="b"></div>`,
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
  assert.deepEqual(await page.evaluate(() => [document.title, document.documentElement.lang, location.hash, scrollX]), [
    'host',
    '',
    '',
    0,
  ]);
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
  assert.equal(await page.evaluate(() => document.querySelectorAll('#a *, #b *').length), 0);
  await until(() => workers() === 0);
  assert.deepEqual(faults, []);
});

test('a state that cannot be is refused by name, and leaves nothing behind', async () => {
  await openEmpty();
  await page.route('**/host.html', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>host</title><div id="a"></div>' }),
  );
  await page.goto(`${server.url}host.html`);
  const said = (state) =>
    page.evaluate(async (state) => {
      const { mount } = await import('./mount.js');
      try {
        mount(document.querySelector('#a'), { state });
        return 'mounted';
      } catch ({ name, parameter, message }) {
        return [name, parameter, message, document.querySelectorAll('#a *').length];
      }
    }, state);
  const [name, parameter, message, left] = await said({ example: 'nope' });
  assert.deepEqual([name, parameter, left], ['HeadlightError', 'state.example', 0]);
  assert.match(message, /^mount: state\.example is 'nope', expected one of sentence, /);
  assert.equal((await said({ head: 1.5 }))[1], 'state.head');
  assert.equal(page.workers().length, 0);
  assert.equal(await said({ example: 'wide', head: 2 }), 'mounted');
  assert.deepEqual(faults, []);
});
