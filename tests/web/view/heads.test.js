// All heads side by side.

import assert from 'node:assert/strict';
import test from 'node:test';
import { open, page, settle } from '../../support/page.js';

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
