// Tests the built documentation: every page in Chromium, every program that runs there, the search, and accessibility
// (axe) on each kind of page.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import test, { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { frontMatterOf } from '../../src/build/llms.ts';
import { serve } from '../../src/build/server.ts';
import { pagesOf } from '../../web/docs/.vitepress/programPages.js';
import { blocksOf, idOf, printedBy, whyNot } from '../../web/docs/.vitepress/programs.js';
import { assertAccessible, assertNoSidewaysScroll, faults, openEmpty, page, server, site } from '../support/page.js';

const docs = fileURLToPath(new URL('../../web/docs', import.meta.url));
const pages = pagesOf(docs).map((name) => {
  const text = readFileSync(join(docs, name), 'utf8');
  return { path: name.replace(/md$/, 'html'), text, blocks: blocksOf(text), ...frontMatterOf(text) };
});

/** Pages of each kind: text, tables, programs with output, programs that do not run, a list, and an error. */
const KINDS = ['index', 'guide/index', 'guide/edits', 'families', 'recipes/server', 'changelog', 'names', '404'];

/** Search terms, by the page that explains them. */
const NAMES = {
  'guide/attention': ['softcap', 'validLens', 'keyPadding', 'maskFill', 'kvHeads', 'alibi', 'pastKey', 'window'],
  'guide/memory': ['dispose', 'scope', 'HeadlightError', 'OUT_OF_MEMORY', 'toArray', 'DISPOSED'],
  'guide/layers': ['multiHeadAttention', 'additiveAttention', 'stateDict', 'rmsNorm', 'embedding', 'loadStateDict'],
  'guide/training': ['adamW', 'clipGradients', 'cosineSchedule', 'saveFolder', 'train.py', 'torchrun'],
  'guide/models': ['openModel', 'openTokenizer', 'layersIn', 'onProgress', 'longrope', 'unread'],
  'guide/results': ['modules.json', 'normalize', 'cross-encoders'],
  'guide/generation': ['topK', 'repetitionPenalty', 'rewind', 'generation_config.json', 'logProbs'],
  'guide/analysis': ['logitLens', 'headScores', 'rollout', 'composition', 'logitDifference'],
  'guide/circuits': ['differentiate', 'attributionPatching', 'edgeAttribution', 'runEdges', 'findCircuit'],
  'guide/onnx': ['toOnnx', 'opset', 'past_key_values'],
  'guide/files': ['readSafetensors', 'writeNpy', 'readNpz', 'readTorch'],
  'guide/page': ['onState', 'controls'],
  values: ['hook_resid_mid', 'hook_pattern', 'hook_z', 'hidden_states'],
  families: ['ModernBERT', 'Whisper', 'CamemBERT'],
  platforms: ['Deno', 'SvelteKit'],
};

/** Opens a page of the documentation, and measures its layout shift. */
async function openDocs(path, { from = server.url, ...options } = {}) {
  await openEmpty({ viewport: { width: 1440, height: 900 }, ...options });
  await page.addInitScript(() => {
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(`${from}docs/${path}`, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('#app').__vue_app__ && document.readyState === 'complete');
}

/** Presses every Run button of the page, and returns the output of each program. */
async function runAll() {
  const runs = page.locator('.run');
  for (const run of await runs.all()) await run.getByRole('button', { name: 'Run' }).click();
  await page.waitForFunction(() => [...document.querySelectorAll('.run')].every((run) => run.dataset.state === 'done'));
  return runs.evaluateAll((elements) =>
    elements.map((element) => ({
      lines: [...element.querySelectorAll('pre code')].map((line) => line.textContent.replace(/\n$/, '')),
      errors: [...element.querySelectorAll('pre .error')].map((line) => line.textContent),
    })),
  );
}

/** Waits until a program shows a picture of attention weights. */
const hasPicture = (id) =>
  page
    .frames()
    .find((frame) => frame.url().includes(id))
    .waitForFunction(() =>
      [...document.querySelectorAll('body *')].some((element) =>
        element.shadowRoot?.querySelector('.matrix, .thumbnail'),
      ),
    );

describe('the documentation', () => {
  for (const { path, title, description, blocks } of pages)
    test(`${path}: opens without a fault, and its programs print what it says`, async () => {
      await openDocs(path);
      assert.equal(await page.locator('h1').count(), 1);
      assert.match(await page.title(), new RegExp(`^${title.replaceAll(/[.*+?()]/g, '\\$&')} · Headlight$`));
      assert.equal(await page.locator('meta[name=description]').getAttribute('content'), description);
      assert.ok((await page.evaluate(() => globalThis.shift)) < 0.1, 'layout shift');

      const programs = blocks.filter((block) => whyNot(block) === '');
      const shown = await runAll();
      assert.equal(shown.length, programs.length);
      for (const [i, block] of programs.entries()) {
        assert.deepEqual(shown[i].errors, [], block.text);
        if (block.language === 'html') await hasPicture(idOf(block.text));
        else assert.deepEqual(shown[i].lines, printedBy(block.text), block.text);
      }
      const reasons = blocks.map(whyNot).filter((reason) => reason);
      assert.deepEqual(await page.locator('.cannot-run').allTextContents(), reasons);
      assert.deepEqual(faults, []);
      await page.setViewportSize({ width: 360, height: 740 });
      await assertNoSidewaysScroll(path);
    });

  test('an error of a program is shown', async () => {
    await openDocs('index.html');
    await page.route('**/programs/*.js', async (route) => {
      if (/program\.js|inspect\.js/.test(route.request().url())) return route.continue();
      return route.fulfill({
        contentType: 'text/javascript',
        body: "console.warn('first'); throw new Error('no such');",
      });
    });
    const run = page.locator('.run').first();
    await run.getByRole('button').click();
    await run.locator('.error').waitFor();
    assert.equal(await run.locator('.warn').textContent(), 'first\n');
    assert.match(await run.locator('.error').textContent(), /^Error: no such/);
    assert.equal(
      await run
        .getByRole('button')
        .textContent()
        .then((text) => text.trim()),
      'Run again',
    );
  });

  test('programs run without the headers for threads, on one thread', async () => {
    const headers = { 'Cross-Origin-Opener-Policy': 'unsafe-none', 'Cross-Origin-Embedder-Policy': 'unsafe-none' };
    const bare = await serve({ root: site, headers });
    try {
      await openDocs('guide/threads.html', { from: bare.url });
      assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), false);
      const [{ lines, errors }] = await runAll();
      assert.deepEqual(errors, []);
      assert.deepEqual(lines, ['[ 1, 8, 64, 32 ]', 'true']);
    } finally {
      await bare.close();
    }
  });

  test('links of the built pages lead to files of the site, and to headings that are there', () => {
    const html = (path) => readFileSync(join(site, 'docs', path), 'utf8');
    const files = readdirSync(join(site, 'docs'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.html') && !name.startsWith('programs'));
    assert.equal(files.length, pages.length + 1);
    for (const file of files.filter((name) => name !== '404.html'))
      for (const [, href] of html(file).matchAll(/<a\b[^>]*\shref="([^"]+)"/g)) {
        if (/^(https?:|data:)/.test(href)) continue;
        const [path, anchor] = href.split('#');
        const from = join('docs', file, '..');
        const target =
          path === '' ? join('docs', file) : normalize(join(from, path.endsWith('/') ? `${path}index.html` : path));
        assert.ok(existsSync(join(site, target)), `${file}: ${href}`);
        if (anchor && target.startsWith('docs'))
          assert.ok(
            readFileSync(join(site, target), 'utf8').includes(`id="${decodeURIComponent(anchor)}"`),
            `${file}: ${href}`,
          );
      }
  });

  for (const kind of KINDS)
    for (const colorScheme of ['light', 'dark'])
      test(`${kind}: axe finds nothing, ${colorScheme}`, async () => {
        await openDocs(`${kind}.html`, { colorScheme });
        await runAll();
        await assertAccessible();
      });

  test('the search finds names of the API, of values and of models', async () => {
    const names = Object.entries(NAMES).flatMap(([target, list]) => list.map((name) => ({ name, target })));
    assert.ok(names.length >= 50, `${names.length} names`);
    await openDocs('index.html');
    await page.locator('.VPNavBarSearch button').first().click();
    const input = page.locator('#localsearch-input');
    const missed = [];
    for (const { name, target } of names) {
      await input.fill(name);
      const found = await page
        .waitForFunction(
          (target) =>
            [...document.querySelectorAll('.VPLocalSearchBox a.result')].some((link) => link.href.includes(target)),
          `/docs/${target}`,
          { timeout: 5000 },
        )
        .catch(() => null);
      if (!found) missed.push(`${name}: ${target}`);
    }
    assert.deepEqual(missed, []);
  });

  test('the page of names has every export and every method of an instance', async () => {
    const { text } = pages.find(({ path }) => path === 'names.html');
    const main = await import('headlight-attention');
    const modules = await Promise.all(
      ['formats', 'analysis', 'onnx'].map((name) => import(`headlight-attention/${name}`)),
    );
    // Classes whose instances are returned by functions, and that the page need not list.
    const classes = ['AttentionResult', 'Headlight', 'MultiHeadAttention', 'Tensor'];
    const names = [main, ...modules].flatMap((module) => Object.keys(module)).filter((name) => !classes.includes(name));
    const methods = Object.getOwnPropertyNames(main.Headlight.prototype).filter(
      (name) => !['constructor', 'toString'].includes(name),
    );
    assert.ok(names.length > 15 && methods.length > 20);
    for (const name of names) assert.ok(text.includes(`\`${name}\``), name);
    for (const name of methods) assert.ok(text.includes(`\`hl.${name}\``), name);
  });

  test('the page and the documentation link to each other', async () => {
    await openDocs('index.html');
    await page.getByRole('link', { name: 'Open Headlight' }).first().click();
    await page.waitForFunction(() => document.querySelector('body > div')?.shadowRoot?.querySelector('header'));
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Documentation' }).click();
    await page.waitForURL('**/docs/index.html');
    assert.match(await page.locator('h1').textContent(), /^Quick start/);
  });
});
