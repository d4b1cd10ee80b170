// The state in the address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { addressHas, open, page, textOf, walk } from '../../support/page.js';

test('the address keeps the whole view, any text included', async () => {
  await open();
  const text = '100 % & #1 = שלום 你好? +';
  await page.selectOption('#example', 'own');
  await page.fill('#text', text);
  await page.locator('#temperature').fill('-0.3');
  await page.selectOption('#mask', 'causal');
  await page.selectOption('#scale', 'log');
  await page.click('#grid button:nth-child(3)');
  await walk(2, 1);
  await addressHas(/cell=/);
  const before = await textOf('#reading');
  const address = page.url();
  await open({}, new URL(address).hash);
  assert.equal(await textOf('#reading'), before);
  assert.equal(await page.inputValue('#text'), text);
  assert.deepEqual(await Promise.all(['#mask', '#scale', '#example'].map((id) => page.inputValue(id))), [
    'causal',
    'log',
    'own',
  ]);
});
