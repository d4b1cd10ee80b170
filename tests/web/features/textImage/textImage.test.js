// Tests a picture with sentences: the probabilities must equal those of the module, with heads of both towers on and
// off.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { assertAccessible, faults, openAt, openChooser, page } from '../../../support/page.js';
import { writePng } from '../../../support/png.js';
import { fullTest } from '../../../support/tier.js';

const root = mkdtempSync(join(tmpdir(), 'headlight-'));
const [CLIP, SIGLIP] = ['clip', 'siglip'].map((name) => {
  const folder = join(root, `tiny-${name}`);
  makeCheckpoint(folder, name);
  return folder;
});
test.after(() => rmSync(root, { recursive: true }));

/** Side of the pictures that the model reads, so that the test pictures are not resized. */
const SIDE = 32;
const colourAt = (x, y) => [8 * x, 8 * y, (x * y) % 256];
const rgba = Uint8Array.from({ length: 4 * SIDE ** 2 }, (_, i) => {
  const pixel = Math.floor(i / 4);
  return [...colourAt(pixel % SIDE, Math.floor(pixel / SIDE)), 255][i % 4];
});
const GIVEN = ['a picture of a whale', 'a picture of a ship', 'a picture of a dog'];
/** Sentences that differ in the token with the largest id, from which this model reads the vector of a text. */
const FIRST = ['whales swim here', 'two ships', 'a dog'];

async function openFolder(folder = CLIP) {
  await openAt('');
  await openChooser();
  await page.locator('input[data-name=folder][webkitdirectory]').setInputFiles(folder);
  await page.waitForFunction(() => part('.told') && part('.matching-line b')?.textContent);
  await page.keyboard.press('Escape');
}
const shown = () =>
  page.evaluate(() => [...part('.page').querySelectorAll('.matching-line > b')].map((b) => b.firstChild?.data ?? ''));
/** Waits until the page shows these probabilities. */
async function assertShown(probabilities) {
  const texts = probabilities.map((p) => `${Math.round(100 * p)}%`);
  await page
    .waitForFunction(
      (wanted) =>
        [...part('.page').querySelectorAll('.matching-line > b')].map((b) => b.firstChild?.data).join() === wanted,
      texts.join(),
      { timeout: 5000 },
    )
    .catch(() => {});
  assert.deepEqual(await shown(), texts);
}
async function writeSentences() {
  for (const [i, text] of FIRST.entries()) await line(i).fill(text);
}
async function choosePicture() {
  const buffer = writePng(SIDE, colourAt);
  await page.locator('.matching-picture input').setInputFiles({ name: 'p.png', mimeType: 'image/png', buffer });
}
/**
 * Opens the model in the module. Returns functions that compute the probabilities of texts for a picture, with edits.
 */
async function openModule() {
  const hl = await load();
  const model = await hl.openModel(CLIP);
  const pixels = (await model.pixels({ data: rgba, width: SIDE, height: SIDE })).pixels;
  const of = (texts, edit = []) => {
    const logits = texts.map((text) => {
      // With both inputs, edits of either tower are allowed.
      const { logitsPerText } = model.forward({ text, pixels }, { edit });
      return logitsPerText.data[0];
    });
    return softmax(logits);
  };
  return { model, pixels, of };
}
function softmax(logits) {
  const powers = logits.map(Math.exp);
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((x) => x / sum);
}
const off = (tower, layer, head) => ({ at: `${tower}.blocks.${layer}.heads`, head, set: 'zero' });
const line = (i) => page.locator('.matching-line input').nth(i);

test('the probabilities are those of the module, with a head of each tower switched off', async () => {
  await openFolder();
  await choosePicture();
  const { model, of } = await openModule();
  await writeSentences();
  const before = of(FIRST);
  await assertShown(before);
  assert.deepEqual(
    before.map((p) => Math.round(100 * p)),
    model
      .rank({ data: rgba, width: SIDE, height: SIDE }, FIRST)
      .sort((a, b) => a.index - b.index)
      .map(({ probability }) => Math.round(100 * probability)),
  );
  await page.locator("[data-head='1.2']").click();
  await page.locator('.corner [role=switch]').click();
  const withoutOne = of(FIRST, [off('text', 1, 2)]);
  assert.notDeepEqual(
    withoutOne.map((p) => p.toFixed(2)),
    before.map((p) => p.toFixed(2)),
    'the head matters',
  );
  await assertShown(withoutOne);
  await page.locator('.matching.compared .tick').first().waitFor();
  const assertBefore = async (probabilities) =>
    assert.deepEqual(
      await page.locator('.matching-line i').allTextContents(),
      probabilities.map((p) => `${Math.round(100 * p)}%`),
    );
  await assertBefore(before);
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await page.waitForFunction(
    () => part('.patches.large') && part('.corner h2').textContent.includes('Layer 1, head 2'),
  );
  await page.locator("[data-head='0.1']").click();
  await page.locator('.corner [role=switch]').click();
  const withoutTwo = of(FIRST, [off('text', 1, 2), off('vision', 0, 1)]);
  await assertShown(withoutTwo);
  await page.locator('.matching.compared .tick').first().waitFor();
  await assertBefore(withoutOne);
  await page.waitForFunction(() => location.hash.includes('scale=1.2%3A0%2Cv0.1%3A0'));
  assert.deepEqual(faults, []);
  model.dispose();
});

fullTest('sentences are chosen, edited, added and removed; undo and the address restore them', async () => {
  await openFolder();
  await choosePicture();
  const { model, of } = await openModule();
  await assertShown(of(GIVEN));
  await writeSentences();
  await line(0).focus();
  await page.waitForFunction(() => part('textarea')?.value === 'whales swim here');
  await line(2).focus();
  await line(2).fill('the sun over the sea');
  await assertShown(of([FIRST[0], FIRST[1], 'the sun over the sea']));
  await page.keyboard.press('ArrowUp');
  await page.waitForFunction(() => part('textarea').value === 'two ships');
  await page.getByRole('button', { name: 'Add a sentence' }).click();
  await page.keyboard.type('a cat');
  const four = [FIRST[0], FIRST[1], 'the sun over the sea', 'a cat'];
  await assertShown(of(four));
  await page.waitForFunction(() => location.hash.includes('a+cat'));
  // In another layout of the page, the field of the sentence is a new element, to which the focus must move.
  await page.setViewportSize({ width: 768, height: 1024 });
  await page.waitForFunction(() => part('.page.tablet') && part('.matching-line:nth-child(4) input:focus'));
  await page.setViewportSize({ width: 1440, height: 900 });
  const link = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  assert.deepEqual([link.text, link.second.split('\n'), link.entry], ['a cat', four.slice(0, 3), '3']);
  await page.getByRole('button', { name: `Remove “${FIRST[0]}”` }).click();
  await assertShown(of(four.slice(1)));
  await page.locator('.matching-list').evaluate((list) => list.getRootNode().activeElement.blur());
  await page.keyboard.press('Control+z');
  await assertShown(of(four));
  await page.locator("[data-head='1.2']").click();
  await page.locator('.matching .try').click();
  await page.waitForFunction(() => part('.adding.ablation')?.querySelectorAll('li').length === 16);
  const items = await page.locator('.adding.ablation li').allTextContents();
  const one = items.find((item) => item.startsWith('Picture 1.3'));
  assert.ok(one.includes(`${Math.round(100 * of(four, [off('vision', 1, 3)])[3])}%`), one);
  await assertAccessible();
  assert.deepEqual(faults, []);
  model.dispose();
});

fullTest('a SigLIP gives each sentence a probability of its own; an empty sentence has none', async () => {
  await openFolder(SIGLIP);
  await choosePicture();
  await line(1).fill('whales swim here');
  const hl = await load();
  const model = await hl.openModel(SIGLIP);
  const texts = [GIVEN[0], 'whales swim here', GIVEN[2]];
  const ranked = model.rank({ data: rgba, width: SIDE, height: SIDE }, texts).sort((a, b) => a.index - b.index);
  await assertShown(ranked.map(({ probability }) => probability));
  assert.match(await page.locator('.matching').textContent(), /The cosine of its vector/);
  await line(1).fill('');
  await page.waitForFunction(() => part('.page').querySelectorAll('.matching-line > b')[1].textContent === '');
  assert.equal((await shown())[0], `${Math.round(100 * ranked[0].probability)}%`);
  // An empty sentence is removed when it loses the focus.
  await line(0).focus();
  await page.waitForFunction(() => part('.page').querySelectorAll('.matching-line').length === 2);
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await page.waitForFunction(() => part('.patches.large') && part('.corner .switch'));
  assert.deepEqual(faults, []);
  await page.locator('.matching-picture input').setInputFiles({
    ...{ name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('no picture') },
  });
  await page
    .getByText(/no\.png/)
    .first()
    .waitFor();
  model.dispose();
});

fullTest('a pinned run gives the ticks of its sentences, and its heads to another sentence', async () => {
  await openFolder();
  await choosePicture();
  await writeSentences();
  const { model, pixels, of } = await openModule();
  await assertShown(of(FIRST));
  await page.locator('.whatif > .pin').click();
  await line(2).fill('a log');
  await assertShown(of([FIRST[0], FIRST[1], 'a log']));
  await page.locator('.matching.compared .tick').first().waitFor();
  const [whales, ships] = of(FIRST).map((p) => `${Math.round(100 * p)}%`);
  assert.deepEqual(await page.locator('.matching-line i').allTextContents(), [whales, ships]);
  await page.locator('.whatif .changes > button').click();
  await page.getByRole('button', { name: 'replace with: not replaced' }).click();
  await page.locator('[data-key=yes]').click();
  const { captured } = model.forward({ text: 'a dog' }, { capture: ['text.blocks.0.heads'] });
  const heads = captured['text.blocks.0.heads'];
  const [, , tokens, width] = heads.shape;
  const patch = { data: heads.data.slice(0, tokens * width), shape: [tokens, width] };
  assert.equal(model.encode('a log').ids.length, tokens, 'as many tokens');
  await page.waitForFunction(() => location.hash.includes('patch='));
  const logits = [FIRST[0], FIRST[1], 'a log'].map((text, i) => {
    const edit = i === 2 ? [{ at: 'text.blocks.0.heads', head: 0, set: patch }] : [];
    return model.forward({ text, pixels }, { edit }).logitsPerText.data[0];
  });
  await assertShown(softmax(logits));
  assert.deepEqual(faults, []);
  model.dispose();
});
