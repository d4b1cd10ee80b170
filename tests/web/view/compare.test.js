// A state beside one that was pinned.

import assert from 'node:assert/strict';
import test from 'node:test';
import { faults, open, page, settle, textOf } from '../../support/page.js';

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
  await page.click('#pin');
  await settle();
  assert.match(await textOf('#head-name'), /now minus pinned/);
  const same = await colours();
  await page.locator('#temperature').fill('0.4');
  await settle();
  assert.ok((await colours()) > same + 3);
  const ticks = (await page.locator('#ticks span').allTextContents()).map((text) => Number(text.replace('−', '-')));
  assert.ok(ticks[0] < 0 && ticks[2] === 0 && ticks[4] === -ticks[0], ticks.join());
  await page.selectOption('#example', 'wide');
  await settle();
  assert.match(await textOf('#pinned'), /different shape/);
  assert.deepEqual(faults, []);
});

test('two texts side by side: what is held stands beside what is now', async () => {
  await open();
  await page.selectOption('#example', 'own');
  await page.fill('#text', 'the cat saw the dog');
  await settle();
  await page.click('#more summary');
  await page.click('#pin');
  await page.fill('#text', 'nobody knows what the little cat saw');
  await page.selectOption('#view', 'side');
  await settle();
  const [held, now] = await Promise.all(['#pinned-picture', '#large'].map((id) => page.locator(id).boundingBox()));
  assert.ok(held.x + held.width <= now.x && Math.abs(held.y - now.y) < 60, JSON.stringify([held, now]));
  assert.match(await textOf('#before-name'), /Pinned: Your own sentence/);
  await page.selectOption('#example', 'wide');
  await settle();
  assert.ok(await page.locator('#pinned-picture').isVisible());
  assert.deepEqual(faults, []);
});
