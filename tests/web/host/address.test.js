// The state in the address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { addressHas, faults, open, openEmpty, page, server, settle, textOf, walk } from '../../support/page.js';

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

test('an address that makes no sense is read as far as it does', async () => {
  await open({}, '#head=1.5&heads=0&seed=-1&cell={"query":0.5,"key":0}&temperature=0.5&example=nope');
  assert.equal(await textOf('#message'), '');
  assert.equal(await page.locator('#grid button').count(), 8);
  assert.equal(await textOf('#temperature-value'), '0.50');
  await walk(1, 2);
  assert.ok((await textOf('#weight')).length > 0);
  assert.deepEqual(faults, []);
});

for (const hash of ['#example=file', '#example=file&file=1&heads=3']) {
  test(`a link to own tensors, ${hash}, says that there is no file, and Back leads to the example again`, async () => {
    await open();
    await page.evaluate((hash) => {
      location.hash = hash;
    }, hash);
    await page.waitForFunction(() => /No file/.test(part('#message').textContent));
    await settle();
    await page.goBack();
    await page.waitForSelector('#pictures:not([hidden])');
    await settle();
    assert.equal(await textOf('#message'), '');
    assert.equal(await page.locator('#grid button').count(), 8);
    await openEmpty();
    await page.goto(`${server.url}layers.html${hash}`);
    await page.waitForFunction(() => /No file/.test(part('#message')?.textContent));
    await settle();
    assert.deepEqual(faults, []);
  });
}
