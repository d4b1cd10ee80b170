// Tests finding the messages in texts that the chat templates of well-known models write.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { messageSpans, messagesIn, roleAt } from '../../../web/model/chatRoles.ts';
import { GOLDEN } from '../../support/golden.js';

const { conversations, cases } = JSON.parse(readFileSync(join(GOLDEN, 'chat/cases.json'), 'utf8'));
/** Conversations of plain messages, which a template neither joins nor shortens. */
const PLAIN = ['question', 'system', 'without an answer', 'two questions'];
/** Templates that mark roles by plain words. */
const UNMARKED = ['vicuna.jinja'];
/** Templates that write the system message without a mark, or as a part of the next message. */
const JOINS_SYSTEM = /^(deepseek|gemma|llama2|mistral)/;

for (const name of new Set(cases.map(({ template }) => template)))
  test(`${name}: the messages of each text are those of the conversation`, () => {
    for (const { conversation, text } of cases.filter(({ template }) => template === name)) {
      if (text === undefined || !PLAIN.includes(conversation)) continue;
      if (conversation === 'system' && JOINS_SYSTEM.test(name)) continue;
      if (UNMARKED.includes(name)) {
        assert.deepEqual(messagesIn(text), [{ role: 'user', content: text }]);
        continue;
      }
      const found = messagesIn(text).filter(({ role }) => role !== 'system' || conversation === 'system');
      const given = conversations[conversation].messages.map(({ role, content }) => ({
        role,
        content: content.trim(),
      }));
      const last = ({ content }) => content.replace(/^[^]*<\/think>\s*/, '');
      assert.deepEqual(
        found.map(({ role }) => role),
        given.map(({ role }) => role),
        text,
      );
      for (const [i, message] of found.entries())
        assert.ok(message.content.includes(last(given[i]).split('\n')[0]), `${conversation}: ${message.content}`);
    }
  });

test('each character of a message has its role, and the marks have none', () => {
  const text = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes';
  const spans = messageSpans(text);
  const roles = [...text].map((_, at) => roleAt(spans, at)?.[0] ?? '.').join('');
  assert.equal(roles, `${'.'.repeat(17)}uu${'.'.repeat(33)}aaa`);
  assert.deepEqual(
    spans.map(({ isOpen }) => isOpen),
    [false, true],
  );
  assert.deepEqual(messagesIn(text), [{ role: 'user', content: 'Hi' }], 'an unfinished answer is not a message');
});
