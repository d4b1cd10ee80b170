// The main things a visitor does, once more in Firefox.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeNpy } from 'headlight/formats';
import { serve } from '../../../web/host/serve.js';
import { launchFirefox } from '../../support/firefox.js';
import { hl } from '../../support/headlight.js';
import { until } from '../../support/wait.js';

let server, browser, page;

before(async () => {
  server = await serve({ root: fileURLToPath(new URL('../../../dist/site', import.meta.url)) });
  browser = await launchFirefox();
  page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${server.url}layers.html`);
  await until(() => inPage(() => part('#pictures')?.hidden === false));
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
const settle = () => until(() => inPage(() => part('#frame').getAttribute('aria-busy') === 'false'));
const text = (id) => inPage((id) => part(id).textContent, id);
const choose = async (id, value) => {
  await inPage(
    (id, value) => {
      part(id).value = value;
      part(id).dispatchEvent(new Event(part(id).type === 'range' ? 'input' : 'change', { bubbles: true }));
    },
    id,
    value,
  );
  await settle();
};
const middle = (id, x = 0.5, y = 0.5) =>
  inPage(
    (id, x, y) => {
      const { left, top, width, height } = part(id).getBoundingClientRect();
      return [left + width * x, top + height * y];
    },
    id,
    x,
    y,
  );

test('opens with its heads painted, in relaxed or plain SIMD', async () => {
  await settle();
  assert.equal(await inPage(() => part('#grid').children.length), 8);
  assert.match(await text('#facts'), /8 × 18 × 18 weights .* SIMD/);
  const colours = await inPage(() => {
    const canvas = part('#large');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 10);
});

test('the pointer reads a cell, a click holds it, the keyboard walks on', async () => {
  await page.mouse.move(...(await middle('#large', 0.6, 0.6)));
  await settle();
  const over = await text('#reading');
  assert.match(over, /rank \d+ of 18/);
  await page.mouse.click(...(await middle('#large', 0.6, 0.6)));
  await settle();
  assert.match(await text('#reading'), /Locked/);
  await inPage(() => part('#large').focus());
  await page.keyboard.press('ArrowRight');
  await settle();
  assert.notEqual(await text('#reading'), over);
  assert.match(await text('#announce'), /query “.*” → key “.*”/);
  assert.match(await text('#steps'), /weight = /);
});

test('temperature, mask and view change what is shown; the address keeps it', async () => {
  await choose('#temperature', '0.5');
  assert.equal(await text('#temperature-value'), '3.16');
  await choose('#mask', 'causal');
  await inPage(() => part('#large').focus());
  for (const key of ['Home', 'PageUp', 'End']) await page.keyboard.press(key);
  await settle();
  assert.match(await text('#reading'), /hidden by the mask/);
  await choose('#view', 'lines');
  await choose('#view', 'cells');
  await until(() => inPage(() => location.hash.includes('mask=causal')));
});

test("patches, long sequences and a file of one's own", async () => {
  await choose('#example', 'patches');
  await page.mouse.move(...(await middle('#large', 0.1, 0.3)));
  await settle();
  assert.match(await text('#reading'), /\d+·\d+ → \d+·\d+/);
  await choose('#example', 'long');
  assert.match(await text('#facts'), /12 × 512 × 512/);
  await choose('#example', 'file');
  assert.match(await text('#message'), /No file:/);
  const q = { data: Float32Array.from({ length: 60 }, (_, i) => Math.sin(i)), shape: [1, 3, 4, 5] };
  await inPage(
    (bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], 'q.npy'));
      part('main').dispatchEvent(
        new DragEvent('drop', { dataTransfer, cancelable: true, bubbles: true, composed: true }),
      );
    },
    [...writeNpy(q)],
  );
  await until(() => inPage(() => part('#grid').children.length === 3));
  await inPage(() => part('#large').focus());
  for (const key of ['Home', 'PageUp', 'ArrowRight']) await page.keyboard.press(key);
  await settle();
  const expected = hl.scope(() => hl.attention(q, q, q, { weights: true }).weights.copy())[1];
  const shown = await inPage(() => Number(part('#weight').dataset.value));
  assert.ok(Math.abs(shown - expected) < 1e-6, `${shown}, ${expected}`);
});

test('Chinese without a reload', async () => {
  await choose('#language', 'zh');
  assert.match(await text('.heads h2'), /所有的头/);
  await choose('#language', 'en');
});
