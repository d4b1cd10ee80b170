// Writes the messages of a chat as a text by the model's chat template, or finds the messages in a text.

import type { Message } from '../../../src/js/text/chat/chatTemplate.ts';
import { messagesIn } from '../../model/chatRoles.ts';
import type { ChatMessage } from '../../model/protocol/protocol.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Transformer } from '../sources/types.ts';
import type { Handler } from '../types.ts';

export const chat: Handler<'chat'> = {
  async answer({ state, messages }, reply, worker) {
    const { model } = transformerOf(await worker.sourceOf(state, reply));
    if (!messages) return reply.send('chat', { messages: readMessages(model, state.text) });
    try {
      reply.send('chat', { messages, text: textOf(model, messages) });
    } catch (error) {
      // Templates refuse some orders of roles.
      reply.send('chat', { messages, problem: (error as Error).message });
    }
  },
};

/** Writes a chat as a text. The begin token is left out if the tokenizer adds it anyway. */
function textOf(model: Transformer, messages: ChatMessage[]) {
  const text = model.chat(messages.map((message) => ({ ...message })) as Message[]);
  const begin = model.chatTemplates?.begin;
  const { ids = [] } = model.tokenizer?.encode(text) ?? {};
  return begin && text.startsWith(begin) && ids[0] === ids[1] ? text.slice(begin.length) : text;
}

/** Returns the messages in a text. A system message that the template adds by itself is left out. */
function readMessages(model: Transformer, text: string) {
  const all = messagesIn(text);
  const [first, ...others] = all;
  if (first?.role !== 'system' || others.length === 0) return all;
  try {
    return textOf(model, others) === text ? others : all;
  } catch {
    return all;
  }
}
