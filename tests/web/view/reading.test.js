// The reading of one cell.

import assert from 'node:assert/strict';
import test from 'node:test';
import { faults, open, page, settle, textOf, walk } from '../../support/page.js';

test('a click holds a cell whatever the pointer does, Escape lets it go', async () => {
  await open();
  const box = await page.locator('#large').boundingBox();
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await settle();
  const held = await textOf('#reading');
  assert.match(held, /Locked/);
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 0.9);
  await settle();
  assert.equal(await textOf('#reading'), held);
  await page.focus('#large');
  await page.keyboard.press('Escape');
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.9);
  await settle();
  assert.notEqual(await textOf('#reading'), held);
});

test('the steps behind a cell are written out with its numbers', async () => {
  await open();
  await walk(7, 5);
  const text = await textOf('#steps');
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
  assert.match(await textOf('#steps'), /hidden: −∞/);
  await page.selectOption('#example', 'wide');
  await settle();
  await walk(1, 1);
  assert.match(await textOf('#steps'), /q · k = −?[\d.]+( [−+] [\d.]+){3} \+ … = /);
  assert.match(await textOf('#steps'), /128 numbers, times Wo, give 128/);
  assert.deepEqual(faults, []);
});
