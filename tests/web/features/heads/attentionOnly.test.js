// Tests heads without a language model in Chromium: handmade heads, and heads of a picture, of the sentence encoder and
// from a file.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { load } from 'headlight-attention';
import { writeSafetensors } from 'headlight-attention/formats';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  chooseMore,
  download,
  faults,
  openAt,
  openChooser,
  page,
  spoil,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const shows = (selector) => page.waitForFunction((what) => part(what) !== null, selector);
const idle = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail') !== null);
const text = (selector) => page.locator(selector).first().textContent();
async function open(options = {}, hash = '') {
  await openAt(hash, options);
  await idle();
}
async function choose(name) {
  await page.locator('.model-menu button').first().click();
  await page.locator(`[data-key=${name}]`).click();
  await shows('.prediction.about');
  await idle();
}

test('handmade heads have names; text, reading column and mask work', async () => {
  await open();
  await choose('constructed');
  await page.waitForFunction(() => part('.model').querySelectorAll('.role-name').length === 8);
  const names = await page.locator('.model .role-name').allTextContents();
  assert.deepEqual(names.slice(0, 6), ['previous', 'next', 'itself', 'first token', 'same token', 'who is meant']);
  assert.match(await text('.title'), /^it looks at cat: 0\.[89]\d$/);
  assert.equal(await page.locator('.reading .strip').count(), 5);
  const views = await page.locator('.legend .choice button').allTextContents();
  assert.deepEqual(views.slice(1), ['Atlas'], 'nothing that needs a prediction');
  await page.locator('.changes > button').click();
  await page.locator('.settings .menu button').first().click();
  await page.getByRole('menuitemradio', { name: /^causal/ }).click();
  await page.waitForFunction(() => location.hash.includes('mask=all%3Apast'));
  await idle();
  await page.getByRole('textbox', { name: 'The text. Write here' }).fill('She saw the whale and it saw her.');
  await page.waitForFunction(() => part('.is-query.row-label')?.textContent === '.');
  assert.deepEqual(faults, []);
  await assertAccessibleInFullTier();
});

fullTest('handmade heads attend to the patches of a dropped picture', async () => {
  await open();
  await openChooser();
  const png = await readFile(new URL('../../../../web/pictures/picture.png', import.meta.url));
  await page.setInputFiles('[data-name=files]', { name: 'own.png', mimeType: 'image/png', buffer: png });
  await shows('.patches canvas');
  await idle();
  assert.equal(await text('.model .role-name'), 'colour');
  assert.match(await text('.title-line'), /10 × 14 patches/);
  assert.match(await text('.prediction.about'), /Six heads/);
  assert.deepEqual(faults, []);
  await assertAccessibleInFullTier();
});

fullTest('queries, keys and values of a file are split into a chosen number of heads', async () => {
  const hl = await load();
  const [T, C] = [4, 8];
  const numbers = (seed) => Float32Array.from({ length: T * C }, (_, i) => Math.sin(seed * 37 + i * 1.7));
  const [q, k] = [numbers(1), numbers(2)];
  const bytes = writeSafetensors({
    query: { data: q, shape: [T, C] },
    key: { data: k, shape: [T, C] },
    value: { data: k, shape: [T, C] },
  });
  await open();
  await openChooser();
  const file = { name: 'own.safetensors', mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) };
  await page.setInputFiles('[data-name=files]', file);
  await shows('.prediction.about .recognised');
  await page.getByRole('button', { name: /^heads: / }).click();
  await page.getByRole('menuitemradio', { name: '4', exact: true }).click();
  await page.waitForFunction(() => part('.model')?.querySelectorAll('.thumbnail').length === 4);
  await idle();
  const array = (data) => ({ data, shape: [1, T, C] });
  const { weights } = hl.attention(array(q), array(k), array(k), { heads: 4, weights: true });
  await page.waitForFunction(() => part('.figure') !== null);
  const shown = await page.locator('.figure').allTextContents();
  const row = weights.copy().subarray((T - 1) * T, T * T);
  shown.forEach((figure, s) => assert.ok(Math.abs(Number(figure) - row[s]) <= 0.00501, `${figure}, not ${row[s]}`));
  await assertAccessibleInFullTier();
});

test('the table of heads is sorted, chooses a head, is saved as a file, and is closed by Escape', async () => {
  await open();
  await chooseMore('table');
  await shows('.heads-table tbody');
  assert.equal(await page.locator('.heads-table tbody tr').count(), 20);
  await page.locator('.heads-table thead button', { hasText: 'induction' }).click();
  assert.equal(await text('.heads-table tbody th'), '4.2');
  await page.locator('.heads-table tbody button').nth(1).click();
  await page.waitForFunction(() => !part('.corner h2').textContent.startsWith('Layer 4, head 2'));
  const save = page.getByRole('button', { name: 'Save as CSV' });
  const csv = String((await download(() => save.click())).bytes).split('\r\n');
  assert.match(csv[0], /^layer,head,role,role_weight,entropy,distance,induction/);
  assert.match(csv[1], /^4,2,induction,0\.\d+,/);
  await assertAccessibleInFullTier();
  await page.locator('.heads-table .title').focus();
  await page.keyboard.press('Escape');
  await shows('.reading .strip');
  assert.deepEqual(faults, []);
});

for (const view of ['compare', 'flow'])
  test(`for handmade heads the address of an unavailable view shows the heatmap: ${view}`, async () => {
    await open({}, `model=constructed&view=${view}`);
    assert.ok(await page.evaluate(() => part('.picture canvas') !== null));
    assert.equal(await text('.legend .pressed .under'), 'Heatmap');
    assert.match(await text('.reading .title'), /looks at/);
    assert.deepEqual(faults, []);
  });

test('handmade heads predict nothing: the list of ablations has no button to begin', async () => {
  await open({}, 'model=constructed&panel=tried');
  await shows('.ablation .title');
  assert.equal(await page.locator('.ablation .try').count(), 0);
  assert.deepEqual(faults, []);
});

for (const name of ['constructed', 'patches'])
  fullTest(`at 360 px ${name} fits without horizontal scrolling`, async () => {
    await open({ viewport: { width: 360, height: 740 }, hasTouch: true, locale: 'zh-CN' });
    await choose(name);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    await assertAccessible();
  });

test('the sentence encoder is downloaded when it is chosen, with progress, and can be cancelled', async () => {
  await open();
  spoil();
  let release = () => {};
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/sentence.safetensors', async (route) => {
    await held;
    await route.continue();
  });
  await page.locator('.model-menu button').first().click();
  assert.match(await text('[data-key=sentence] .about'), /7 MB/);
  await page.locator('[data-key=sentence]').click();
  await page.waitForFunction(() => location.hash.includes('model=sentence'));
  release();
  await shows('[data-name=likeness]');
  await page.waitForFunction(() => /^0\.\d\d$/.test(part('[data-name=likeness]').textContent));
  const before = await text('[data-name=likeness]');
  assert.equal(await page.locator('.thumbnail').count(), 8);
  await page.getByRole('textbox', { name: 'Another sentence' }).fill('The stock market fell by three percent.');
  await page.waitForFunction((was) => part('[data-name=likeness]').textContent < was, before);
  await assertAccessibleInFullTier();
});

fullTest('a download is cancelled by the button next to its progress', async () => {
  await open();
  spoil();
  await page.route('**/sentence.safetensors', async () => {});
  await page.locator('.model-menu button').first().click();
  await page.locator('[data-key=sentence]').click();
  await page.waitForFunction(() => location.hash.includes('model=sentence'));
  const cancel = page.locator('.header .cancel');
  await cancel.click();
  await page.waitForFunction(() => !location.hash.includes('model=') && part('.prediction .tick') !== null);
});
