// Tests a chat in the page: the messages for a model with a chat template are one text with coloured roles.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { assertAccessibleInFullTier, faults, openAt, openChooser, page } from '../../../support/page.js';

/** A chat template with short marks, because the context of the model is 64 tokens. */
const TEMPLATE = `{%- if messages[0].role != 'system' %}<|system|>
Be it.</s>
{% endif %}
{%- for m in messages -%}
<|{{ m.role }}|>
{{ m.content }}</s>
{% endfor %}
{%- if add_generation_prompt %}<|assistant|>
{% endif %}`;

const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
makeCheckpoint(folder, 'gpt2');
writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template: TEMPLATE }));
test.after(() => rmSync(folder, { recursive: true }));

const text = () => page.locator('.words textarea').inputValue();
const hasText = (expected) => page.waitForFunction((value) => part('.words textarea').value === value, expected);
/** Returns the text of messages, such as { user: 'Where?' }, after the system message of the template. */
const chat = (messages) =>
  Object.entries({ system: 'Be it.', ...messages })
    .map(([role, content]) => `<|${role}|>\n${content}</s>\n`)
    .join('');
const ANSWER = '<|assistant|>\n';

test('messages are written, get another role and are removed; the text is that of the template', async () => {
  await openAt('');
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForFunction(() => part('.model-menu .under')?.textContent.trim() === 'gpt2' && !part('.busy'));
  await page.keyboard.press('Escape');
  const before = await text();
  const opener = page.getByRole('button', { name: 'messages', exact: true });
  await opener.click();
  const message = page.getByRole('textbox', { name: 'Message: user' });
  assert.equal(await message.inputValue(), before, 'a text that is no chat is one message');
  await message.fill('Where?');
  await hasText(chat({ user: 'Where?' }) + ANSWER);
  await page.getByRole('button', { name: 'Add a message' }).click();
  await page.getByRole('textbox', { name: 'Message: assistant' }).fill('Here.');
  const answered = chat({ user: 'Where?', assistant: 'Here.' });
  await hasText(answered);
  await assertAccessibleInFullTier();
  // The pieces of each message are coloured by the role of the message. While the text has the focus, all pieces are
  // shown.
  await page.locator('.words textarea').focus();
  await page.waitForFunction(() => part('.piece[data-role=system]'));
  const roles = await page.evaluate(() =>
    [...part('.line').querySelectorAll('.piece')].map(({ dataset: { role = '' }, textContent }) => [role, textContent]),
  );
  const of = (role) =>
    roles
      .filter(([name]) => name === role)
      .map(([, own]) => own)
      .join('')
      .replaceAll(/\s/g, '');
  assert.deepEqual([of('system'), of('user'), of('assistant')], ['Beit.', 'Where?', 'Here.']);
  await page.getByRole('button', { name: 'Remove this message' }).last().click();
  await hasText(chat({ user: 'Where?' }) + ANSWER);
  // When the chat is opened again, the messages are read from the text, without the system message of the template.
  await page.keyboard.press('Escape');
  await opener.click();
  await page.waitForFunction(() => part('.message textarea')?.value === 'Where?');
  assert.equal(await page.locator('.message').count(), 1);
  await page.locator('.message .word').first().click();
  await page.getByRole('menuitemradio', { name: 'system' }).click();
  await hasText(`<|system|>\nWhere?</s>\n${ANSWER}`);
  assert.deepEqual(faults, []);
});
