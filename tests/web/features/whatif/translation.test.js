// Tests a translation with Marian: the answer is generated token by token, and shown in each of the three attentions,
// with a head on and off.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { GOLDEN } from '../../../support/golden.js';
import { assertAccessibleInFullTier, faults, openAt, openChooser, page } from '../../../support/page.js';

const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
for (const name of ['config.json', 'model.safetensors'])
  copyFileSync(join(GOLDEN, 'models/marian-a', name), join(folder, name));
const {
  vocab_size: size,
  pad_token_id: pad,
  eos_token_id: end,
} = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
/** Words for the ids of the vocabulary: a few English words, then words that consist of w and a number. */
const ENGLISH = 'the whale is white .'.split(' ');
const wordOf = (id) =>
  ({ [end]: '</s>', [pad]: '<pad>', 1: '<unk>' })[id] ?? ENGLISH[id - 2] ?? `w${String(id).padStart(2, '0')}`;
const words = Array.from({ length: size }, (_, id) => wordOf(id));
const tokenizer = {
  version: '1.0',
  added_tokens: [end, pad, 1].map((id) => ({ id, content: wordOf(id), special: true })),
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
    special_tokens: { '</s>': { id: '</s>', ids: [end], tokens: ['</s>'] } },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
  model: {
    type: 'WordPiece',
    vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    unk_token: '<unk>',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
  },
};
writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
test.after(() => rmSync(folder, { recursive: true }));

const TEXT = 'The whale is white.';
const TOKENS = 24;
const hl = await load();
const model = await hl.openModel(folder);

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
/** Returns the answer of the model in words, without repeated phrases, because the page stops at them. */
async function translated(edit) {
  const ids = [model.config.decoder_start_token_id];
  const { repeating } = await import('../../../../web/worker/run/repetition.ts');
  for (let i = 0; i < TOKENS; i++) {
    const suppress = [...(model.generation.suppress ?? []), ...repeating(ids.slice(1))];
    const encoder = { ids: [...model.encode(TEXT).ids] };
    // The end that the model's files ask for is that of the whole text.
    const ends = i < TOKENS - 1 ? { forcedEnd: [] } : {};
    const { ids: next } = await model.generate({ encoder, ids }, { max: 1, temperature: 0, suppress, edit, ...ends });
    if (next.length === 0) break;
    ids.push(...next);
  }
  return model.decode(ids.slice(1));
}

test('a translation is written, its three attentions are shown, and a head of one is switched off', async () => {
  await openAt('', { viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForFunction(() => part('.told .word'));
  await page.keyboard.press('Escape');
  await page.locator('.words textarea').fill(TEXT);
  await settled();
  // The decoder has written nothing, so the picture has one row. Below it the page says what to do.
  await page.getByRole('button', { name: 'Decoder to encoder', exact: true }).click();
  await page.waitForFunction(() => part('.first-token')?.textContent.includes('Each token that it writes adds a row'));
  await page.getByRole('button', { name: 'Encoder', exact: true }).click();
  await page.waitForFunction(() => !part('.first-token'));
  await settled();
  const write = page.locator('.sentence').getByRole('button', { name: 'write on' });
  await write.click();
  const expected = await translated();
  await page.waitForFunction((text) => part('input.second').value === text, expected);
  // Rows are queries and columns are keys. The text ends with </s>, and the answer begins with <pad>.
  for (const [name, labels] of [
    ['Encoder', { row: '</s>', key: '</s>' }],
    ['Decoder', { row: '<pad>', key: '<pad>' }],
    ['Decoder to encoder', { row: '<pad>', key: '</s>' }],
  ]) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.waitForFunction(
      (kinds) =>
        kinds.every(([kind, text]) =>
          [...part('.page').querySelectorAll(`.${kind}-label`)].some(({ textContent }) => textContent.includes(text)),
        ),
      Object.entries(labels),
    );
  }
  await page.locator('.corner .switch').click();
  await page.locator('input.second').fill('');
  await settled();
  await write.click();
  const without = await translated([{ at: 'blocks.0.cross.heads', head: 0, scale: 0 }]);
  assert.notEqual(without, expected, 'the head matters');
  await page.waitForFunction((text) => part('input.second').value === text, without);
  await assertAccessibleInFullTier();
  assert.deepEqual(faults, []);
});
