// Tests changes of an encoder–decoder and of a model without a prediction, in Chromium.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { families } from '../../../support/families.js';
import { assertAccessible, faults, openAt, openChooser, page, spoil } from '../../../support/page.js';

/** Opens the tiny model of a family. */
async function open(name) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  const { files } = families.find((family) => family.name === name);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  await openAt('', { viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  spoil();
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((file) => join(folder, file)));
  await page.waitForFunction(() => part('.told .word'));
  await page.evaluate(() => part('.told .word').click());
  await settled();
}
const settled = () =>
  page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail') && part('.corner .switch'));
const addressed = (scale) =>
  page.waitForFunction((scale) => new URLSearchParams(location.hash.slice(1)).get('scale') === scale, scale);
const guesses = () => page.locator('.prediction .options').innerText();
async function show(name) {
  await page.getByRole('button', { name, exact: true }).click();
  await settled();
}
const isOn = () => page.locator('.corner .switch').getAttribute('aria-checked');

test('a head of each attention of an encoder–decoder is switched off by itself, and the guess changes', async () => {
  await open('T5, relu and a tied head');
  const seen = new Set([await guesses()]);
  for (const [name, place] of [
    ['Encoder', 'e0.0'],
    ['Decoder', '0.0'],
    ['Decoder to encoder', 'c0.0'],
  ]) {
    await show(name);
    assert.equal(await isOn(), 'true', `${name} before`);
    await page.locator('.corner .switch').click();
    await page.waitForFunction(() => part('.other .mark') && part('.thumbnail.off[data-head="0.0"]'));
    await addressed(`${place}:0`);
    seen.add(await guesses());
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForFunction(() => !part('.thumbnail.off'));
  }
  assert.equal(seen.size, 4, [...seen].join('; '));
  assert.deepEqual(faults, []);
});

test('flow of an encoder–decoder lists the heads of both attentions; choosing one shows its attention', async () => {
  await open('T5, relu and a tied head');
  assert.equal(await page.locator('.legend .views').getByText('Flow').count(), 0, 'an encoder adds nothing itself');
  await show('Decoder to encoder');
  await page.locator('.second').fill('7 9 3');
  await page.locator('.legend .views').getByText('Flow').click();
  await page.waitForFunction(() => part('.flow-drawing .ribbon'));
  assert.equal(await page.locator('.flow-piece').count(), 4);
  assert.equal(await page.locator('.ways').count(), 0, 'circuits are for models with one stack');
  await page.locator('.adding li', { hasText: 'Decoder 1.3' }).first().click();
  await page.waitForFunction(() => part('.parts [aria-pressed=true]').textContent === 'Decoder');
  await page.waitForFunction(() => part('.thumbnail[aria-checked=true]')?.dataset.head === '1.3');
  await assertAccessible();
  assert.deepEqual(faults, []);
});

test('without a guess, the switch and ablation show how far the hidden states turn', async () => {
  await open('MPNet for sentences');
  await page.locator('.corner .switch').click();
  await page.waitForFunction(() => /turned by \d+(\.\d)?° on average/.test(part('.turned h2')?.textContent));
  assert.equal(await page.locator('.turned dl > div').count(), 5);
  await page.getByRole('button', { name: 'Ablate each head' }).first().click();
  await page.waitForFunction(() => part('.ablation')?.querySelectorAll('li').length === 8);
  const angles = await page.locator('.ablation li b').allInnerTexts();
  assert.ok(
    angles.every((text) => /^\d+(\.\d)?°$/.test(text)),
    angles.join(),
  );
  const numbers = angles.map(Number.parseFloat);
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => b - a),
  );
  await assertAccessible();
  assert.deepEqual(faults, []);
});
