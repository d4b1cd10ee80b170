// Tests the request `chat`: the text of messages, the messages of a text, and the reason why a template refuses
// messages.

import assert from 'node:assert/strict';
import test from 'node:test';
import { chat } from '../../../../web/worker/verbs/chat.ts';

/** A model whose template marks messages, adds a system message, and begins with a token that the tokenizer adds. */
const model = {
  chatTemplates: { begin: '<s>' },
  tokenizer: { encode: (text) => ({ ids: text.startsWith('<s>') ? [1, 1, 7] : [1, 7] }) },
  chat(messages) {
    if (messages.at(-1).role === 'tool') throw new Error('no tools here');
    const all = messages[0].role === 'system' ? messages : [{ role: 'system', content: 'Be brief.' }, ...messages];
    return `<s>${all.map(({ role, content }) => `<|${role}|>\n${content}</s>`).join('')}<|assistant|>\n`;
  },
};
async function answerOf(request) {
  const sent = [];
  const worker = { sourceOf: async () => ({ about: { kind: 'transformer' }, model }) };
  await chat.answer({ state: {}, ...request }, { send: (part, fields) => sent.push([part, fields]) }, worker);
  return sent;
}
const USER = [{ role: 'user', content: 'Hi' }];
const TEXT = '<|system|>\nBe brief.</s><|user|>\nHi</s><|assistant|>\n';

test('messages become the text of the template, without the token that the tokenizer adds', async () => {
  assert.deepEqual(await answerOf({ messages: USER }), [['chat', { messages: USER, text: TEXT }]]);
  const tool = [{ role: 'tool', content: '' }];
  assert.deepEqual(await answerOf({ messages: tool }), [['chat', { messages: tool, problem: 'no tools here' }]]);
});

test('the messages of a text are read without the system message that the template adds', async () => {
  const read = async (text) => (await answerOf({ state: { text } }))[0][1].messages;
  assert.deepEqual(await read(TEXT), USER);
  const own = TEXT.replace('Be brief.', 'Be long.');
  assert.deepEqual(await read(own), [{ role: 'system', content: 'Be long.' }, ...USER]);
  assert.deepEqual(await read('no chat'), [{ role: 'user', content: 'no chat' }]);
});
