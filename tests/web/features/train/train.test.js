// Tests training on the page: running, showing earlier steps, reloading and deleting.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readZip } from '../../../../src/js/io/zip.ts';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  download,
  faults,
  openEmpty,
  openTraining,
  page,
  server,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

/** Address of a training with a model so small that a hundred steps take less than a second. */
const SMALL = 'panel=train&training=repeat.1.2.16.1.0.003';

const drawn = () => page.waitForFunction(() => part('.letter') && part('.time input'));
const steps = (least) => page.waitForFunction((n) => Number(part('.time input').value) >= n, least);
const at = () => page.evaluate(() => Number(part('.time input').value));
const playing = (is) => page.waitForFunction((on) => Boolean(part('.play path:not(.full)')) === on, is);

async function open(hash = SMALL, options = {}) {
  await openEmpty({ viewport: { width: 1440, height: 900 }, ...options });
  await page.goto(`${server.url}#${hash}`);
  await drawn();
}

/** Waits until the paused model is stored, and reloads the page. */
async function keptAndReloaded() {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Delete it here/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await drawn();
}

test('the header opens training, which runs and updates all its numbers', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 } });
  await page.goto(server.url);
  await page.waitForFunction(() => part('.piece'));
  await openTraining();
  await drawn();
  await steps(12);
  await page.waitForFunction(() => part('.film canvas') && part('.charts .title').textContent.includes('%'));
  await page.locator('.play').click();
  await playing(false);
  await assertAccessibleInFullTier();
  assert.match(await page.evaluate(() => location.hash), /panel=train/);
  assert.deepEqual(faults, []);
});

fullTest('one step, going back in the film, playing from there, starting over', async () => {
  await open();
  await page.getByRole('button', { name: 'One step' }).click();
  await steps(1);
  assert.equal(await at(), 1);
  await page.locator('.speed button').click();
  await page.getByRole('menuitemradio', { name: 'as fast as it can' }).click();
  await page.locator('.play').click();
  await steps(40);
  await page.locator('.play').click();
  await playing(false);
  await page.locator('.time input').focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => Number(part('.time input').value) % 10 === 0);
  const back = await at();
  await page.locator('.play').click();
  await steps(back + 10);
  await page.locator('.play').click();
  await playing(false);
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.waitForFunction(() => part('.older'));
  assert.deepEqual(faults, []);
});

fullTest('after a reload training continues with the same film, steps and losses', async () => {
  const train = async (from, to) => {
    for (let step = from + 1; step <= to; step++) {
      await page.getByRole('button', { name: 'One step' }).click();
      await steps(step);
    }
  };
  const figures = () => page.locator('.charts .title').first().textContent();
  await open();
  await train(0, 12);
  await keptAndReloaded();
  await steps(12);
  // The film contains steps before the reload.
  await page.locator('.time input').focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => Number(part('.time input').value) === 10);
  await train(12, 16);
  const gone = await figures();
  // Opens a new profile, which has no stored model.
  await open();
  await train(0, 16);
  assert.equal(await figures(), gone);
  assert.deepEqual(faults, []);
});

test('a trained model survives a reload, its prompt can be edited, and it can be deleted', async () => {
  await open();
  await page.getByRole('button', { name: 'One step' }).click();
  await steps(1);
  await keptAndReloaded();
  await steps(1);
  await page.getByRole('button', { name: 'Try your own letters' }).click();
  await page.waitForFunction(() => part('.piece') && part('.prediction .option'));
  await page.getByRole('textbox', { name: /^The text/ }).fill('abcabc');
  await page.waitForFunction(() => part('.sentence').querySelectorAll('.piece').length === 6);
  await openTraining();
  await drawn();
  await page.locator('.play').waitFor();
  if (await page.evaluate(() => Boolean(part('.play path:not(.full)')))) await page.locator('.play').click();
  await playing(false);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Delete it here/ }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Open a saved file/ }).waitFor();
  await page.waitForFunction(() => !part('[role=menu]')?.textContent.includes('Delete'));
  assert.deepEqual(faults, []);
});

fullTest('a trained model is exported as an archive for PyTorch and as a model for onnxruntime', async () => {
  await open();
  await page.getByRole('button', { name: 'One step' }).click();
  await steps(1);
  const save = (item) =>
    download(async () => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('menuitem', { name: item }).click();
    });
  const archive = await save(/^Save for PyTorch/);
  assert.equal(archive.name, 'headlight-repeat.zip');
  assert.deepEqual(
    readZip('test', archive.bytes).map(({ name }) => name),
    ['config.json', 'model.safetensors', 'tokenizer.json', 'train.py', 'optimizer.safetensors', 'tokens.safetensors'],
  );
  const onnx = await save(/^Save as ONNX/);
  assert.equal(onnx.name, 'headlight-repeat.onnx');
  assert.match(onnx.bytes.toString('latin1'), /blocks\.0\.weights/);
  assert.deepEqual(faults, []);
});

fullTest('diverging training gives a message with a remedy', async () => {
  await open('panel=train&training=repeat.1.2.16.1.10');
  await page.locator('.play').click();
  const note = page.getByRole('alert');
  await note.waitFor();
  assert.match(await note.textContent(), /learning rate of 10 .* lower learning rate/);
});

for (const [name, options, hash] of [
  ['light', { colorScheme: 'light' }, SMALL],
  ['dark, in Chinese', { colorScheme: 'dark', locale: 'zh-CN' }, SMALL],
  [
    'with a text of one’s own',
    {},
    'panel=train&training=whale.5.4.128.1.0.0005&lesson=to be or not to be, that is the question',
  ],
  ['at 768 px', { viewport: { width: 768, height: 1024 } }, SMALL],
  ['at 360 px', { viewport: { width: 360, height: 740 } }, SMALL],
])
  fullTest(`axe finds nothing in training, ${name}`, async () => {
    await open(hash, options);
    await page.waitForFunction(() => /%/.test(part('.charts')?.textContent));
    await assertAccessible();
    await assertNoSidewaysScroll(name);
    assert.deepEqual(faults, []);
  });
