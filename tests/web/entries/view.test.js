// Tests `headlight-attention/view` in other pages, in Chromium.

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { load } from 'headlight-attention';
import { serve } from '../../../src/build/server.ts';
import { makeCheckpoint } from '../../support/checkpoint.js';
import { makeCourse } from '../../support/course.js';
import { imitateHub } from '../../support/hub.js';
import { smallModel } from '../../support/hubPage.js';
import { GUESS } from '../../support/opening.js';
import { assertAccessible, assertAccessibleInFullTier, faults, openEmpty, page } from '../../support/page.js';
import { fullTest } from '../../support/tier.js';
import { until } from '../../support/wait.js';

/** The strictest policy that allows WebAssembly: no inline scripts, no eval, no blobs. */
const POLICY = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'",
};
let folder, server;
before(async () => {
  folder = await makeCourse();
  makeCheckpoint(join(folder, 'gpt2'), 'gpt2');
  server = await serve({ root: folder, headers: POLICY });
});
after(async () => {
  await server?.close();
  await rm(folder, { recursive: true });
});

const ROWS = [
  [1, 0, 0],
  [0.25, 0.75, 0],
  [0.125, 0.5, 0.375],
];
const TOKENS = ['The', 'white', 'whale'];

/**
 * Opens a page with elements. `options` has the options of the view that is mounted into each element: { id: options }.
 */
async function open(html, options = {}, how = {}) {
  await openEmpty({ locale: 'en-GB', viewport: { width: 1000, height: 800 }, ...how });
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>lesson</title><main><h1>Lesson</h1>${html}</main>`,
  );
  await page.goto(server.url);
  return page.evaluate(async (all) => {
    const { mount } = await import('./dist/view.js');
    globalThis.mount = mount;
    globalThis.views = {};
    for (const element of document.querySelectorAll('[data-style]')) element.style.cssText = element.dataset.style;
    for (const [id, options] of Object.entries(all)) {
      const view = mount(document.querySelector(`#${id}`), { language: 'en', ...options });
      globalThis.views[id] = view;
      await view.ready;
    }
  }, options);
}
const numbers = async (selector) => (await page.locator(selector).allTextContents()).map(Number);
const near = (got, expected) => {
  assert.equal(got.length, expected.length);
  got.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= 0.00501, `${i}: ${x}, expected ${expected[i]}`));
};
const workers = () => page.workers().length;

test('one heatmap with its labels, read under the pointer and by keyboard, without a worker', async () => {
  await open('<div id="a"></div>', { a: { attentions: ROWS, tokens: TOKENS, view: 'head', title: 'A head' } });
  assert.deepEqual(await page.locator('#a .row-label:not(.is-query, .is-key)').allTextContents(), TOKENS);
  assert.equal(await page.locator('#a h2').first().textContent(), 'A head');
  near(await numbers('#a .figure'), ROWS[2]);
  assert.equal(await page.locator('#a .title').textContent(), 'whale looks at white: 0.50');
  await page.locator('#a #picture').focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.locator('#a .title').textContent(), 'white looks at white: 0.75');
  const box = await page.locator('#a #picture').boundingBox();
  await page.mouse.move(box.x + box.width / 6, box.y + (5 * box.height) / 6);
  assert.equal(await page.locator('#a .title').textContent(), 'whale looks at The: 0.13');
  assert.equal(await page.locator('#a .header, #a .whatif, #a .sentence').count(), 0);
  assert.equal(workers(), 0);
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

test('all heads as a matrix; choosing one is told to the page, which may lead another view', async () => {
  const data = new Float32Array(24 * 9).fill(1 / 3);
  await open('<div id="a"></div><div id="b" data-style="width:360px"></div>', {
    a: { attentions: { data, shape: [4, 6, 3, 3] }, tokens: TOKENS, view: 'heads', layer: 1, head: 2 },
    b: { attentions: { data, shape: [4, 6, 3, 3] }, tokens: TOKENS, view: 'head' },
  });
  assert.equal(await page.locator('#a .thumbnail').count(), 24);
  assert.equal(await page.locator('#a .thumbnail[aria-checked="true"]').getAttribute('data-head'), '1.2');
  await page.evaluate(() => {
    views.a.destroy();
    const data = new Float32Array(24 * 9).fill(1 / 3);
    views.a = mount(document.querySelector('#a'), {
      attentions: { data, shape: [4, 6, 3, 3] },
      view: 'heads',
      language: 'en',
      onState: ({ layer, head }) => views.b.update({ layer, head }),
    });
    return views.a.ready;
  });
  await page.locator('#a [data-head="3.1"]').click();
  await page.locator('#b h2', { hasText: 'Layer 3, head 1' }).waitFor();
  assert.deepEqual(await page.evaluate(() => [views.b.state.layer, views.b.state.head]), [3, 1]);
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

fullTest('the three attentions of an encoder–decoder, each with its own tokens', async () => {
  const even = (...shape) => {
    const data = new Float32Array(shape.reduce((a, b) => a * b)).fill(1 / shape.at(-1));
    return { data: [...data], shape };
  };
  const attentions = { encoder: even(1, 2, 2, 2), decoder: even(1, 2, 3, 3), cross: even(1, 2, 3, 2) };
  const tokens = { source: ['la', 'baleine'], target: TOKENS };
  await open('<div id="a"></div><div id="b"></div>', {
    a: { attentions, tokens },
    b: { attentions, tokens, view: 'head', part: 'cross', head: 1 },
  });
  const rows = (id) => page.locator(`#${id} .row-label:not(.is-query, .is-key)`).allTextContents();
  const keys = (id) => page.locator(`#${id} .key-label:not(.is-key)`).allTextContents();
  assert.deepEqual([await rows('a'), await keys('a')], [tokens.source, tokens.source]);
  assert.deepEqual([await rows('b'), await keys('b')], [tokens.target, tokens.source]);
  near(await numbers('#b .figure'), [0.5, 0.5]);
  await page.locator('#a').getByRole('button', { name: 'Decoder', exact: true }).click();
  await page.locator('#a .row-label', { hasText: 'white' }).first().waitFor();
  assert.deepEqual([await rows('a'), await keys('a')], [tokens.target, tokens.target]);
  await page.evaluate(() => views.b.update({ part: 'encoder' }));
  await page.waitForFunction(() => views.b.state.part === 'encoder');
  await page.locator('#b .row-label', { hasText: 'baleine' }).first().waitFor();
  assert.equal(workers(), 0);
  await assertAccessible();
  const said = (options) =>
    page.evaluate((options) => {
      try {
        views.a.update(options);
      } catch ({ parameter }) {
        return parameter;
      }
    }, options);
  assert.equal(await said({ attentions: { ...attentions, cross: even(1, 2, 3, 4) } }), 'attentions.cross');
  assert.equal(await said({ attentions: { encoder: attentions.encoder, middle: even(1, 1) } }), 'attentions.middle');
  assert.equal(await said({ attentions, tokens: TOKENS }), 'tokens');
  assert.equal(await said({ attentions, tokens: { source: ['a'] } }), 'tokens.source');
  assert.equal(await said({ attentions: { encoder: attentions.encoder }, part: 'cross' }), 'part');
  assert.deepEqual(faults, []);
});

test('queries, keys and values: weights are those of the core, and read step by step', async () => {
  const numbersOf = (count, by) => Float32Array.from({ length: count }, (_, i) => Math.sin(by * (i + 1)));
  const [q, k, v] = [1.3, 2.1, 0.7].map((by) => ({ data: [...numbersOf(24, by)], shape: [2, 3, 4] }));
  await open('<div id="a"></div>', { a: { q, k, v, causal: true, tokens: TOKENS, controls: false, head: 1 } });
  const hl = await load();
  const batched = ({ data, shape }) => ({ data: Float32Array.from(data), shape: [1, ...shape] });
  const { weights } = hl.attention(batched(q), batched(k), batched(v), { causal: true, weights: true });
  near(await numbers('#a .figure'), weights.toArray()[0][1][2]);
  assert.equal(await page.locator('#a .strip').count(), 5);
  assert.equal(workers(), 1);
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});

test('the whale opens by itself, two of them do not meet, and nothing is left behind', async () => {
  await open('<div id="a"></div><div id="b" data-style="width:380px"></div>', { a: {}, b: { theme: 'dark' } });
  assert.equal(await page.locator('#a .thumbnail').count(), 20);
  assert.equal(await page.locator('#a .prediction .option').first().locator('.token').textContent(), GUESS);
  await page.evaluate(() => views.a.update({ text: 'Call me', layer: 0, head: 1 }));
  await page.locator('#a h2', { hasText: 'Layer 0, head 1' }).waitFor();
  assert.deepEqual(await page.evaluate(() => [views.b.state.text === 'Call me', views.b.state.layer]), [false, 4]);
  assert.match(await page.evaluate(() => views.a.address()), /text=Call\+me/);
  assert.deepEqual(await page.evaluate(() => [document.title, location.hash, document.documentElement.lang]), [
    'lesson',
    '',
    'en',
  ]);
  // In another page, the usual role of a head is not shown, because it would open another view.
  await page.evaluate(() => views.b.update({ text: 'Call me old man of sea' }));
  await page.locator('#b .role-text', { hasText: 'nothing to find' }).waitFor({ state: 'attached' });
  assert.equal(await page.locator('#b .usual').count(), 0);
  assert.equal(workers(), 2);
  await page.evaluate(() => Object.values(views).forEach((view) => view.destroy()));
  assert.equal(await page.evaluate(() => document.querySelectorAll('#a *, #b *').length), 0);
  await until(() => workers() === 0);
  assert.deepEqual(faults, []);
});

fullTest('story, lines and flow, and a phone’s width in the dark and in Chinese, without findings of axe', async () => {
  await open('<div id="a"></div><div id="b"></div><div id="c"></div><div id="d" data-style="width:360px"></div>', {
    a: { view: 'story' },
    b: { view: 'lines', attentions: ROWS, tokens: TOKENS },
    c: { view: 'flow', controls: false },
    d: { theme: 'dark', language: 'zh' },
  });
  await page.locator('#a .story').waitFor();
  await page.locator('#b svg path').first().waitFor({ state: 'attached' });
  await page.locator('#c .flow').waitFor();
  await page.locator('#d .prediction .tick').first().waitFor();
  assert.equal(await page.evaluate(() => scrollX), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await assertAccessible();
  assert.deepEqual(faults, []);
});

test('what is shown is changed afterwards: other weights, another part, theme and language', async () => {
  await open('<div id="a"></div>', { a: { attentions: ROWS, tokens: TOKENS, view: 'head' } });
  await page.evaluate(() =>
    views.a.update({
      attentions: [
        [
          [1, 0],
          [0.5, 0.5],
        ],
        [
          [0, 1],
          [1, 0],
        ],
      ],
      tokens: ['x', 'y'],
      head: 1,
    }),
  );
  await page.locator('#a .name', { hasText: 'Layer 0, head 1' }).waitFor();
  // A weight of 0 is not labelled.
  near(await numbers('#a .figure'), [1]);
  await page.evaluate(() => views.a.update({ cell: { t: 0, s: 1 } }));
  assert.equal(await page.locator('#a .title').textContent(), 'x looks at y: 1.00');
  await page.evaluate(() => views.a.update({ view: 'heads', theme: 'dark', language: 'zh' }));
  await page.locator('#a .thumbnail').nth(1).waitFor();
  await page.locator('#a > div[lang=zh-Hans][data-theme=dark]').waitFor();
  await page.evaluate(() => views.a.update({ model: 'whale', view: 'instrument' }));
  await page.locator('#a .thumbnail').nth(19).waitFor();
  const said = await page.evaluate(() => {
    try {
      views.a.update({ attentions: [[2]] });
    } catch ({ parameter, message }) {
      return [parameter, message];
    }
  });
  assert.deepEqual([said[0], /^update: /.test(said[1])], ['attentions', true]);
  assert.deepEqual(faults, []);
});

fullTest('a model of the Hub is opened by its name, with the token of the program', async () => {
  const hub = await imitateHub({ 'me/tiny': { private: true, files: smallModel('gpt2') } });
  const open = await serve({ root: folder, headers: { 'Content-Security-Policy': '' } });
  try {
    await openEmpty({ locale: 'en-GB', viewport: { width: 1000, height: 800 } });
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>lesson</title><div id="a"></div>');
    await page.goto(open.url);
    const show = (token) =>
      page.evaluate(
        async ([endpoint, token]) => {
          const { mount } = await import('./dist/view.js');
          const options = { model: 'hf://me/tiny@main', language: 'en', layer: 1, head: 3, hub: { endpoint, token } };
          const view = mount(document.querySelector('#a'), options);
          try {
            await view.ready;
            return document.querySelector('#a > div').shadowRoot.querySelector('.model-menu .under').textContent.trim();
          } catch (error) {
            return error.message;
          } finally {
            view.destroy();
          }
        },
        [hub.endpoint, token],
      );
    assert.match(await show(), /there is no model me\/tiny on .*, or it is private/);
    assert.equal(await show('hf_secret'), 'tiny');
    const wrong = (options) =>
      page.evaluate(async (options) => {
        const { mount } = await import('./dist/view.js');
        try {
          mount(document.querySelector('#a'), options);
        } catch (error) {
          return [error.name, error.parameter];
        }
      }, options);
    assert.deepEqual(await wrong({ hub: {} }), ['HeadlightError', 'model']);
    assert.deepEqual(await wrong({ model: 'hf://me/tiny', hub: 'token' }), ['HeadlightError', 'hub']);
  } finally {
    await open.close();
    hub.close();
  }
});

fullTest('a folder in the layout of Hugging Face, by its address', async () => {
  await open('<div id="a"></div>', { a: { model: './gpt2', view: 'heads' } });
  const { layers, heads } = await page.evaluate(() => ({ layers: 2, heads: document.querySelectorAll('#a').length }));
  assert.ok(layers && heads);
  assert.ok((await page.locator('#a .thumbnail').count()) >= 2);
  assert.deepEqual(faults, []);
});

test('what is wrong is thrown by name, and stands in the element until it is right', async () => {
  await open('<div id="a"></div>');
  const said = (options) =>
    page.evaluate((options) => {
      try {
        mount(document.querySelector('#a'), options);
        return 'mounted';
      } catch ({ name, parameter }) {
        return [name, parameter, document.querySelector('#a > div').shadowRoot.textContent];
      }
    }, options);
  assert.deepEqual(await said({ attentions: ROWS, tokens: ['a'] }), [
    'HeadlightError',
    'tokens',
    'mount: tokens has 1 texts, expected 3',
  ]);
  assert.equal((await said({ attentions: [] }))[1], 'attentions');
  assert.equal((await said({ attentions: ROWS, layer: 1 }))[1], 'layer');
  assert.equal((await said({ attentions: ROWS, cell: { t: 0 } }))[1], 'cell.s');
  assert.equal((await said({ attentions: ROWS, view: 'matrix' }))[1], 'view');
  assert.equal((await said({ attentions: ROWS, q: [[1]] }))[1], 'q');
  assert.equal((await said({ q: [[1]], k: [[1]] }))[1], 'v');
  assert.equal((await said({ tokens: ['a'] }))[1], 'tokens');
  assert.equal((await said({ attention: ROWS }))[1], 'attention');
  assert.equal((await said({ state: { layer: -1 } }))[1], 'state');
  const [, parameter, message] = await said({ text: 'x'.repeat(200_000) });
  assert.equal(parameter, 'text');
  assert.ok(message.length < 300, message.slice(0, 1000));
  assert.equal(await said({ attentions: ROWS, view: 'head' }), 'mounted');
  assert.equal(await page.locator('#a > div').count(), 1);
  assert.deepEqual(faults, []);
});

fullTest('weights that are NaN are shown as crosses, and nothing is thrown', async () => {
  await open('<div id="a"></div><div id="b"></div><div id="c"></div>', {
    a: { attentions: [[Number.NaN]] },
    b: { q: [[Number.NaN]], k: [[1]], v: [[1]] },
    c: {
      attentions: [
        [Number.NaN, 1],
        [0.5, 0.5],
      ],
      view: 'lines',
    },
  });
  await page.waitForFunction(() => document.querySelectorAll('#a > div, #b > div, #c > div').length === 3);
  assert.match(await page.locator('#a .title').first().textContent(), /NaN/);
  assert.deepEqual(faults, []);
});

fullTest('a layer that the model has not is an error of ready, and later of update', async () => {
  await open('<div id="a"></div><div id="b"></div>', { b: { layer: 4, head: 3 } });
  assert.equal(await page.locator('#b h2', { hasText: 'Layer 4, head 3' }).count(), 1);
  const [first, later] = await page.evaluate(async () => {
    const said = ({ name, code, parameter, message }) => [name, code, parameter, message];
    const { ready } = mount(document.querySelector('#a'), { layer: 5, language: 'en' });
    const first = await ready.then(() => 'ready', said);
    try {
      views.b.update({ head: 4 });
      return [first, 'updated'];
    } catch (error) {
      return [first, said(error)];
    }
  });
  assert.deepEqual(first.slice(0, 3), ['HeadlightError', 'ARGUMENT', 'layer']);
  assert.match(first[3], /layer is 5, expected an integer of at least 0 and at most 4/);
  assert.deepEqual(later.slice(0, 3), ['HeadlightError', 'ARGUMENT', 'head']);
  assert.deepEqual(faults, []);
});

test('a model that is not there is said in the element, and by ready', async () => {
  await open('<div id="a"></div>');
  const message = await page.evaluate(() =>
    mount(document.querySelector('#a'), { model: './nothing', view: 'head', language: 'en' }).ready.catch(
      ({ message }) => message,
    ),
  );
  assert.match(message, /config\.json/);
  assert.match(await page.locator('#a .failure').textContent(), /config\.json/);
});

test('it is as high as its element where that has a height, and never wider', async () => {
  await open(
    `<div id="a" data-style="width:300px;height:260px"></div><div id="b" data-style="width:1000px;height:640px"></div>
    <div id="c" data-style="width:420px"></div>`,
    {
      a: { attentions: ROWS, view: 'head' },
      b: { attentions: ROWS, tokens: TOKENS },
      c: { attentions: ROWS, tokens: TOKENS },
    },
    { viewport: { width: 1100, height: 800 } },
  );
  const boxes = await page.evaluate(() =>
    ['a', 'b', 'c'].map((id) => {
      const inside = document.querySelector(`#${id} > div`).shadowRoot.querySelector('.page');
      const { width, height } = inside.getBoundingClientRect();
      return [id, Math.round(width), Math.round(height), inside.scrollWidth <= inside.clientWidth];
    }),
  );
  assert.deepEqual(boxes.slice(0, 2), [
    ['a', 300, 260, true],
    ['b', 1000, 640, true],
  ]);
  assert.deepEqual([boxes[2][1], boxes[2][3]], [420, true]);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.evaluate(() => (document.querySelector('#c').style.width = '960px'));
  await page.waitForFunction(() => document.querySelector('#c > div').shadowRoot.querySelector('.page.desk'));
  assert.deepEqual(faults, []);
});

test('from another origin: the worker is begun by a script of the page’s own', async () => {
  const other = await serve({
    root: folder,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Content-Security-Policy': '',
    },
  });
  const home = await serve({
    root: folder,
    headers: { 'Content-Security-Policy': '', 'Cross-Origin-Embedder-Policy': 'unsafe-none' },
  });
  await openEmpty();
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>lesson</title><div id="a"></div>');
  await page.goto(home.url);
  await page.evaluate(async (url) => {
    const { mount } = await import(`${url}dist/view.js`);
    const one = { data: [1, 0, 0, 1], shape: [2, 2] };
    await mount(document.querySelector('#a'), { q: one, k: one, v: one, view: 'head' }).ready;
  }, other.url);
  assert.equal(await page.locator('#a #picture').count(), 1);
  await other.close();
  await home.close();
  assert.deepEqual(faults, []);
});

fullTest('where a policy forbids the worker it is said what to allow', async () => {
  const policy = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'";
  const home = await serve({ root: folder, headers: { 'Content-Security-Policy': policy } });
  await openEmpty();
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>lesson</title><div id="a"></div>');
  await page.goto(home.url);
  const said = await page.evaluate(async () => {
    const { mount } = await import('./dist/view.js');
    const one = { data: [1, 0, 0, 1], shape: [2, 2] };
    const how = { q: one, k: one, v: one, view: 'head', language: 'en' };
    return mount(document.querySelector('#a'), how).ready.catch(({ message }) => message);
  });
  assert.match(said, /the worker did not start.*Content-Security-Policy must allow it/);
  await page.locator('#a .failure', { hasText: 'worker-src blob:' }).waitFor();
  await home.close();
});
