// Tests two sentences in a sentence encoder: the cosine and the shares of the tokens, with a head on and off.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { tokenSimilarity } from 'headlight-attention/analysis';
import { GOLDEN } from '../../../support/golden.js';
import { assertAccessibleInFullTier, faults, openAt, openChooser, page } from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const WORDS = 'how do whales sleep ? when does a whale rest the stock market fell'.split(' ');
const SPECIAL = ['<s>', '<pad>', '</s>', '<unk>', '<mask>'];
const TOKENIZER = {
  version: '1.0',
  added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true })),
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: { type: 'RobertaProcessing', sep: ['</s>', 2], cls: ['<s>', 0], add_prefix_space: false },
  model: {
    type: 'WordPiece',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries([...SPECIAL, ...WORDS].map((token, id) => [token, id])),
    unk_token: '<unk>',
  },
};
const MODULES = ['Transformer', 'Pooling', 'Normalize'].map((kind, idx) => ({
  idx,
  name: String(idx),
  path: kind === 'Transformer' ? '' : `${idx}_${kind}`,
  type: `sentence_transformers.models.${kind}`,
}));

const folder = join(mkdtempSync(join(tmpdir(), 'headlight-')), 'all-mpnet');
/** Writes the folder of a tiny MPNet in the layout of sentence-transformers. */
function writeFolder(pooling) {
  mkdirSync(join(folder, '1_Pooling'), { recursive: true });
  for (const name of ['config.json', 'model.safetensors'])
    copyFileSync(join(GOLDEN, 'models/mpnet-a', name), join(folder, name));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(TOKENIZER));
  writeFileSync(join(folder, 'modules.json'), JSON.stringify(MODULES));
  writeFileSync(join(folder, '1_Pooling/config.json'), JSON.stringify({ [`pooling_mode_${pooling}`]: true }));
}
test.after(() => rmSync(folder, { recursive: true }));

const [FIRST, SECOND] = ['How do whales sleep?', 'When does a whale rest?'];
const cosine = () => page.locator('[data-name=likeness]').textContent();
const bars = (row) =>
  page.evaluate(
    (i) => [...parts('.share-row')[i].querySelectorAll('i')].map(({ style }) => style.getPropertyValue('--share')),
    row,
  );

async function openFolder(pooling = 'mean_tokens') {
  writeFolder(pooling);
  await openAt('');
  await page.evaluate(() => {
    globalThis.parts = (selector) => [...part('.page').querySelectorAll(selector)];
  });
  await openChooser();
  await page.locator('input[data-name=folder]').setInputFiles(folder);
  await page.waitForFunction(() => /^\d\.\d\d$/.test(part('[data-name=likeness]')?.textContent ?? ''));
  await page.keyboard.press('Escape');
}

test('two sentences are compared with MPNet: the cosine, its tokens, and a head that is switched off', async () => {
  await openFolder();
  const hl = await load();
  const model = await hl.openModel(folder);
  const hidden = (text, edit) => model.forward(text, { edit }).hidden;
  const compared = (edit) => tokenSimilarity(hidden(FIRST, edit), hidden(SECOND, edit));
  const before = compared();
  assert.equal(await cosine(), before.cosine.toFixed(2));
  assert.equal(await page.locator('.share-row').first().textContent(), '<s>Howdowhalessleep?</s>');
  const most = Math.max(...[...before.first.data, ...before.second.data].map(Math.abs));
  const widths = (shares, all = most) => shares.map((x) => Math.abs(x) / all).map(rounded);
  const rounded = (text) => Math.round(1000 * text);
  assert.deepEqual((await bars(0)).map(rounded), widths([...before.first.data]));
  // Hovering over a token of the first sentence shows its pairs in the second sentence.
  await page.locator('.share').nth(3).hover();
  const columns = before.second.data.length;
  const pairs = [...before.pairs.data.subarray(3 * columns, 4 * columns)];
  await page.waitForFunction(() => part('.share[aria-pressed=true]'));
  assert.deepEqual((await bars(1)).map(rounded), widths(pairs, Math.max(...pairs.map(Math.abs))));
  const share = before.first.data[3].toFixed(3).replace('-', '−');
  assert.equal(await page.locator('.share-note').textContent(), `whales: ${share} of ${before.cosine.toFixed(2)}`);
  await page.locator("[data-head='1.2']").click();
  await page.locator('.corner [role=switch]').click();
  const after = compared([{ at: 'blocks.1.heads', head: 2, scale: 0 }]).cosine;
  assert.ok(Math.abs(after - before.cosine) > 0.005, 'the head matters');
  await page.waitForFunction((value) => part('[data-name=likeness]').textContent === value, after.toFixed(2));
  await page.locator('.prediction.compared .tick').waitFor();
  await page.getByRole('textbox', { name: 'Another sentence' }).fill('The stock market fell');
  await page.waitForFunction(() => parts('.share-row')[1].textContent === '<s>Thestockmarketfell</s>');
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
  model.dispose();
});

fullTest('the pooling of the first token has no shares; arrow keys walk through those of a mean', async () => {
  await openFolder('cls_token');
  assert.match(await page.locator('.prediction').textContent(), /the state of the first token/);
  assert.equal(await page.locator('.share').count(), 0);
  await openFolder();
  await page.locator('.share').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => part('.share:focus')?.textContent === 'How');
  assert.match(await page.locator('.share-note').textContent(), /^How: /);
});
