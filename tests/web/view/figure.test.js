// The large picture under pointer, finger and keys.

import assert from 'node:assert/strict';
import test from 'node:test';
import { EXAMPLES } from '../../../web/model/examples.js';
import { initialState } from '../../../web/model/state.js';
import {
  addressHas,
  faults,
  open,
  page,
  pointOf,
  settle,
  shownWeight,
  textOf,
  tokensRead,
  walk,
} from '../../support/page.js';
import { assertSame, expectedWeights } from '../../support/weights.js';

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

test('a finger reads a cell and holds it; the page scrolls beneath it as ever', async () => {
  await open({ viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true });
  await page.locator('#legend').scrollIntoViewIfNeeded();
  const box = await page.locator('#large').boundingBox();
  await page.touchscreen.tap(box.x + box.width * 0.7, box.y + box.height * 0.7);
  await settle();
  assert.match(await textOf('#reading'), /Locked/);
  assert.equal(await page.evaluate(() => getComputedStyle(part('#large')).touchAction), 'manipulation');
  await page.tap('#grid button:nth-child(3)');
  await settle();
  assert.match(await textOf('#head-name'), /itself/);
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
    const [query, key] = await tokensRead();
    assert.equal(query, EXAMPLES.sentence.problem(initialState).queries[row]);
    assert.ok(key.length > 0);
    queries.add(row);
  }
  assert.equal(queries.size, 5);
  assert.deepEqual(faults, []);
});

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
  await addressHas(/also=%5B2%2C9%2C14%5D/);
  await page.focus('#large');
  await page.keyboard.press('Escape');
  await settle();
  assert.ok((await coloured()) < 1.5 * one);
  await page.keyboard.press('Shift+Enter');
  await settle();
  await addressHas(/also=%5B\d+%5D/);
});

test('patches: the patch under the pointer is the query, a click holds it, arrows walk the picture', async () => {
  await open();
  await page.selectOption('#example', 'patches');
  await settle();
  assert.equal(await page.inputValue('#view'), 'grid');
  await page.click('#grid button:nth-child(5)');
  await settle();
  await page.mouse.move(...(await pointOf('#large', 0.5 / 14, 0.25)));
  await settle();
  assert.deepEqual(await tokensRead(), ['3·1', '3·14']);
  const weight = expectedWeights({ example: 'patches', head: 4 });
  assertSame(await shownWeight(), weight(0, 4, 2 * 14, 2 * 14 + 13), 'mirror');
  await page.mouse.down();
  await page.mouse.up();
  await page.mouse.move(...(await pointOf('#large', 3.5 / 14, 0.75)));
  await settle();
  assert.deepEqual(await tokensRead(), ['3·1', '8·4']);
  assertSame(await shownWeight(), weight(0, 4, 2 * 14, 7 * 14 + 3), 'another patch');
  await page.focus('#large');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowDown');
  await settle();
  assert.deepEqual(await tokensRead(), ['4·1', '4·14']);
  await page.selectOption('#view', 'cells');
  await walk(20, 21);
  assertSame(await shownWeight(), weight(0, 4, 20, 21), 'the same as cells');
  assert.deepEqual(faults, []);
});

test('a long sequence is enlarged by key, button and wheel; the cell walked to stays in sight', async () => {
  await open();
  await page.selectOption('#example', 'long');
  await settle();
  const weight = expectedWeights({ example: 'long', tokens: 512 });
  await page.click('#grid button:nth-child(4)');
  await settle();
  await page.mouse.move(...(await pointOf()));
  await settle();
  await page.focus('#large');
  for (let i = 0; i < 5; i++) await page.keyboard.press('+');
  await settle();
  assert.match(await textOf('#zoom-text'), /queries \d+–\d+, keys \d+–\d+/);
  const [query, key] = (await tokensRead()).map(Number);
  assertSame(await shownWeight(), weight(0, 3, query - 1, key - 1), 'enlarged');
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
  await settle();
  const [, from, to] = (await textOf('#zoom-text')).match(/keys (\d+)–(\d+)/).map(Number);
  assert.ok(from <= key + 20 && key + 20 <= to);
  assertSame(await shownWeight(), weight(0, 3, query - 1, key + 19), 'walked');
  await page.click('#zoom-all');
  await settle();
  assert.equal(await textOf('#zoom-text'), '');
  await page.mouse.move(...(await pointOf()));
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  await page.waitForFunction(() => part('#zoom-text').textContent !== '');
  assert.deepEqual(faults, []);
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
  await page.evaluate(async () => {
    const seen = new Set();
    const dragTo = (value) => {
      part('#temperature').value = String(value);
      part('#temperature').dispatchEvent(new Event('input'));
    };
    for (let i = 0; seen.size < 6; i++) {
      dragTo((i % 50) / 100);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      seen.add(part('#large').toDataURL());
    }
    dragTo(0.6);
  });
  await settle();
  const [after, statistics] = [await pictures(), await textOf('#statistics')];
  assert.equal(after.length, before.length);
  assert.ok(after.every((picture, h) => picture !== before[h]));
  await page.reload();
  await settle();
  await page.evaluate(() => (part('#statistics-box').open = true));
  await settle();
  assert.equal(await page.locator('#temperature').inputValue(), '0.6');
  assert.deepEqual(await pictures(), after);
  assert.equal(await textOf('#statistics'), statistics);
  assert.deepEqual(faults, []);
});
