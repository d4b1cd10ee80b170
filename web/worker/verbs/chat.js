// Writes the messages of a chat as a text by the model's chat template, or finds the messages in a text.

import { messagesIn } from '../../features/chat/roles.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Message } from '../../../src/js/text/chat/chatTemplate.js' */
/** @import { ChatMessage } from '../../store/protocol.js' */
/** @import { Transformer } from '../sources/types.js' */
/** @import { Handler } from '../types.js' */

/** @type {Handler<'chat'>} */
export const chat = {
  async answer({ state, messages }, reply, worker) {
    const { model } = transformerOf(await worker.sourceOf(state, reply));
    if (!messages) return reply.send('chat', { messages: readMessages(model, state.text) });
    try {
      reply.send('chat', { messages, text: textOf(model, messages) });
    } catch (error) {
      // Templates refuse some orders of roles.
      reply.send('chat', { messages, problem: /** @type {Error} */ (error).message });
    }
  },
};

/** Writes a chat as a text. The begin token is left out if the tokenizer adds it anyway. */
function textOf(/** @type {Transformer} */ model, /** @type {ChatMessage[]} */ messages) {
  const text = model.chat(/** @type {Message[]} */ (messages.map((message) => ({ ...message }))));
  const begin = model.chatTemplates?.begin;
  const { ids = [] } = model.tokenizer?.encode(text) ?? {};
  return begin && text.startsWith(begin) && ids[0] === ids[1] ? text.slice(begin.length) : text;
}

/**
 * Returns the messages in a text. A system message that the template adds by itself is left out.
 * @param {Transformer} model @param {string} text
 */
function readMessages(model, text) {
  const all = messagesIn(text);
  const [first, ...others] = all;
  if (first?.role !== 'system' || others.length === 0) return all;
  try {
    return textOf(model, others) === text ? others : all;
  } catch {
    return all;
  }
}
