// Tests opening models in Chromium: files are chosen, dropped or pasted, and the numbers of the page must equal those
// of the module.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'headlight-attention';
import { writeNpy } from 'headlight-attention/formats';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { families } from '../../../support/families.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  faults,
  openAt,
  openChooser,
  page,
  server,
  spoil,
} from '../../../support/page.js';
import { fullTest, inTier } from '../../../support/tier.js';
import { attentions } from '../../../support/weights_file.js';

const TOKENS = ['Call', 'me', 'Ish', 'mael', '.'];
const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
const opened = (title) =>
  page.waitForFunction(
    (name) => part('.model-menu .under')?.textContent.trim() === name && part('.page').dataset.busy === 'false',
    title,
  );

/** Shows the demo model; models that were opened before remain in memory. */
async function start(options = {}) {
  await openAt('', options);
  await settled();
}

/** Makes a folder with the files of a tiny model, or with other contents. */
function folderOf(make) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  make(folder);
  return readdirSync(folder).map((name) => join(folder, name));
}
const modelFiles = (name) => folderOf((folder) => makeCheckpoint(folder, name));
const weightFiles = (given = attentions([3, 2, 5, 5], true), tokens = TOKENS) =>
  folderOf((folder) => {
    writeFileSync(join(folder, 'attentions.npy'), writeNpy(given));
    if (tokens) writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens));
  });

async function choose(files) {
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(files);
}
const away = () => page.locator('.told .word').first().click();
const rowShown = async (first, count) => {
  const figures = await page.locator('.figure').allTextContents();
  return figures.slice(first, first + count);
};
const asCell = (weight) => (weight >= 0.995 ? '1.0' : weight.toFixed(2).replace(/^0/, ''));

test("a tiny BERT is opened, its layer 1, head 0 is read, and its numbers are the module's", async () => {
  await start();
  const files = modelFiles('bert');
  await page.locator('.model-menu > button').focus();
  await page.keyboard.press('Enter');
  await page.locator('.model-menu [data-key=open]').press('Enter');
  await page.locator('input[data-name=files]').setInputFiles(files);
  await opened('bert');
  assert.match(await page.locator('.told').textContent(), /bert: 2 layers × 4 heads of 8.*float32.*masked words/s);
  await assertAccessibleInFullTier();
  await away();
  await page.locator("[data-head='1.0']").click();
  await settled();
  await page.waitForFunction(() => part('.corner h2').textContent.includes('Layer 1, head 0'));
  const hl = await load();
  const model = await hl.openModel(
    Object.fromEntries(files.map((path) => [path.split('/').pop(), readFileSync(path)])),
  );
  const text = await page.locator('textarea').inputValue();
  const { captured, logits } = model.forward(text, { capture: ['blocks.1.weights'] });
  const own = captured['blocks.1.weights'].copy();
  const { ids } = model.encode(text);
  const at = ids.indexOf(model.tokenizer.idOf('[MASK]'));
  const row = own.subarray(at * ids.length, (at + 1) * ids.length);
  const shown = Number(await page.locator('[data-name=weight]').textContent());
  assert.ok(Math.abs(shown - Math.max(...row)) <= 0.005 + 1e-6);
  const all = logits.copy().subarray(at * 283, (at + 1) * 283);
  const most = Math.max(...all);
  const sum = all.reduce((total, x) => total + Math.exp(x - most), 0);
  assert.match(
    await page.locator('.prediction .option b').first().textContent(),
    new RegExp(`^${Math.round(100 / sum)}%$`),
  );
  model.dispose();
  assert.deepEqual(faults, []);
});

test('Escape closes the summary of a model and focuses Open; a press elsewhere closes it too', async () => {
  await start();
  await choose(modelFiles('gpt2'));
  await opened('gpt2');
  await page.locator('.told').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('.told') === null && part('.model-menu > button:focus') !== null);
  await choose(modelFiles('gpt2'));
  await page.locator('.told').waitFor();
  await page.locator("[data-head='1.0']").click();
  await page.waitForFunction(() => part('.told') === null);
});

test('a click masks the query token, and the guess is for its position', async () => {
  await start();
  await choose(modelFiles('bert'));
  await opened('bert');
  await away();
  await page.locator('textarea').fill('a token is a word');
  await page.locator('.prediction.about').waitFor();
  await settled();
  await page.locator('.row-label').nth(1).click();
  await page.locator('.cover').click();
  await settled();
  assert.match(await page.locator('textarea').inputValue(), /^\[MASK\]/);
  await page.locator('.prediction .option').first().waitFor();
});

fullTest('attentions.npy with tokens is shown, without controls that need a model', async () => {
  const given = attentions([3, 2, 5, 5], true);
  for (const [colorScheme, locale] of inTier(
    [
      ['light', 'en-GB'],
      ['dark', 'zh-CN'],
    ],
    [['dark', 'en-GB']],
  )) {
    await start({ colorScheme, locale });
    await choose(weightFiles(given));
    await opened('attentions.npy');
    await page.locator("[data-head='2.1']").click();
    await settled();
    const row = [...given.data.subarray(5 * 25 + 20, 5 * 25 + 25)];
    assert.deepEqual(await rowShown(0, 5), row.map(asCell));
    assert.equal((await page.locator('.row-words .piece').allTextContents()).join(' '), TOKENS.join(' '));
    assert.equal(await page.locator('.prediction .option').count(), 0);
    assert.equal(await page.locator('.whatif input').count(), 0);
    assert.equal(await page.locator('[data-name=sum]').textContent(), '1.00');
    await assertAccessibleInFullTier();
    assert.deepEqual(faults, []);
  }
});

test('pasted JSON with tokens names those of the weights; pasted weights are opened', async () => {
  await start();
  const paste = (text) =>
    page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData('text', text);
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, composed: true }));
    }, text);
  await paste('[[1, 0], [0.25, 0.75]]');
  await opened('pasted');
  assert.deepEqual(await rowShown(0, 2), ['.25', '.75']);
  await paste('["here", "there"]');
  await page.waitForFunction(() => part('.row-words')?.textContent.includes('there'));
});

fullTest('the entry of a batch is chosen by button, by keyboard and by address, and announced', async () => {
  await start();
  const given = attentions([2, 12, 2, 5, 5], true);
  await choose(weightFiles(given));
  await opened('attentions.npy');
  const last = (entry) => {
    const at = (entry * 2 + 1) * 25 - 5;
    // Small weights are not labelled.
    return Array.from(
      given.data.subarray(at, at + 5).filter((weight) => weight >= 0.02),
      asCell,
    );
  };
  const shows = async (entry) => {
    await page.waitForFunction(
      ([figures]) => {
        const shown = [...part('.page').querySelectorAll('.figure')].map(({ textContent }) => textContent);
        return JSON.stringify(shown) === JSON.stringify(figures);
      },
      [last(entry)],
    );
  };
  await shows(0);
  assert.match(await page.locator('.recognised').textContent(), /a batch of 12/);
  await page.getByRole('button', { name: 'Next entry' }).click();
  await shows(1);
  assert.equal(await page.locator('.spoken').textContent(), 'Entry 1; the batch has entries 0 to 11');
  const field = page.getByRole('spinbutton', { name: /^Entry/ });
  await field.fill('40');
  await field.press('Enter');
  await shows(11);
  assert.equal(await field.inputValue(), '11');
  await page.waitForFunction(() => /entry=11/.test(location.hash));
  await assertAccessible();
  await page.evaluate(() => (location.hash = location.hash.replace('entry=11', 'entry=4')));
  await shows(4);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForFunction(() => part('.page.phone'));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await settled();
  await assertNoSidewaysScroll('360 px');
});

fullTest('weights that are not square have the title above, and labels of queries and keys', async () => {
  await start();
  await choose(weightFiles(attentions([2, 2, 3, 6], false), null));
  await opened('attentions.npy');
  const { width, height } = await page.locator('#picture').boundingBox();
  assert.equal(Math.round(width / height), 2);
  assert.equal(await page.locator('.labels .key-label').count(), 6);
  assert.equal(await page.locator('.labels .row-label').count(), 3);
  await page.locator('.corner.above').waitFor();
});

const T5 = () => {
  const { files } = families.find(({ name }) => name === 'T5, relu and a tied head');
  return folderOf((folder) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  });
};

test('an encoder–decoder without tokenizer.json begins with numbers; its heads have no roles', async () => {
  await start();
  await choose(T5());
  await opened('t5');
  await settled();
  assert.match(await page.locator('textarea').first().inputValue(), /^[\d ]+$/);
  assert.ok(await page.evaluate(() => part('.picture canvas').width > 0));
  assert.doesNotMatch(await page.locator('.model').textContent(), /itself|previous|induction/);
});

fullTest('of a CLIP with two towers the one for texts is shown first', async () => {
  await start();
  const files = modelFiles('clip');
  await choose(files);
  await opened('clip');
  assert.match(await page.locator('.told').textContent(), /2 layers × 4 heads of 8.*float32/s);
  assert.equal(await page.locator('.parts [aria-pressed=true]').textContent(), 'Sentence');
  await away();
  await page.locator("[data-head='1.0']").click();
  await settled();
  await page.waitForFunction(() => part('.corner h2').textContent.includes('Layer 1, head 0'));
  const hl = await load();
  const model = await hl.openModel(
    Object.fromEntries(files.map((path) => [path.split('/').pop(), readFileSync(path)])),
    { tower: 'both' },
  );
  const text = await page.locator('textarea').inputValue();
  const { captured } = model.forward({ text }, { capture: ['text.blocks.1.weights'] });
  const own = captured['text.blocks.1.weights'].toArray()[0][0].map((row) => Math.max(...row));
  const shown = Number(await page.locator('[data-name=weight]').textContent());
  assert.ok(
    own.some((most) => Math.abs(shown - most) <= 0.005 + 1e-6),
    `${shown}: ${own}`,
  );
  model.dispose();
  assert.deepEqual(faults, []);
});

fullTest('in an encoder–decoder the next token follows the text of the decoder, not of the encoder', async () => {
  await start();
  await choose(T5());
  await opened('t5');
  await away();
  assert.equal(await page.locator('.prediction h2').textContent(), 'Next token');
  await page.getByRole('button', { name: 'Decoder', exact: true }).click();
  await settled();
  await page.locator('.second').fill('7 9');
  await page.waitForFunction(() => part('.prediction h2').textContent === 'Next token after 7 9');
});

fullTest('a BERT without tokenizer.json is reported neither with another tokenizer nor without a head', async () => {
  await start();
  await choose(modelFiles('bert').filter((path) => !path.includes('tokenizer')));
  await opened('bert');
  const said = await page.locator('.told').textContent();
  assert.match(said, /tokenizer\.json is missing/);
  assert.match(said, /its tokenizer has no \[MASK\]/);
  assert.doesNotMatch(said, /Its tokenizer|no head that predicts/);
});

fullTest('names of classes and the lines above a small picture are not truncated', async () => {
  const folder = fileURLToPath(new URL('../../../golden/models/vit-a', import.meta.url));
  const whole = (name) =>
    page.evaluate(
      (name) =>
        [...part('.page').querySelectorAll(name)].every((one) => one.scrollWidth <= one.clientWidth && one.clientWidth),
      name,
    );
  await start();
  await choose(['config.json', 'model.safetensors'].map((name) => join(folder, name)));
  await opened('vit');
  await away();
  assert.match(await page.locator('.prediction .option .token').first().textContent(), /^LABEL_\d$/);
  for (const width of [1440, 1920, 2560, 768, 360]) {
    await page.setViewportSize({ width, height: 1000 });
    await page.waitForFunction((width) => part('.page').getBoundingClientRect().width === width, width);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    for (const name of ['.prediction .token', '.patches-panes p']) assert.ok(await whole(name), `${width} px: ${name}`);
  }
});

test('an address with a head that the model does not have shows and chooses another one', async () => {
  await openAt('model=patches&text=');
  await page.waitForFunction(() => part('.corner h2')?.textContent === 'Layer 0, head 2');
  assert.equal(await page.locator('.thumbnail[aria-checked=true]').getAttribute('data-head'), '0.2');
});

test('unknown files give an error and keep the current model; Escape closes the error', async () => {
  await start();
  const photos = folderOf((folder) => {
    for (let i = 0; i < 50; i++) writeFileSync(join(folder, `photo${i}.jpg`), Buffer.alloc(64, 255));
  });
  const before = await page.locator('textarea').inputValue();
  await choose(photos);
  await page.locator('.problem').waitFor();
  assert.match(await page.locator('.problem').textContent(), /None of these 50 files/);
  await assertAccessibleInFullTier();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.panel').count(), 0);
  assert.equal(await page.locator('textarea').inputValue(), before);
  await page.locator('.prediction .option').first().waitFor();
});

fullTest('a megabyte of text is truncated with a message; undo restores the text before it', async () => {
  await start();
  const before = await page.locator('textarea').inputValue();
  await page.evaluate(() => {
    const field = part('textarea');
    field.value = 'whale '.repeat(170_000);
    field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  });
  await page.locator('.problem').waitFor();
  assert.match(await page.locator('.problem').textContent(), /1,020,000 characters: the first 100,000/);
  await settled();
  await page.keyboard.press('Escape');
  await page.evaluate(() => part('textarea').blur());
  await page.keyboard.press('Control+z');
  await page.waitForFunction((text) => part('textarea').value === text, before);
});

fullTest('leaving the page asks for confirmation only while an opened model would be lost', async () => {
  await start({ fresh: true });
  spoil();
  const asked = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    dialog.dismiss();
  });
  // A browser asks before leaving a page only if the visitor has interacted with the page.
  await page.locator('#picture').click();
  await page.goto(`${server.url}whale.tokenizer.json`);
  assert.deepEqual(asked, []);
  await page.goto(server.url);
  await settled();
  await choose(weightFiles());
  await opened('attentions.npy');
  await page.locator('#picture').click();
  await page.goto(`${server.url}whale.tokenizer.json`).catch(() => {});
  assert.deepEqual(asked, ['beforeunload']);
  assert.equal(await page.locator('.model-menu .under').textContent(), 'attentions.npy');
});

fullTest('on a phone a model is opened from the menu, and nothing scrolls sideways', async () => {
  await start({ viewport: { width: 360, height: 740 } });
  await page.locator('.model-menu > button').click();
  await page.locator('[role=menuitem]', { hasText: 'Open…' }).click();
  await page.locator('input[data-name=files]').setInputFiles(modelFiles('vit'));
  await opened('vit');
  await away();
  await page.locator('.patches canvas').first().waitFor();
  await page.locator('.prediction .option', { hasText: 'whale' }).waitFor();
  await assertNoSidewaysScroll('vit at 360 px');
  await assertAccessible();
});
