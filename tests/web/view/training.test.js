// The Train view in real Chromium, through what a visitor does.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight/formats';
import { TASK_NAMES } from '../../../web/model/tasks.js';
import {
  addressHas,
  assertAccessible,
  assertNoSidewaysScroll,
  faults,
  openEmpty,
  page,
  server,
  setFiles,
  textOf,
} from '../../support/page.js';

async function open(hash = 'page=train&task=previous', options = {}) {
  await openEmpty(options);
  await page.goto(`${server.url}layers.html#${hash}`);
  if (hash) await page.waitForFunction(() => part('#train-grid')?.children.length > 0);
}
const status = () => textOf('#train-status');
const said = (pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(part('#train-status').textContent), pattern.source);
/** Until the worker has answered all that it was asked, and stands still. */
const still = () => page.waitForFunction(() => part('#train-status').getAttribute('aria-busy') === 'false');
const stepNow = async () => Number((await status()).match(/step (\d+)/)[1]);

/** Nothing is learned while the worker answers something else. */
async function assertStands() {
  const at = await stepNow();
  for (const speed of ['medium', 'fast']) {
    await page.selectOption('#speed', speed);
    await still();
  }
  assert.equal(await stepNow(), at);
}

/** A task that is learned in no time: one narrow layer. */
async function makeSmall() {
  await page.selectOption('#layers', '1');
  await page.selectOption('#train-heads', '2');
  await page.waitForFunction(() => part('#train-grid').children.length === 2);
}

test('opens by its button with a task and a model that knows nothing; a step is a step', async () => {
  await open('');
  await page.click('#to-train');
  await page.waitForFunction(() => part('#train-grid').children.length === 8);
  assert.equal(await page.locator('#explore').isVisible(), false);
  assert.match(await status(), /step 0 · not trained yet/);
  await page.selectOption('#task', 'previous');
  await page.waitForFunction(() => part('#train-grid').children.length === 2);
  await page.click('#one-step');
  await said(/step 1 · loss [\d.]+ · accuracy [\d.]+%/);
  await page.click('#one-step');
  await said(/step 2 /);
  await page.click('#train-reset');
  await said(/step 0 · not trained yet/);
  assert.deepEqual(faults, []);
});

test('plays until it is told to pause, learns, and the head that looks back is found', async () => {
  await open();
  await page.click('#play');
  await page.waitForFunction(() => /accuracy (9\d\.\d|100\.0)%/.test(part('#train-status').textContent), undefined, {
    timeout: 600_000,
  });
  assert.match(await status(), /steps per second, \d threads?/);
  await page.click('#play');
  await still();
  await assertStands();
  assert.ok((await page.locator('#train-grid button span').allTextContents()).some((text) => /previous/.test(text)));
  assert.ok((await page.locator('.sign.right').count()) > 60);
  assert.match(await page.locator('#score-curve').getAttribute('aria-label'), /layer 1, head 1 0\.\d+/);
  const painted = await page.evaluate(() => {
    const canvas = part('#loss-curve');
    return new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer))
      .size;
  });
  assert.ok(painted > 3);
  assert.deepEqual(faults, []);
});

test('looks back through snapshots, and goes on from where it was', async () => {
  await open();
  await page.click('#play');
  await page.waitForFunction(() => Number(part('#snapshot').max) >= 3);
  await page.click('#play');
  await still();
  const [at, known] = [await stepNow(), await page.locator('.sign.right').count()];
  await page.locator('#snapshot').fill('0');
  await said(/The model at step 0/);
  await page.waitForFunction((known) => part('#written').querySelectorAll('.right').length < known, known);
  await page.click('#one-step');
  await said(new RegExp(`step ${at + 1} `));
  assert.deepEqual(faults, []);
});

test('a model is saved, loaded into a fresh page, and goes on', async () => {
  await open();
  await makeSmall();
  for (let i = 1; i <= 3; i++) {
    await page.click('#one-step');
    await said(new RegExp(`step ${i} `));
  }
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#train-save')]);
  const bytes = await readFile(await download.path());
  assert.equal(download.suggestedFilename(), 'headlight-previous.safetensors');
  const { tensors, metadata } = readSafetensors(bytes);
  assert.ok('blocks.0.attention.wq' in tensors && metadata.steps === '3');
  const before = await status();
  await open('page=train&task=copy');
  await setFiles('#train-load', ['model.safetensors', bytes]);
  await said(/step 3 /);
  assert.equal(await page.inputValue('#task'), 'previous');
  assert.match(await status(), new RegExp(before.match(/accuracy [\d.]+%/)[0]));
  await page.click('#one-step');
  await said(/step 4 /);
  await setFiles('#train-load', ['other.safetensors', Buffer.from('nothing')]);
  await page.locator('#train-message', { hasText: 'not a model saved by this page' }).waitFor();
  assert.deepEqual(faults, []);
});

test("every task starts; a text of one's own too; the address keeps which", async () => {
  await open();
  for (const task of TASK_NAMES) {
    await page.selectOption('#task', task);
    await said(/step 0 · not/);
    await page.click('#one-step');
    await said(/step 1 /);
  }
  await page.fill('#train-text', 'der Cottbuser Postkutscher putzt den Cottbuser Postkutschkasten');
  await page.locator('#train-text').blur();
  await said(/step 0 · not/);
  assert.match(await page.locator('.signs').first().textContent(), /[a-zC-P ]{10}/);
  await addressHas(/page=train&task=text|task=text&page=train/);
  assert.deepEqual(faults, []);
});

test('a text that is too short is said to be, throws nothing, and training goes on with a longer one', async () => {
  await open('page=train&task=text');
  for (const text of ['', 'a', '   \n  ']) {
    await page.fill('#train-text', text);
    await page.locator('#train-text').blur();
    await page.locator('#train-message', { hasText: 'at least 20 characters' }).waitFor();
    await still();
  }
  await page.click('#train-reset');
  await page.locator('#train-message', { hasText: 'at least 20 characters' }).waitFor();
  await page.fill('#train-text', 'ein langer Text, der lang genug ist');
  await page.locator('#train-text').blur();
  await said(/step 0 · not/);
  assert.equal(await textOf('#train-message'), '');
  await page.click('#one-step');
  await said(/step 1 /);
  assert.deepEqual(faults, []);
});

test('a bad model file leaves the model that is trained as it is', async () => {
  await open();
  await makeSmall();
  await page.click('#one-step');
  await said(/step 1 /);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#train-save')]);
  const { tensors, metadata } = readSafetensors(await readFile(await download.path()));
  const [name, ...others] = Object.keys(tensors);
  const less = Object.fromEntries(others.map((other) => [other, tensors[other]]));
  for (const bytes of [
    writeSafetensors(less, metadata),
    writeSafetensors({ ...less, [name]: { data: new Float32Array(1), shape: [1] } }, metadata),
    writeSafetensors(tensors, {
      ...metadata,
      settings: JSON.stringify({ ...JSON.parse(metadata.settings), layers: 4 }),
    }),
  ]) {
    await setFiles('#train-load', ['bad.safetensors', bytes]);
    await page.locator('#train-message', { hasText: 'not a model saved by this page' }).waitFor();
    await still();
    await page.click('#play');
    await page.waitForFunction(() => part('#train-message').textContent === '');
    await page.click('#play');
    await still();
  }
  const at = await stepNow();
  await page.click('#one-step');
  await said(new RegExp(`step ${at + 1} · loss [\\d.]+`));
  assert.equal(await page.locator('#train-grid button').count(), 2);
  assert.deepEqual(faults, []);
});

test('a learning rate that is too high is said plainly, and one goes on with a lower one', async () => {
  await open();
  await makeSmall();
  await page.selectOption('#optimizer', 'sgd');
  await said(/step 0 · not/);
  await page.click('#one-step');
  await said(/step 1 /);
  // The slider ends at 1; a model this small bears it, so the rate goes where the slider cannot.
  await page.evaluate(() => {
    part('#rate').max = '35';
    part('#rate').value = '30';
    part('#rate').dispatchEvent(new Event('input'));
  });
  await page.click('#play');
  await page.locator('#train-message', { hasText: 'The loss became NaN' }).waitFor();
  assert.equal(await page.locator('#play').textContent(), 'Train');
  await page.locator('#rate').fill('-2');
  await page.click('#one-step');
  await said(/loss [\d.]+/);
  assert.equal((await page.locator('.sign.wrong, .sign.right').count()) > 0, true);
  assert.deepEqual(faults, []);
});

test('a layer goes over to the Explore view, with its tokens, causal, its numbers those of the head', async () => {
  await open();
  await page.click('#one-step');
  await said(/step 1 /);
  await page.click('#train-grid button:nth-child(2)');
  await page.locator('#train-large').scrollIntoViewIfNeeded();
  const box = await page.locator('#train-large').boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.9);
  await page.waitForFunction(() => /→ .: [\d.]+/.test(part('#train-reading').textContent));
  await page.focus('#train-large');
  for (const key of ['Home', 'PageUp', 'ArrowDown']) await page.keyboard.press(key);
  await page.waitForFunction(() => /^. → .: 0\.\d+$/.test(part('#announce').textContent));
  await page.click('#explore-head');
  await page.waitForFunction(
    () =>
      !part('#explore').hidden &&
      part('#frame').getAttribute('aria-busy') === 'false' &&
      part('#grid').children.length === 2,
  );
  assert.equal(await page.inputValue('#mask'), 'causal');
  assert.match(await page.locator('#head-name').textContent(), /head 2/);
  await page.focus('#large');
  for (const key of ['Home', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.waitForFunction(() => /rank \d+ of 3/.test(part('#reading').textContent));
  assert.deepEqual(faults, []);
});

test('training stops when one turns to the other view, and the worker ends with the page', async () => {
  await open();
  await page.click('#play');
  await said(/step \d\d/);
  await page.click('#to-explore');
  await page.click('#to-train');
  await still();
  await assertStands();
  assert.equal(await page.locator('#play').textContent(), 'Train');
});

test('360 px: nothing scrolls sideways, whatever the task', async () => {
  await open('page=train', { viewport: { width: 360, height: 740 } });
  for (const task of ['repeat', 'text']) {
    await page.selectOption('#task', task);
    await said(/step 0 · not/);
    await assertNoSidewaysScroll(task);
  }
});

for (const [colorScheme, language] of [
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'zh'],
  ['dark', 'zh'],
]) {
  test(`axe finds nothing to mend, ${colorScheme}, ${language}`, async () => {
    await open('page=train&task=copy', { colorScheme });
    await page.selectOption('#language', language);
    await page.click('#one-step');
    await page.waitForFunction(() => part('#written').querySelectorAll('.right, .wrong').length > 0);
    await assertAccessible();
  });
}
