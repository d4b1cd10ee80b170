// Text in every language, and by the visitor.

import assert from 'node:assert/strict';
import test from 'node:test';
import { faults, open, page, settle, textOf } from '../../support/page.js';

test('the language changes without a reload and is remembered; no English is left', async () => {
  await open();
  await page.locator('#temperature').fill('0.3');
  await page.selectOption('#language', 'zh');
  await settle();
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
  assert.equal(await textOf('#temperature-value'), '2.00');
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
  assert.match(await textOf('#message'), /Write a few words/);
  await page.evaluate(() => {
    for (const button of part('.controls').querySelectorAll('button')) if (button.id !== 'reset') button.click();
  });
  await settle();
  await page.fill('#text', 'one two three');
  await settle();
  assert.equal(await textOf('#message'), '');
  assert.deepEqual(faults, []);
});
